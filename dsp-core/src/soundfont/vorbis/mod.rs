//! Samples of SF3 banks: each is an Ogg Vorbis stream in the sample data, decoded when a preset
//! that plays it is prepared.
//!
//! The stream's last page says how many frames it has, so that a sample's positions are known
//! before it is decoded.

mod ogg;
mod setup;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use lewton::audio::{PreviousWindowRight, read_audio_packet_generic};
use lewton::header::{read_header_ident, read_header_setup};

use super::BankError;
use super::skipped::Reason;

/// Most frames of one sample: 25 minutes at 44.1 kHz.
const MOST_FRAMES: u64 = 1 << 26;

/// Most frames for each byte of a stream. A second of silence at 44.1 kHz takes 100 bytes and
/// the headers in front of it some thousands, so that no sample of a bank comes near.
const MOST_FRAMES_PER_BYTE: u64 = 512;

/// Most frames of a bank that are decoded, all samples together: 1 GiB of memory.
const MOST_BANK_FRAMES: u64 = 1 << 29;

/// Most frames that one packet of a stream decodes to.
const PACKET_FRAMES: usize = 4_096;

/// How many frames a stream says it has.
pub(super) fn frames(stream: &[u8]) -> Result<u32, Reason> {
    let frames = ogg::last_granule(stream).ok_or(Reason::Vorbis("it has no last page"))?;
    let most = MOST_FRAMES.min(stream.len() as u64 * MOST_FRAMES_PER_BYTE);
    match u32::try_from(frames) {
        Ok(few) if few > 0 && frames <= most => Ok(few),
        _ => Err(Reason::VorbisFrames { frames, most }),
    }
}

/// The decoded samples of a bank, by the number of the sample.
pub(super) struct Decoded(Vec<OnceLock<Result<Frames, Reason>>>);

/// 16-bit little-endian values.
pub(super) type Frames = Box<[[u8; 2]]>;

impl Decoded {
    pub(super) fn none(samples: usize) -> Self {
        Self((0..samples).map(|_| OnceLock::new()).collect())
    }

    /// The frames of a sample, if it is decoded.
    pub(super) fn get(&self, sample: usize) -> Option<&[[u8; 2]]> {
        self.0.get(sample)?.get()?.as_deref().ok()
    }

    /// The samples that could not be decoded so far.
    pub(super) fn failures(&self) -> impl Iterator<Item = (usize, Reason)> {
        let failure = |(sample, cell): (usize, &OnceLock<Result<_, Reason>>)| match cell.get() {
            Some(Err(reason)) => Some((sample, *reason)),
            _ => None,
        };
        self.0.iter().enumerate().filter_map(failure)
    }

    /// Decodes what is not decoded yet. `streams` gives number, stream and frames of each sample
    /// asked for.
    pub(super) fn prepare<'a>(
        &self,
        streams: impl Iterator<Item = (usize, &'a [u8], u32)> + Clone,
    ) -> Result<(), BankError> {
        let before: u64 = self
            .0
            .iter()
            .filter_map(|cell| cell.get()?.as_ref().ok())
            .map(|frames| frames.len() as u64)
            .sum();
        let wanted = streams.clone().filter(|(sample, ..)| self.0[*sample].get().is_none());
        let frames = before + wanted.map(|(.., frames)| u64::from(frames)).sum::<u64>();
        if frames > MOST_BANK_FRAMES {
            return Err(BankError::TooLong { frames, limit_frames: MOST_BANK_FRAMES });
        }
        for (sample, stream, frames) in streams {
            self.0[sample].get_or_init(|| {
                // A damaged stream can do anything to a decoder; it must not reach further.
                catch_unwind(AssertUnwindSafe(|| decode(stream, frames as usize)))
                    .unwrap_or(Err(Reason::Vorbis("it makes the decoder fail")))
            });
        }
        Ok(())
    }
}

/// Decodes exactly `frames` frames.
pub(super) fn decode(stream: &[u8], frames: usize) -> Result<Frames, Reason> {
    let bad_header = |_| Reason::Vorbis("its headers are damaged");
    let mut packets = ogg::Packets::new(stream);
    let mut next = || packets.next().ok_or(Reason::Vorbis("it has fewer than three headers"))?;
    let ident = read_header_ident(&next()?).map_err(bad_header)?;
    if ident.audio_channels != 1 {
        return Err(Reason::VorbisChannels(ident.audio_channels));
    }
    // The second header holds comments.
    next()?;
    let setup = next()?;
    setup::check(&setup)?;
    let setup = read_header_setup(&setup, 1, (ident.blocksize_0, ident.blocksize_1)).map_err(bad_header)?;
    let mut window = PreviousWindowRight::new();
    let mut values = Vec::with_capacity(frames);
    while values.len() < frames {
        let Some(packet) = packets.next() else { break };
        let channels: Vec<Vec<f32>> = read_audio_packet_generic(&ident, &setup, &packet?, &mut window)
            .map_err(|_| Reason::Vorbis("a packet is damaged"))?;
        let packet_values = channels.first().into_iter().flatten();
        values.extend(packet_values.take(frames - values.len()).map(|&value| pcm(value).to_le_bytes()));
    }
    // The last page may promise a little more than its packets hold.
    if values.len() + PACKET_FRAMES < frames {
        return Err(Reason::Vorbis("it ends too early"));
    }
    values.resize(frames, [0; 2]);
    Ok(values.into_boxed_slice())
}

/// A decoder's value, of which 1 is full scale, in 16 bits: 32768 times it, plus half a step away
/// from zero, without what is behind the point; the nearest end beyond full scale. Only basic
/// operations, so that it rounds alike everywhere.
fn pcm(value: f32) -> i16 {
    let steps = value * 32_768.0;
    (if steps < 0.0 { steps - 0.5 } else { steps + 0.5 }) as i16
}

#[cfg(test)]
mod tests {
    use super::pcm;

    #[test]
    fn full_scale_is_sixteen_bits() {
        let cases = [(0.0, 0), (0.5, 16_384), (1.0, 32_767), (-1.0, -32_768), (-7.0, -32_768)];
        for (value, expected) in cases {
            assert_eq!(pcm(value), expected, "{value}");
        }
        assert_eq!((pcm(1.4 / 32_768.0), pcm(-1.5 / 32_768.0), pcm(f32::NAN)), (1, -2, 0));
    }
}

//! Samples of SF3 banks: each is an Ogg Vorbis stream in the sample data, decoded when a preset
//! that plays it is prepared.
//!
//! The stream's last page says how many frames it has, so that a sample's positions are known
//! before it is decoded.

mod decoded;
mod ogg;
mod setup;
mod setups;

use lewton::audio::{PreviousWindowRight, read_audio_packet_generic};
use lewton::header::read_header_ident;

use super::BankError;
use super::skipped::Reason;
pub(super) use decoded::Decoded;
use setups::Setups;

/// Most frames of one sample: 25 minutes at 44.1 kHz.
const MOST_FRAMES: u64 = 1 << 26;

/// Most frames for each byte of a stream. A second of silence at 44.1 kHz takes 100 bytes and
/// the headers in front of it some thousands, so that no sample of a bank comes near.
const MOST_FRAMES_PER_BYTE: u64 = 512;

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

/// 16-bit little-endian values.
pub(super) type Frames = Box<[[u8; 2]]>;

/// Why a stream was not decoded.
#[derive(Debug)]
pub(super) enum Failure {
    /// It cannot be; the bank is played without it.
    Stream(Reason),
    /// No stream of the bank is decoded any further.
    Bank(BankError),
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self::Stream(reason)
    }
}

/// Packets that are decoded between two questions whether to go on.
const PACKETS_AT_A_TIME: usize = 16;

/// Decodes exactly `frames` frames.
fn decode(
    stream: &[u8],
    frames: usize,
    setups: &mut Setups,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Frames, Failure> {
    let mut packets = ogg::Packets::new(stream);
    let mut next = || packets.next().ok_or(Reason::Vorbis("it has fewer than three headers"))?;
    let ident = read_header_ident(&next()?).map_err(|_| Reason::Vorbis("its headers are damaged"))?;
    if ident.audio_channels != 1 {
        return Err(Reason::VorbisChannels(ident.audio_channels).into());
    }
    // The second header holds comments.
    next()?;
    let setup = setups.read(next()?, (ident.blocksize_0, ident.blocksize_1))?;
    let mut window = PreviousWindowRight::new();
    let mut values = Vec::with_capacity(frames);
    for number in 1.. {
        if values.len() == frames {
            break;
        }
        let Some(packet) = packets.next() else { break };
        if number % PACKETS_AT_A_TIME == 0 && !go_on() {
            return Err(Failure::Bank(BankError::Stopped));
        }
        let channels: Vec<Vec<f32>> = read_audio_packet_generic(&ident, &setup, &packet?, &mut window)
            .map_err(|_| Reason::Vorbis("a packet is damaged"))?;
        let packet_values = channels.first().into_iter().flatten();
        values.extend(packet_values.take(frames - values.len()).map(|&value| pcm(value).to_le_bytes()));
    }
    // The last page may promise a little more than its packets hold.
    if values.len() + PACKET_FRAMES < frames {
        return Err(Reason::Vorbis("it ends too early").into());
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

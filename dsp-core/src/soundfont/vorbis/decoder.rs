//! Decodes an Ogg Vorbis stream.

use lewton::audio::{PreviousWindowRight, read_audio_packet_generic};
use lewton::header::read_header_ident;

use super::super::error::BankError;
use super::super::skipped::BankIssueReason;
use super::failure::Failure;
use super::ogg;
use super::setup_cache::SetupCache;

/// Maximum number of frames of a sample: 25 minutes at 44.1 kHz.
const FRAMES_MAX: u64 = 1 << 26;

/// Maximum number of frames per byte of a stream. A second of silence at 44.1 kHz takes 100 bytes,
/// and the headers take a few thousand bytes. Valid streams therefore stay below this limit.
const FRAMES_PER_BYTE_MAX: u64 = 512;

/// Maximum number of frames that a Vorbis packet decodes to (Vorbis I specification, section
/// 1.3.2).
const PACKET_FRAMES: usize = 4_096;

/// Returns the number of frames of a stream according to its last page.
pub(in super::super) fn frames(stream: &[u8]) -> Result<u32, BankIssueReason> {
    let frames = ogg::last_granule(stream).ok_or(BankIssueReason::Vorbis("it has no last page"))?;
    let max = FRAMES_MAX.min(stream.len() as u64 * FRAMES_PER_BYTE_MAX);
    match u32::try_from(frames) {
        Ok(count) if count > 0 && frames <= max => Ok(count),
        _ => Err(BankIssueReason::VorbisFrames { frames, max }),
    }
}

/// Decoded frames as 16-bit little-endian values.
pub(super) type Frames = Box<[[u8; 2]]>;

/// Number of packets between two calls of `should_continue`.
const PACKETS_PER_CHECK: usize = 16;

/// Decodes exactly `frames` frames of a mono stream. Fills a missing end of at most
/// [`PACKET_FRAMES`] frames with silence.
pub(super) fn decode(
    stream: &[u8],
    frames: usize,
    setups: &mut SetupCache,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<Frames, Failure> {
    let mut packets = ogg::Packets::new(stream);
    let mut next_header =
        || packets.next().ok_or(BankIssueReason::Vorbis("it has fewer than three header packets"))?;
    let ident = read_header_ident(&next_header()?)
        .map_err(|_| BankIssueReason::Vorbis("its identification header is invalid"))?;
    if ident.audio_channels != 1 {
        return Err(BankIssueReason::VorbisChannels(ident.audio_channels).into());
    }
    // The second header holds only comments.
    next_header()?;
    let setup = setups.read(next_header()?, (ident.blocksize_0, ident.blocksize_1))?;
    let mut window = PreviousWindowRight::new();
    let mut values = Vec::with_capacity(frames);
    for count in 1.. {
        if values.len() == frames {
            break;
        }
        let Some(packet) = packets.next() else { break };
        if count % PACKETS_PER_CHECK == 0 && !should_continue() {
            return Err(Failure::Bank(BankError::Stopped));
        }
        let channels: Vec<Vec<f32>> = read_audio_packet_generic(&ident, &setup, &packet?, &mut window)
            .map_err(|_| BankIssueReason::Vorbis("an audio packet is invalid"))?;
        let packet_values = channels.first().into_iter().flatten();
        values.extend(packet_values.take(frames - values.len()).map(|&value| to_pcm16(value).to_le_bytes()));
    }
    // The last page may state a few frames more than the packets contain.
    if values.len() + PACKET_FRAMES < frames {
        return Err(BankIssueReason::Vorbis("it has fewer frames than its last page states").into());
    }
    values.resize(frames, [0; 2]);
    Ok(values.into_boxed_slice())
}

/// Converts a value with a full scale of 1 to 16 bits. Rounds to the nearest integer, with halves
/// away from zero, and clamps. Uses only operations that have the same result on every target.
fn to_pcm16(value: f32) -> i16 {
    let steps = value * 32_768.0;
    (if steps < 0.0 { steps - 0.5 } else { steps + 0.5 }) as i16
}

#[cfg(test)]
mod tests {
    use super::to_pcm16;

    #[test]
    fn values_are_rounded_and_clamped_to_16_bits() {
        let cases = [(0.0, 0), (0.5, 16_384), (1.0, 32_767), (-1.0, -32_768), (-7.0, -32_768)];
        for (value, expected) in cases {
            assert_eq!(to_pcm16(value), expected, "{value}");
        }
        assert_eq!((to_pcm16(1.4 / 32_768.0), to_pcm16(-1.5 / 32_768.0), to_pcm16(f32::NAN)), (1, -2, 0));
    }
}

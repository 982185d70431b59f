//! The part of a WAV file before its samples.
//!
//! The chunks are `RIFF`, space for 64-bit sizes (`JUNK`, or `ds64` if the file exceeds 4 GiB: EBU
//! Tech 3306), `fmt `, `fact` for floats, chunks of the caller, and `data`. Integers of more than
//! 16 bits and floats have the format `WAVE_FORMAT_EXTENSIBLE`. The header has the same length
//! whatever the number of frames, so it can be written again when this number is known.

use super::SampleFormat;

/// Value of a 32-bit size if the size is stored in the chunk `ds64` instead.
const SIZE_IN_DS64: u32 = u32::MAX;

/// Size in bytes of the chunk `ds64` without its chunk header.
const DS64_BYTES: u32 = 28;

/// Format tags `WAVE_FORMAT_PCM` and `WAVE_FORMAT_EXTENSIBLE` (Microsoft, `mmreg.h`).
const PCM_FORMAT_TAG: u16 = 1;
const EXTENSIBLE_FORMAT_TAG: u16 = 0xFFFE;

/// End of KSDATAFORMAT_SUBTYPE_PCM and KSDATAFORMAT_SUBTYPE_IEEE_FLOAT in the byte order of the
/// file. The subtypes begin with a format number, 1 or 3.
const SUBTYPE_END: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71];

/// Returns the header of a WAV file with `frames` frames. More than two channels have no
/// loudspeaker position. `chunks` are complete chunks of an even length, for example tags.
pub(super) fn header(
    format: SampleFormat,
    channels: u16,
    sample_rate_hz: u32,
    frames: u64,
    chunks: &[u8],
) -> Vec<u8> {
    let sample_bytes = format.bytes_per_sample() as u16;
    let frame_bytes = channels * sample_bytes;
    let data_bytes = frames * u64::from(frame_bytes);
    // The size of the chunks `fmt ` and `fact` with their chunk headers.
    let is_extensible = sample_bytes > 2;
    let is_float = format.integer_bits().is_none();
    let format_bytes = if is_extensible { 48 } else { 24 } + if is_float { 12 } else { 0 };
    let header_bytes = 12 + 8 + u64::from(DS64_BYTES) + format_bytes + chunks.len() as u64 + 8;
    let riff_bytes = header_bytes - 8 + data_bytes;
    let is_large = riff_bytes >= u64::from(SIZE_IN_DS64);
    let size = |bytes: u64| u32::try_from(bytes).ok().filter(|_| !is_large).unwrap_or(SIZE_IN_DS64);

    let mut out = Vec::with_capacity(header_bytes as usize);
    out.extend(if is_large { b"RF64" } else { b"RIFF" });
    out.extend(size(riff_bytes).to_le_bytes());
    out.extend(b"WAVE");
    out.extend(if is_large { b"ds64" } else { b"JUNK" });
    out.extend(DS64_BYTES.to_le_bytes());
    for value in [riff_bytes, data_bytes, frames] {
        out.extend(if is_large { value } else { 0 }.to_le_bytes());
    }
    // The table of further chunk sizes has no entries.
    out.extend(0_u32.to_le_bytes());

    out.extend(b"fmt ");
    out.extend(if is_extensible { 40_u32 } else { 16 }.to_le_bytes());
    out.extend(if is_extensible { EXTENSIBLE_FORMAT_TAG } else { PCM_FORMAT_TAG }.to_le_bytes());
    out.extend(channels.to_le_bytes());
    out.extend(sample_rate_hz.to_le_bytes());
    out.extend(sample_rate_hz.saturating_mul(u32::from(frame_bytes)).to_le_bytes());
    out.extend(frame_bytes.to_le_bytes());
    out.extend((8 * sample_bytes).to_le_bytes());
    if is_extensible {
        out.extend(22_u16.to_le_bytes());
        out.extend((8 * sample_bytes).to_le_bytes());
        // The speaker mask is front centre for mono, and front left and right for stereo.
        let speakers: u32 = match channels {
            1 => 4,
            2 => 3,
            _ => 0,
        };
        out.extend(speakers.to_le_bytes());
        out.extend(if is_float { 3_u16 } else { 1 }.to_le_bytes());
        out.extend(SUBTYPE_END);
    }
    if is_float {
        out.extend(b"fact");
        out.extend(4_u32.to_le_bytes());
        out.extend(size(frames).to_le_bytes());
    }
    out.extend(chunks);
    out.extend(b"data");
    out.extend(size(data_bytes).to_le_bytes());
    debug_assert_eq!(out.len() as u64, header_bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_above_four_gibibytes_store_their_sizes_in_ds64() {
        for format in [SampleFormat::Pcm8, SampleFormat::Pcm16, SampleFormat::Pcm24, SampleFormat::Float32] {
            let small_header = header(format, 2, 48_000, 1, &[]);
            assert_eq!((&small_header[..4], &small_header[12..16]), (&b"RIFF"[..], &b"JUNK"[..]));
            let frames = 3_u64 << 30;
            let bytes = header(format, 2, 48_000, frames, &[]);
            assert_eq!(bytes.len(), small_header.len());
            assert_eq!(&bytes[..8], b"RF64\xFF\xFF\xFF\xFF");
            assert_eq!(&bytes[12..16], b"ds64");
            let number = |at: usize| {
                u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the slice has eight bytes"))
            };
            let data_bytes = frames * 2 * format.bytes_per_sample() as u64;
            assert_eq!(number(20), bytes.len() as u64 - 8 + data_bytes);
            assert_eq!((number(28), number(36)), (data_bytes, frames));
            assert!(bytes.ends_with(b"data\xFF\xFF\xFF\xFF"));
        }
    }

    #[test]
    fn the_largest_file_with_32_bit_sizes_is_not_rf64() {
        let header_bytes = header(SampleFormat::Pcm16, 2, 48_000, 0, &[]).len() as u64;
        let frames = (u64::from(SIZE_IN_DS64) - 1 + 8 - header_bytes) / 4;
        assert_eq!(&header(SampleFormat::Pcm16, 2, 48_000, frames, &[])[..4], b"RIFF");
        assert_eq!(&header(SampleFormat::Pcm16, 2, 48_000, frames + 1, &[])[..4], b"RF64");
    }
}

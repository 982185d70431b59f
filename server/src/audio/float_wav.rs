//! The format of decoded copies: WAV files of 32-bit floats with a fixed layout, so that readers
//! need not parse the header.
//!
//! The chunks are `RIFF`, space for 64-bit sizes (`JUNK`, or `ds64` if the file exceeds 4 GiB: EBU
//! Tech 3306), `fmt ` as `WAVE_FORMAT_EXTENSIBLE`, `fact` and `data`. The samples begin at byte
//! 116. It is divisible by four, so a page can view the samples as an array without copying them.

use std::io::{self, Read, Seek, SeekFrom, Write};

/// Offset of the samples in the file, in bytes.
pub(super) const HEADER_BYTES: u64 = 116;

/// Size of a sample, in bytes.
pub(super) const SAMPLE_BYTES: u64 = 4;

/// Value of a 32-bit size if the size is stored in the chunk `ds64` instead.
const SIZE_IN_DS64: u32 = u32::MAX;

/// KSDATAFORMAT_SUBTYPE_IEEE_FLOAT, in the byte order of the file.
const FLOAT_SUBTYPE: [u8; 16] = [3, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71];

/// Returns the header of a file.
fn header(channels: u32, sample_rate_hz: u32, frames: u64) -> Vec<u8> {
    let frame_bytes = u64::from(channels) * SAMPLE_BYTES;
    let data_bytes = frames * frame_bytes;
    let riff_bytes = HEADER_BYTES - 8 + data_bytes;
    let large = riff_bytes >= u64::from(SIZE_IN_DS64);
    let size = |bytes: u64| u32::try_from(bytes).ok().filter(|_| !large).unwrap_or(SIZE_IN_DS64);
    let mut out = Vec::with_capacity(HEADER_BYTES as usize);
    out.extend(if large { b"RF64" } else { b"RIFF" });
    out.extend(size(riff_bytes).to_le_bytes());
    out.extend(b"WAVE");
    out.extend(if large { b"ds64" } else { b"JUNK" });
    out.extend(28_u32.to_le_bytes());
    for value in [riff_bytes, data_bytes, frames] {
        out.extend(if large { value } else { 0 }.to_le_bytes());
    }
    out.extend(0_u32.to_le_bytes());
    out.extend(b"fmt ");
    out.extend(40_u32.to_le_bytes());
    out.extend(0xFFFE_u16.to_le_bytes());
    out.extend((channels as u16).to_le_bytes());
    out.extend(sample_rate_hz.to_le_bytes());
    out.extend(sample_rate_hz.saturating_mul(frame_bytes as u32).to_le_bytes());
    out.extend((frame_bytes as u16).to_le_bytes());
    out.extend(32_u16.to_le_bytes());
    out.extend(22_u16.to_le_bytes());
    out.extend(32_u16.to_le_bytes());
    // The speaker mask is front centre for mono, and front left and right for stereo.
    out.extend(if channels == 1 { 4_u32 } else { 3_u32 }.to_le_bytes());
    out.extend(FLOAT_SUBTYPE);
    out.extend(b"fact");
    out.extend(4_u32.to_le_bytes());
    out.extend(size(frames).to_le_bytes());
    out.extend(b"data");
    out.extend(size(data_bytes).to_le_bytes());
    out
}

/// Returns the size in bytes of a file with this number of frames.
pub(super) fn file_bytes(channels: u32, frames: u64) -> u64 {
    HEADER_BYTES + frames * u64::from(channels) * SAMPLE_BYTES
}

/// Writes a file from frames in chunks of any size.
#[derive(Debug)]
pub(super) struct FloatWavWriter<W> {
    destination: W,
    channels: u32,
    sample_rate_hz: u32,
    samples: u64,
    encoded: Vec<u8>,
}

impl<W: Write + Seek> FloatWavWriter<W> {
    /// Writes the header of a file with one or two channels.
    pub(super) fn new(mut destination: W, channels: u32, sample_rate_hz: u32) -> io::Result<Self> {
        destination.write_all(&header(channels, sample_rate_hz, 0))?;
        Ok(Self { destination, channels, sample_rate_hz, samples: 0, encoded: Vec::new() })
    }

    /// Appends interleaved frames.
    pub(super) fn write(&mut self, frames: &[f32]) -> io::Result<()> {
        self.encoded.clear();
        self.encoded.extend(frames.iter().flat_map(|sample| sample.to_le_bytes()));
        self.samples += frames.len() as u64;
        self.destination.write_all(&self.encoded)
    }

    /// Returns the number of frames that were written so far.
    pub(super) fn frames(&self) -> u64 {
        self.samples / u64::from(self.channels)
    }

    /// Writes the final sizes into the header.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let header = header(self.channels, self.sample_rate_hz, self.frames());
        self.destination.seek(SeekFrom::Start(0))?;
        self.destination.write_all(&header)?;
        self.destination.flush()?;
        Ok(self.destination)
    }
}

/// Reads frames of a file that [`FloatWavWriter`] wrote.
#[derive(Debug)]
pub(super) struct FloatWavReader<R> {
    source: R,
    channels: u32,
    remaining_frames: u64,
    bytes: Vec<u8>,
}

impl<R: Read + Seek> FloatWavReader<R> {
    /// Prepares to read at most `frames` frames from the frame `start`.
    pub(super) fn new(mut source: R, channels: u32, start: u64, frames: u64) -> io::Result<Self> {
        source.seek(SeekFrom::Start(file_bytes(channels, start)))?;
        Ok(Self { source, channels, remaining_frames: frames, bytes: Vec::new() })
    }

    /// Replaces the content of `out` with at most `frames` of the next interleaved frames. At the
    /// end, `out` is empty.
    pub(super) fn read(&mut self, frames: u64, out: &mut Vec<f32>) -> io::Result<()> {
        let frames = frames.min(self.remaining_frames);
        self.remaining_frames -= frames;
        self.bytes.resize((frames * u64::from(self.channels) * SAMPLE_BYTES) as usize, 0);
        self.source.read_exact(&mut self.bytes)?;
        out.clear();
        out.extend(
            self.bytes
                .chunks_exact(SAMPLE_BYTES as usize)
                .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn other_readers_accept_the_format() {
        for channels in [1_u32, 2] {
            let samples: Vec<f32> = (0..600).map(|n| n as f32 / 300.0 - 1.0).collect();
            let mut writer = FloatWavWriter::new(Cursor::new(Vec::new()), channels, 44_100).expect("starts");
            for part in samples.chunks(70) {
                writer.write(part).expect("writes");
            }
            let bytes = writer.finish().expect("ends").into_inner();
            assert_eq!(bytes.len() as u64, file_bytes(channels, 600 / u64::from(channels)));
            let mut reader = hound::WavReader::new(Cursor::new(&bytes)).expect("a WAV file");
            let spec = reader.spec();
            assert_eq!((u32::from(spec.channels), spec.sample_rate), (channels, 44_100));
            let read: Vec<f32> = reader.samples().map(Result::unwrap).collect();
            assert_eq!(read, samples);

            let mut ours = FloatWavReader::new(Cursor::new(&bytes), channels, 10, 100).expect("opens");
            let (mut part, mut all) = (Vec::new(), Vec::new());
            loop {
                ours.read(33, &mut part).expect("reads");
                if part.is_empty() {
                    break;
                }
                all.extend_from_slice(&part);
            }
            let from = 10 * channels as usize;
            assert_eq!(all, samples[from..from + 100 * channels as usize]);
        }
    }

    #[test]
    fn files_above_four_gibibytes_store_their_sizes_in_ds64() {
        let frames = 3_u64 << 30;
        let bytes = header(2, 48_000, frames);
        assert_eq!(bytes.len() as u64, HEADER_BYTES);
        assert_eq!(&bytes[..8], b"RF64\xFF\xFF\xFF\xFF");
        assert_eq!(&bytes[12..16], b"ds64");
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        assert_eq!(number(20), HEADER_BYTES - 8 + frames * 8);
        assert_eq!((number(28), number(36)), (frames * 8, frames));
        assert_eq!(&bytes[108..], b"data\xFF\xFF\xFF\xFF");
        assert_eq!(&header(1, 48_000, 1)[..4], b"RIFF");
    }
}

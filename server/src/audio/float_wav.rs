//! Reads decoded copies: WAV files of 32-bit floats with a fixed layout, so that readers need not
//! parse the header.

use std::io::{self, Read, Seek, SeekFrom};

use dsp_core::wav::FLOAT_HEADER_BYTES;

/// Size of a sample, in bytes.
pub(super) const SAMPLE_BYTES: u64 = 4;

/// Returns the size in bytes of a file with this number of frames.
pub(super) fn file_bytes(channels: u32, frames: u64) -> u64 {
    FLOAT_HEADER_BYTES + frames * u64::from(channels) * SAMPLE_BYTES
}

/// Reads frames of a file that [`dsp_core::wav::FloatWavWriter`] wrote.
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

    /// Replaces the content of `output` with at most `frames` of the next interleaved frames. At the
    /// end, `output` is empty.
    pub(super) fn read(&mut self, frames: u64, output: &mut Vec<f32>) -> io::Result<()> {
        let frames = frames.min(self.remaining_frames);
        self.remaining_frames -= frames;
        self.bytes.resize((frames * u64::from(self.channels) * SAMPLE_BYTES) as usize, 0);
        self.source.read_exact(&mut self.bytes)?;
        output.clear();
        output.extend(
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

    use dsp_core::wav::FloatWavWriter;

    use super::*;

    #[test]
    fn a_range_of_frames_is_read_in_parts() {
        for channels in [1_u32, 2] {
            let samples: Vec<f32> = (0..600).map(|n| n as f32 / 300.0 - 1.0).collect();
            let mut writer = FloatWavWriter::new(Cursor::new(Vec::new()), channels, 44_100).expect("starts");
            writer.write(&samples).expect("writes");
            let bytes = writer.finish().expect("ends").into_inner();
            assert_eq!(bytes.len() as u64, file_bytes(channels, 600 / u64::from(channels)));
            let mut reader = FloatWavReader::new(Cursor::new(&bytes), channels, 10, 100).expect("opens");
            let (mut part, mut all_samples) = (Vec::new(), Vec::new());
            loop {
                reader.read(33, &mut part).expect("reads");
                if part.is_empty() {
                    break;
                }
                all_samples.extend_from_slice(&part);
            }
            let from = 10 * channels as usize;
            assert_eq!(all_samples, samples[from..from + 100 * channels as usize]);
        }
    }
}

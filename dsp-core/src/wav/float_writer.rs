//! Writes WAV files of 32-bit floats in any number of channels.

use std::io::{self, Seek, SeekFrom, Write};

use super::{SampleFormat, header::header};

/// Offset of the samples in a WAV file of 32-bit floats, in bytes. It is divisible by four, so a
/// page can view the samples as an array without copying them.
pub const FLOAT_HEADER_BYTES: u64 = 116;

/// Writes a WAV file of 32-bit floats from interleaved frames in parts of any size. A file above
/// 4 GiB becomes an RF64 file.
#[derive(Debug)]
pub struct FloatWavWriter<W> {
    destination: W,
    channels: u32,
    sample_rate_hz: u32,
    samples: u64,
    encoded_bytes: Vec<u8>,
}

impl<W: Write + Seek> FloatWavWriter<W> {
    /// Writes the header of a file.
    ///
    /// # Errors
    /// An [`io::Error`] if writing fails.
    pub fn new(mut destination: W, channels: u32, sample_rate_hz: u32) -> io::Result<Self> {
        destination.write_all(&float_header(channels, sample_rate_hz, 0))?;
        Ok(Self { destination, channels, sample_rate_hz, samples: 0, encoded_bytes: Vec::new() })
    }

    /// Appends interleaved frames.
    ///
    /// # Errors
    /// An [`io::Error`] if writing fails.
    pub fn write(&mut self, frames: &[f32]) -> io::Result<()> {
        self.encoded_bytes.clear();
        self.encoded_bytes.extend(frames.iter().flat_map(|sample| sample.to_le_bytes()));
        self.samples += frames.len() as u64;
        self.destination.write_all(&self.encoded_bytes)
    }

    /// Returns the number of frames that were written so far.
    pub fn frames(&self) -> u64 {
        self.samples / u64::from(self.channels)
    }

    /// Writes the final sizes into the header.
    ///
    /// # Errors
    /// An [`io::Error`] if writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        let header = float_header(self.channels, self.sample_rate_hz, self.frames());
        self.destination.seek(SeekFrom::Start(0))?;
        self.destination.write_all(&header)?;
        self.destination.flush()?;
        Ok(self.destination)
    }
}

fn float_header(channels: u32, sample_rate_hz: u32, frames: u64) -> Vec<u8> {
    header(SampleFormat::Float32, channels as u16, sample_rate_hz, frames, &[])
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn other_readers_accept_the_format() {
        for channels in [1_u32, 2, 4] {
            let samples: Vec<f32> = (0..600).map(|n| n as f32 / 300.0 - 1.0).collect();
            let destination = Cursor::new(Vec::new());
            let mut writer =
                FloatWavWriter::new(destination, channels, 44_100).expect("the header is written");
            for part in samples.chunks(70) {
                writer.write(part).expect("the samples are written");
            }
            assert_eq!(writer.frames(), 600 / u64::from(channels));
            let bytes = writer.finish().expect("the file is completed").into_inner();
            assert_eq!(bytes.len() as u64, FLOAT_HEADER_BYTES + 4 * 600);
            let mut reader = hound::WavReader::new(Cursor::new(&bytes)).expect("the bytes are a WAV file");
            let spec = reader.spec();
            assert_eq!((u32::from(spec.channels), spec.sample_rate), (channels, 44_100));
            let read_samples: Vec<f32> = reader.samples().map(Result::unwrap).collect();
            assert_eq!(read_samples, samples);
        }
    }
}

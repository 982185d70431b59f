//! Writes stereo WAV files block by block.

use std::io::{self, Seek, SeekFrom, Write};

use super::header::header;
use super::{SampleEncoder, SampleFormat};
use crate::dither::NoiseShaping;

/// Writes a stereo WAV file block by block. A file above 4 GiB becomes an RF64 file.
pub struct WavWriter<W> {
    destination: W,
    /// Offset of the file in the destination, in bytes.
    start: u64,
    sample_rate_hz: u32,
    format: SampleFormat,
    encoder: SampleEncoder,
    frames: u64,
    /// Complete chunks of the caller between the chunks `fmt ` and `data`.
    chunks: Vec<u8>,
}

impl<W: Write + Seek> WavWriter<W> {
    /// Starts a file at a sample rate in hertz. `seed` is the seed of the dither. `shaping` filters
    /// the quantization noise at the sample rates of [`NoiseShaping::at_rate`].
    ///
    /// # Errors
    /// An [`io::Error`] if the header cannot be written.
    pub fn new(
        destination: W,
        sample_rate_hz: u32,
        format: SampleFormat,
        shaping: NoiseShaping,
        seed: u64,
    ) -> io::Result<Self> {
        Self::with_chunks(destination, sample_rate_hz, format, shaping, seed, Vec::new())
    }

    /// Like [`Self::new`], with chunks before the samples, each complete and of an even length.
    ///
    /// # Errors
    /// An [`io::Error`] if the header cannot be written.
    pub fn with_chunks(
        mut destination: W,
        sample_rate_hz: u32,
        format: SampleFormat,
        shaping: NoiseShaping,
        seed: u64,
        chunks: Vec<u8>,
    ) -> io::Result<Self> {
        let start = destination.stream_position()?;
        destination.write_all(&header(format, 2, sample_rate_hz, 0, &chunks))?;
        let encoder = SampleEncoder::new(format, sample_rate_hz, shaping, seed);
        Ok(Self { destination, start, sample_rate_hz, format, encoder, frames: 0, chunks })
    }

    /// Replaces the chunks before the samples by chunks of the same length, for example when the
    /// loudness is known.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if the length differs.
    pub fn replace_chunks(&mut self, chunks: Vec<u8>) -> io::Result<()> {
        if chunks.len() != self.chunks.len() {
            let text = format!(
                "the new chunks have {} bytes, but they must have {} bytes like the old chunks",
                chunks.len(),
                self.chunks.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.chunks = chunks;
        Ok(())
    }

    /// Appends frames and returns their encoded bytes, for hashing.
    ///
    /// # Errors
    /// An [`io::Error`] if writing fails.
    pub fn write(&mut self, left: &[f32], right: &[f32]) -> io::Result<&[u8]> {
        let encoded_bytes = self.encoder.encode(left, right);
        self.destination.write_all(encoded_bytes)?;
        self.frames += left.len().min(right.len()) as u64;
        Ok(encoded_bytes)
    }

    /// Returns the number of samples above full scale.
    pub fn clipped_samples(&self) -> u64 {
        self.encoder.clipped_samples()
    }

    /// Writes the final sizes into the header.
    ///
    /// # Errors
    /// An [`io::Error`] if writing fails.
    pub fn finish(mut self) -> io::Result<()> {
        let header = header(self.format, 2, self.sample_rate_hz, self.frames, &self.chunks);
        let end = self.destination.stream_position()?;
        self.destination.seek(SeekFrom::Start(self.start))?;
        self.destination.write_all(&header)?;
        self.destination.seek(SeekFrom::Start(end))?;
        self.destination.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn chunks_are_before_the_samples_and_can_be_replaced() {
        let mut file = Cursor::new(Vec::new());
        let format = SampleFormat::Pcm16;
        let chunks = b"LIST\x04\0\0\0INFO".to_vec();
        let mut writer =
            WavWriter::with_chunks(&mut file, 44_100, format, NoiseShaping::Off, 0, chunks).unwrap();
        writer.write(&[0.5], &[-0.5]).unwrap();
        assert!(writer.replace_chunks(b"LIST".to_vec()).is_err());
        writer.replace_chunks(b"LIST\x04\0\0\0info".to_vec()).unwrap();
        writer.finish().unwrap();
        let bytes = file.into_inner();
        assert!(bytes.windows(12).any(|window| window == b"LIST\x04\0\0\0info"));
        let mut reader = hound::WavReader::new(Cursor::new(&bytes)).unwrap();
        assert_eq!(reader.samples::<i32>().count(), 2);
        assert_eq!(bytes[4..8], (bytes.len() as u32 - 8).to_le_bytes());
    }

    fn write(format: SampleFormat, left: &[f32], right: &[f32]) -> (Vec<u8>, Vec<u8>) {
        let mut file = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut file, 44_100, format, NoiseShaping::Off, 0).unwrap();
        let audio = writer.write(left, right).unwrap().to_vec();
        writer.finish().unwrap();
        (file.into_inner(), audio)
    }

    #[test]
    fn floats_are_read_back_unchanged() {
        let (left, right) = ([0.1, -2.0, 1e-20], [0.5, 0.25, -0.0]);
        let (file, audio) = write(SampleFormat::Float32, &left, &right);
        let mut reader = hound::WavReader::new(Cursor::new(&file)).unwrap();
        assert_eq!((reader.spec().channels, reader.spec().sample_rate), (2, 44_100));
        let samples: Vec<f32> = reader.samples().map(Result::unwrap).collect();
        assert_eq!(samples, [0.1, 0.5, -2.0, 0.25, 1e-20, -0.0]);
        assert!(file.ends_with(&audio));
    }

    #[test]
    fn integers_have_an_error_of_at_most_1_5_steps_and_write_returns_the_bytes_of_the_file() {
        let ramp: Vec<f32> = (0..1_000).map(|n| n as f32 / 1_000.0 - 0.5).collect();
        for (format, full_scale) in
            [(SampleFormat::Pcm8, 128.0), (SampleFormat::Pcm16, 32_768.0), (SampleFormat::Pcm24, 8_388_608.0)]
        {
            let (file, audio) = write(format, &ramp, &ramp);
            assert!(file.ends_with(&audio));
            let mut reader = hound::WavReader::new(Cursor::new(&file)).unwrap();
            assert_eq!(usize::from(reader.spec().bits_per_sample), 8 * format.bytes_per_sample());
            let samples: Vec<i32> = reader.samples().map(Result::unwrap).collect();
            assert_eq!(samples.len(), 2 * ramp.len());
            let (mut left, mut right) = (Vec::new(), Vec::new());
            format.decode_stereo(&audio, &mut left, &mut right);
            let decoded = left.iter().zip(&right).flat_map(|(left, right)| [*left, *right]);
            for ((sample, value), decoded) in
                samples.iter().zip(ramp.iter().flat_map(|v| [v, v])).zip(decoded)
            {
                let error = f64::from(*sample) - f64::from(*value) * full_scale;
                assert!(error.abs() <= 1.5, "{value} became {sample} in {format:?}");
                assert_eq!(f64::from(decoded) * full_scale, f64::from(*sample));
            }
        }
    }
}

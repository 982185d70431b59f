//! The file of stored peaks. It contains consecutive levels of 256, 512, ... 65536 frames per
//! pixel.
//!
//! A pixel is the minimum and maximum of each channel in turn, as 16-bit little-endian integers. A
//! header of 32 bytes comes first. The sizes of the levels follow from the number of frames in the
//! header.

use std::io::{self, Read, Seek, SeekFrom, Write};

use dsp_core::peaks::{BASE_FRAMES, LEVEL_COUNT, PeakBuilder, halve_resolution};

const HEADER_BYTES: u64 = 32;

/// Number of channels and of frames of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) channels: u32,
    pub(super) frames: u64,
}

impl Shape {
    /// Returns the number of pixels at `frames_per_pixel`. The last pixel may have fewer frames.
    pub(super) fn pixels(self, frames_per_pixel: u64) -> u64 {
        self.frames.div_ceil(frames_per_pixel)
    }

    fn pixel_bytes(self) -> u64 {
        u64::from(self.channels) * 4
    }

    fn level_start_bytes(self, level_index: usize) -> u64 {
        (0..level_index).fold(HEADER_BYTES, |sum, level| {
            sum + self.pixels((BASE_FRAMES as u64) << level) * self.pixel_bytes()
        })
    }

    /// Returns the size of the whole file in bytes.
    pub(super) fn file_bytes(self) -> u64 {
        self.level_start_bytes(LEVEL_COUNT)
    }
}

/// Returns the stored level with this number of frames per pixel, if there is one.
pub(super) fn level_of(frames_per_pixel: u64) -> Option<usize> {
    (0..LEVEL_COUNT).find(|level| (BASE_FRAMES as u64) << level == frames_per_pixel)
}

/// Builds the file while samples are decoded.
#[derive(Debug)]
pub(super) struct PeaksWriter<W> {
    destination: W,
    channels: u32,
    sample_rate_hz: u32,
    base: PeakBuilder,
}

impl<W: Write> PeaksWriter<W> {
    pub(super) fn new(destination: W, channels: u32, sample_rate_hz: u32) -> Self {
        Self { destination, channels, sample_rate_hz, base: PeakBuilder::new(channels as usize, BASE_FRAMES) }
    }

    /// Adds complete interleaved frames.
    pub(super) fn add(&mut self, frames: &[f32]) {
        self.base.add(frames);
    }

    /// Writes the file. All `frames` frames must have been added.
    pub(super) fn finish(mut self, frames: u64) -> io::Result<W> {
        self.destination.write_all(b"SFPK")?;
        for value in [1, self.channels, self.sample_rate_hz] {
            self.destination.write_all(&value.to_le_bytes())?;
        }
        self.destination.write_all(&frames.to_le_bytes())?;
        for value in [BASE_FRAMES as u32, LEVEL_COUNT as u32] {
            self.destination.write_all(&value.to_le_bytes())?;
        }
        let mut level = self.base.finish();
        for number in 0..LEVEL_COUNT {
            if number > 0 {
                level = halve_resolution(&level, self.channels as usize);
            }
            for part in level.chunks(4_096) {
                let bytes: Vec<u8> = part.iter().flat_map(|value| value.to_le_bytes()).collect();
                self.destination.write_all(&bytes)?;
            }
        }
        self.destination.flush()?;
        Ok(self.destination)
    }
}

/// Reads `count` pixels of one level, from the pixel `start` on. These pixels must exist.
pub(super) fn read(
    mut source: impl Read + Seek,
    shape: Shape,
    level_index: usize,
    start: u64,
    count: u64,
) -> io::Result<Vec<i16>> {
    source.seek(SeekFrom::Start(shape.level_start_bytes(level_index) + start * shape.pixel_bytes()))?;
    let mut bytes = vec![0; (count * shape.pixel_bytes()) as usize];
    source.read_exact(&mut bytes)?;
    Ok(bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn every_level_can_be_read_back() {
        let shape = Shape { channels: 2, frames: 200_000 };
        let samples: Vec<f32> =
            (0..2 * shape.frames).map(|n| ((n * 7919) % 2001) as f32 / 1000.0 - 1.0).collect();
        let mut writer = PeaksWriter::new(Vec::new(), shape.channels, 48_000);
        for part in samples.chunks(1_024) {
            writer.add(part);
        }
        let file = writer.finish(shape.frames).expect("writes");
        assert_eq!(file.len() as u64, shape.file_bytes());
        for level in 0..LEVEL_COUNT {
            let frames_per_pixel = 256_u64 << level;
            assert_eq!(level_of(frames_per_pixel), Some(level));
            let mut reader = PeakBuilder::new(2, frames_per_pixel as usize);
            reader.add(&samples);
            let expected = reader.finish();
            let count = shape.pixels(frames_per_pixel);
            assert_eq!(expected.len() as u64, count * 4);
            let file_peaks = read(Cursor::new(&file), shape, level, 1, count - 1).expect("reads");
            assert_eq!(file_peaks, expected[4..], "level {level}");
        }
        assert_eq!((level_of(255), level_of(128), level_of(131_072)), (None, None, None));
    }
}

//! Reads a piece of a decoded copy at any frame, forwards or backwards.

use std::io::{self, Read, Seek};

use super::super::float_wav::FloatWavReader;

/// A piece of a decoded copy.
pub(super) struct Piece<R> {
    pub(super) source: R,
    pub(super) channels: u32,
    /// First frame of the piece in the file.
    pub(super) start_frame: u64,
    /// Length in frames.
    pub(super) frames: u64,
    /// Whether frame 0 is the last frame of the piece in the file.
    pub(super) is_reversed: bool,
}

impl<R: Read + Seek> Piece<R> {
    /// Replaces the content of `output` with `count` interleaved frames from `frame` on, fewer at the
    /// end of the piece.
    pub(super) fn read(&mut self, frame: u64, count: u64, output: &mut Vec<f32>) -> io::Result<()> {
        let count = count.min(self.frames.saturating_sub(frame));
        let first = match self.is_reversed {
            true => self.frames - frame.min(self.frames) - count,
            false => frame,
        };
        let start = self.start_frame + first;
        FloatWavReader::new(&mut self.source, self.channels, start, count)?.read(count, output)?;
        if self.is_reversed {
            // Reversing all samples also exchanges the channels of each frame.
            output.reverse();
            output.chunks_exact_mut(self.channels as usize).for_each(<[f32]>::reverse);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use dsp_core::wav::FloatWavWriter;

    use super::*;

    #[test]
    fn a_reversed_piece_has_its_frames_backwards_and_its_channels_in_place() {
        let samples: Vec<f32> = (0..40).map(|sample| sample as f32 / 40.0).collect();
        let mut writer = FloatWavWriter::new(Cursor::new(Vec::new()), 2, 48_000).expect("a header");
        writer.write(&samples).expect("samples");
        let mut file_piece = Piece {
            source: writer.finish().expect("a file"),
            channels: 2,
            start_frame: 3,
            frames: 10,
            is_reversed: true,
        };
        let mut all_samples = Vec::new();
        let mut part = Vec::new();
        for frame in [0, 4, 8, 12] {
            file_piece.read(frame, 4, &mut part).expect("frames");
            all_samples.extend_from_slice(&part);
        }
        let expected: Vec<f32> = samples[6..26].chunks(2).rev().flatten().copied().collect();
        assert_eq!(all_samples, expected);
    }
}

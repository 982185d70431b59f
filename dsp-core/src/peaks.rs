//! Minima and maxima of a recording over intervals, for drawing a waveform.

use alloc::vec::Vec;

/// Number of frames per pair on the finest level.
pub const BASE_FRAMES: usize = 256;

/// Number of levels: 256, 512, and so on to 65536 frames per pair.
pub const LEVELS: usize = 9;

/// A sample as 16 bits, clamped to full scale, 32767.
fn sixteen_bit(value: f32) -> i16 {
    libm::rintf(value.clamp(-1.0, 1.0) * 32_767.0) as i16
}

/// Minimum and maximum of each channel over intervals of equal length.
#[derive(Debug, Clone)]
struct Stretch {
    /// Pairs of the incomplete interval, one per channel.
    pairs: Vec<(f32, f32)>,
    frames: usize,
}

const NOTHING: (f32, f32) = (f32::INFINITY, f32::NEG_INFINITY);

/// Reduces interleaved frames to pairs of 16-bit values, `[minimum, maximum]`, channels
/// interleaved.
///
/// The last pair may cover fewer frames than the others.
#[derive(Debug, Clone)]
pub struct PeakReader {
    frames_per_pair: usize,
    stretch: Stretch,
    values: Vec<i16>,
}

impl PeakReader {
    /// A reader of `channels` channels with pairs of some frames, both at least 1.
    pub fn new(channels: usize, frames_per_pair: usize) -> Self {
        let pairs = alloc::vec![NOTHING; channels.max(1)];
        Self {
            frames_per_pair: frames_per_pair.max(1),
            stretch: Stretch { pairs, frames: 0 },
            values: Vec::new(),
        }
    }

    /// Adds whole frames.
    pub fn add(&mut self, frames: &[f32]) {
        for frame in frames.chunks_exact(self.stretch.pairs.len()) {
            for (pair, value) in self.stretch.pairs.iter_mut().zip(frame) {
                *pair = (pair.0.min(*value), pair.1.max(*value));
            }
            self.stretch.frames += 1;
            if self.stretch.frames == self.frames_per_pair {
                self.end_pair();
            }
        }
    }

    fn end_pair(&mut self) {
        for pair in &mut self.stretch.pairs {
            self.values.extend([sixteen_bit(pair.0), sixteen_bit(pair.1)]);
            *pair = NOTHING;
        }
        self.stretch.frames = 0;
    }

    /// All pairs.
    pub fn finish(mut self) -> Vec<i16> {
        if self.stretch.frames > 0 {
            self.end_pair();
        }
        self.values
    }
}

/// The pairs of the next coarser level: each merges two pairs.
pub fn halved(values: &[i16], channels: usize) -> Vec<i16> {
    let pixel = 2 * channels.max(1);
    let mut out = Vec::with_capacity(values.len().div_ceil(2) + pixel);
    for two in values.chunks(2 * pixel) {
        let (first, second) = two.split_at(pixel.min(two.len()));
        for (index, value) in first.iter().enumerate() {
            let other = second.get(index).copied().unwrap_or(*value);
            out.push(if index % 2 == 0 { other.min(*value) } else { other.max(*value) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_hold_the_extremes_of_their_frames() {
        let mut reader = PeakReader::new(2, 3);
        reader.add(&[0.5, -0.5, -1.0, 0.25, 0.0]);
        reader.add(&[]);
        let mut whole = PeakReader::new(2, 3);
        whole.add(&[0.5, -0.5, -1.0, 0.25, 0.0, 0.0, 2.0, -0.1]);
        assert_eq!(
            whole.finish(),
            [-32_767, 16_384, -16_384, 8_192, 32_767, 32_767, -3_277, -3_277],
            "one whole pair and one begun"
        );
        assert_eq!(reader.finish(), [-32_767, 16_384, -16_384, 8_192]);
    }

    #[test]
    fn a_coarser_level_is_that_of_the_samples() {
        let frames: Vec<f32> = (0..10_000).map(|n| libm::sinf(n as f32 * 0.37) * 0.9).collect();
        let at = |frames_per_pair| {
            let mut reader = PeakReader::new(2, frames_per_pair);
            reader.add(&frames);
            reader.finish()
        };
        let mut level = at(16);
        for frames_per_pair in [32, 64, 128, 8_192] {
            while level.len() > at(frames_per_pair).len() {
                level = halved(&level, 2);
            }
            assert_eq!(level, at(frames_per_pair), "{frames_per_pair}");
        }
    }
}

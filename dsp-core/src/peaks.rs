//! Minima and maxima of a recording over intervals, from which the page draws a waveform.

use alloc::vec::Vec;

/// Number of frames per pair of minimum and maximum, on the finest level.
pub const BASE_FRAMES: usize = 256;

/// Number of levels, which have 256, 512, and so on to 65,536 frames per pair.
pub const LEVEL_COUNT: usize = 9;

/// Converts a sample to 16 bits. Full scale is 32,767, and values beyond it are clamped.
fn to_i16(value: f32) -> i16 {
    libm::rintf(value.clamp(-1.0, 1.0) * 32_767.0) as i16
}

/// Minimum and maximum of each channel over the incomplete last interval.
#[derive(Debug, Clone)]
struct Interval {
    /// Pairs of minimum and maximum, one per channel.
    pairs: Vec<(f32, f32)>,
    frames: usize,
}

const EMPTY_PAIR: (f32, f32) = (f32::INFINITY, f32::NEG_INFINITY);

/// Reduces interleaved frames to pairs of 16-bit values, `[minimum, maximum]`, with interleaved
/// channels.
///
/// The last pair may cover fewer frames than the pairs before it.
#[derive(Debug, Clone)]
pub struct PeakBuilder {
    frames_per_pair: usize,
    interval: Interval,
    values: Vec<i16>,
}

impl PeakBuilder {
    /// Creates a reader of `channels` channels, with pairs of `frames_per_pair` frames. Both are at
    /// least 1.
    pub fn new(channels: usize, frames_per_pair: usize) -> Self {
        let pairs = alloc::vec![EMPTY_PAIR; channels.max(1)];
        Self {
            frames_per_pair: frames_per_pair.max(1),
            interval: Interval { pairs, frames: 0 },
            values: Vec::new(),
        }
    }

    /// Adds interleaved frames. An incomplete last frame is ignored.
    pub fn add(&mut self, frames: &[f32]) {
        for frame in frames.chunks_exact(self.interval.pairs.len()) {
            for (pair, value) in self.interval.pairs.iter_mut().zip(frame) {
                *pair = (pair.0.min(*value), pair.1.max(*value));
            }
            self.interval.frames += 1;
            if self.interval.frames == self.frames_per_pair {
                self.end_pair();
            }
        }
    }

    fn end_pair(&mut self) {
        for pair in &mut self.interval.pairs {
            self.values.extend([to_i16(pair.0), to_i16(pair.1)]);
            *pair = EMPTY_PAIR;
        }
        self.interval.frames = 0;
    }

    /// Returns all pairs, including that of an incomplete interval.
    pub fn finish(mut self) -> Vec<i16> {
        if self.interval.frames > 0 {
            self.end_pair();
        }
        self.values
    }
}

/// Returns the pairs of the next coarser level. Each of them merges two pairs of `values`.
pub fn halve_resolution(values: &[i16], channels: usize) -> Vec<i16> {
    let pair_values = 2 * channels.max(1);
    let mut output = Vec::with_capacity(values.len().div_ceil(2) + pair_values);
    for pair_chunk in values.chunks(2 * pair_values) {
        let (first, second) = pair_chunk.split_at(pair_values.min(pair_chunk.len()));
        for (index, value) in first.iter().enumerate() {
            let second_value = second.get(index).copied().unwrap_or(*value);
            output.push(if index % 2 == 0 { second_value.min(*value) } else { second_value.max(*value) });
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_the_minimum_and_maximum_of_their_frames() {
        let mut reader = PeakBuilder::new(2, 3);
        reader.add(&[0.5, -0.5, -1.0, 0.25, 0.0]);
        reader.add(&[]);
        let mut whole_peaks = PeakBuilder::new(2, 3);
        whole_peaks.add(&[0.5, -0.5, -1.0, 0.25, 0.0, 0.0, 2.0, -0.1]);
        assert_eq!(
            whole_peaks.finish(),
            [-32_767, 16_384, -16_384, 8_192, 32_767, 32_767, -3_277, -3_277],
            "pairs of one complete and one incomplete interval"
        );
        assert_eq!(reader.finish(), [-32_767, 16_384, -16_384, 8_192]);
    }

    #[test]
    fn a_merged_level_equals_the_level_computed_from_the_samples() {
        let frames: Vec<f32> = (0..10_000).map(|n| libm::sinf(n as f32 * 0.37) * 0.9).collect();
        let level_of = |frames_per_pair| {
            let mut reader = PeakBuilder::new(2, frames_per_pair);
            reader.add(&frames);
            reader.finish()
        };
        let mut level = level_of(16);
        for frames_per_pair in [32, 64, 128, 8_192] {
            while level.len() > level_of(frames_per_pair).len() {
                level = halve_resolution(&level, 2);
            }
            assert_eq!(level, level_of(frames_per_pair), "level with {frames_per_pair} frames per pair");
        }
    }
}

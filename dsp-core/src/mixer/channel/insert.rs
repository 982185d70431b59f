//! Effects of a track or of the master outside the engine, through which the signal passes.

use super::DryFallback;
use crate::block::BLOCK_FRAMES;

/// The audio that an insert exchanges with the caller. Before each block, the caller stores the
/// output; after it, the caller reads the input. JavaScript relies on the layout.
#[repr(C)]
pub struct InsertBuffers {
    /// Left and right of the last block that entered the insert.
    pub input: [[f32; BLOCK_FRAMES]; 2],
    /// Left and right of the output of the effects for the next block.
    pub output: [[f32; BLOCK_FRAMES]; 2],
    /// Not 0 if [`Self::output`] has arrived. Otherwise the input passes with the same latency.
    pub has_output: u32,
    /// Latency of the input in frames, relative to the session's clock.
    pub input_latency_frames: u32,
}

/// Sends the signal after the effects of a rack to effects outside the engine, and receives their
/// output.
pub(crate) struct Insert {
    fallback: DryFallback,
    latency_frames: usize,
    pub(crate) buffers: InsertBuffers,
}

impl Insert {
    /// Creates an insert whose effects have a latency in frames, at a sample rate in hertz.
    pub(crate) fn new(sample_rate_hz: u32, latency_frames: usize) -> Self {
        let mut fallback = DryFallback::new(sample_rate_hz, latency_frames);
        // The input passes until the first output, which then crossfades in.
        fallback.restart();
        Self {
            fallback,
            latency_frames,
            buffers: InsertBuffers {
                input: [[0.0; BLOCK_FRAMES]; 2],
                output: [[0.0; BLOCK_FRAMES]; 2],
                has_output: 0,
                input_latency_frames: 0,
            },
        }
    }

    pub(crate) fn latency_frames(&self) -> usize {
        self.latency_frames
    }

    /// Changes the latency, with a crossfade. Allocates memory.
    pub(crate) fn set_latency(&mut self, latency_frames: usize) {
        self.latency_frames = latency_frames;
        self.fallback.set_latency(latency_frames);
    }

    /// Clears the audio state.
    pub(crate) fn reset(&mut self) {
        self.fallback.clear();
    }

    /// Processes a block of at most [`BLOCK_FRAMES`] frames in place.
    pub(crate) fn process(&mut self, [left, right]: [&mut [f32]; 2]) {
        let frames = left.len();
        let InsertBuffers { input, output, has_output, .. } = &mut self.buffers;
        input[0][..frames].copy_from_slice(left);
        input[1][..frames].copy_from_slice(right);
        let output = [&output[0][..frames], &output[1][..frames]];
        let is_finite = output.iter().all(|side| side.iter().all(|sample| sample.is_finite()));
        let output = (core::mem::take(has_output) != 0 && is_finite).then_some(output);
        self.fallback.process(left, right, output);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const BLOCKS: usize = 12;
    const LATENCY_FRAMES: usize = 2 * BLOCK_FRAMES;

    fn ramp(block: usize) -> [f32; BLOCK_FRAMES] {
        core::array::from_fn(|frame| (block * BLOCK_FRAMES + frame) as f32 / 1e4)
    }

    /// Sends a ramp through effects that add 1, and do not answer the blocks in `missing`.
    fn run(missing: core::ops::Range<usize>) -> Vec<f32> {
        let mut insert = Insert::new(48_000, LATENCY_FRAMES);
        insert.reset();
        let (mut sent, mut output) = (Vec::new(), Vec::new());
        for block in 0..BLOCKS {
            let late_by = LATENCY_FRAMES / BLOCK_FRAMES;
            if block >= late_by && !missing.contains(&block) {
                let answer: [f32; BLOCK_FRAMES] = sent[block - late_by];
                insert.buffers.output = [answer.map(|sample| sample + 1.0); 2];
                insert.buffers.has_output = 1;
            }
            let (mut left, mut right) = (ramp(block), ramp(block));
            insert.process([&mut left, &mut right]);
            assert_eq!(left, right);
            sent.push(insert.buffers.input[0]);
            output.extend(left);
        }
        output
    }

    #[test]
    fn the_output_is_that_of_the_effects_after_the_latency() {
        let output = run(0..0);
        let start = LATENCY_FRAMES + 2 * BLOCK_FRAMES;
        for (frame, sample) in output.iter().enumerate().skip(start) {
            assert_eq!(*sample, ramp(0)[0] + (frame - LATENCY_FRAMES) as f32 / 1e4 + 1.0, "{frame}");
        }
    }

    #[test]
    fn blocks_without_output_are_the_input_with_the_same_latency() {
        let output = run(6..9);
        let frame = 9 * BLOCK_FRAMES - 1;
        assert_eq!(output[frame], (frame - LATENCY_FRAMES) as f32 / 1e4);
        let steps = output.windows(2).skip(2 * LATENCY_FRAMES).map(|pair| (pair[0] - pair[1]).abs());
        assert!(steps.fold(0.0, f32::max) < 0.01, "no click");
        assert_eq!(output[BLOCKS * BLOCK_FRAMES - 1], ramp(BLOCKS - 3)[BLOCK_FRAMES - 1] + 1.0);
    }
}

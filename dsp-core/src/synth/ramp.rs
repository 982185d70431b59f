//! The way of a voice into the mix: gains that go straight from where they are to where they are
//! aimed.

use super::interpolation::CHUNK_FRAMES;
use super::lanes::{LANES, Lanes};
use crate::session::TRACK_OUTPUTS;
use crate::simd::on_best_instructions;

/// The gains of a voice on the outputs of its track.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ramps {
    starts: [f32; TRACK_OUTPUTS],
    steps: [f32; TRACK_OUTPUTS],
    /// Frames since the gains were aimed.
    passed: u32,
}

/// The numbers of eight frames that follow each other.
const COUNT: Lanes = Lanes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);

impl Ramps {
    pub(super) const SILENT: Self =
        Self { starts: [0.0; TRACK_OUTPUTS], steps: [0.0; TRACK_OUTPUTS], passed: 0 };

    /// Lets the gains reach their targets in `1 / per_frame` frames.
    pub(super) fn aim(&mut self, targets: [f32; TRACK_OUTPUTS], per_frame: f32) {
        for ((start, step), target) in self.starts.iter_mut().zip(&mut self.steps).zip(targets) {
            *start += *step * self.passed as f32;
            *step = (target - *start) * per_frame;
        }
        self.passed = 0;
    }

    fn is_silent(&self, output: usize) -> bool {
        self.starts[output] == 0.0 && self.steps[output] == 0.0
    }
}

/// What the voices of a track add up to, in a stretch of frames.
pub(super) type Mix = [[f32; CHUNK_FRAMES]; TRACK_OUTPUTS];

on_best_instructions! {
    /// Adds the next `frames` frames of a voice to the mix of its track.
    pub(super) fn add(ramps: &mut Ramps, chunk: &[f32; CHUNK_FRAMES], frames: usize, mix: &mut Mix) = add_inline;
}

#[inline(always)]
fn add_inline(ramps: &mut Ramps, chunk: &[f32; CHUNK_FRAMES], frames: usize, mix: &mut Mix) {
    let eights = frames.min(CHUNK_FRAMES).div_ceil(LANES);
    let values = chunk.as_chunks::<LANES>().0;
    for (output, sums) in mix.iter_mut().enumerate() {
        if ramps.is_silent(output) {
            continue;
        }
        let (start, step) = (Lanes::all(ramps.starts[output]), Lanes::all(ramps.steps[output]));
        let mut count = COUNT + Lanes::all(ramps.passed as f32);
        // What lies behind the last frame is never looked at.
        for (sum, values) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(values).take(eights) {
            *sum = (Lanes(*sum) + Lanes(*values) * (start + step * count)).0;
            count = count + Lanes::all(LANES as f32);
        }
    }
    ramps.passed += frames as u32;
}

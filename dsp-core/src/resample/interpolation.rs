//! From a signal without treble to any other rate: short sums of products in a fixed order.

use alloc::vec::Vec;
use core::ops::Range;

use super::sample::Sample;
use crate::dsp::window::WindowedSinc;

/// Values that are multiplied together, on every target.
const LANES: usize = 8;

/// Frames of which one is made.
pub(super) const TAPS: usize = 24;

/// With so many taps the transition is half the sample rate: from a quarter of it, where the signal
/// ends, to three quarters, where its image begins.
const ATTENUATION_DB: f64 = 172.0;

/// Output frames whose lanes are added up together. Apart from the inner loop, because the compiler
/// would take that to pieces to suit the sum.
const FRAMES_AT_ONCE: usize = 16;

/// The filter, a windowed sinc taken apart into phases.
#[derive(Debug, Clone)]
pub struct Interpolation<S> {
    /// `phases / step` is the ratio of output to input rate, in lowest terms.
    pub(super) phases: usize,
    pub(super) step: usize,
    /// From an output frame to the next: whole input frames, and phases beyond them.
    whole_step: usize,
    part_step: usize,
    /// Phase by phase, in the order of the input frames.
    taps: Vec<[[S; LANES]; TAPS / LANES]>,
}

impl<S: Sample> Interpolation<S> {
    pub(super) fn new(phases: usize, step: usize) -> Self {
        let sinc = WindowedSinc::new(ATTENUATION_DB, 0.5, TAPS as f64 / 2.0);
        let mut taps = Vec::with_capacity(phases);
        for phase in 0..phases {
            let mut of_phase = [[S::ZERO; LANES]; TAPS / LANES];
            for (number, tap) in of_phase.as_flattened_mut().iter_mut().enumerate() {
                let time = phase as f64 / phases as f64 - (number as f64 - (TAPS / 2 - 1) as f64);
                *tap = S::from_f64(sinc.at(time)).cleaned();
            }
            taps.push(of_phase);
        }
        Self { phases, step, whole_step: step / phases, part_step: step % phases, taps }
    }
}

/// Where the first of some output frames stands.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Index of the first input frame that it is made of.
    pub(super) index: usize,
    /// Its time between two input frames, in parts of the filter's phases.
    pub(super) phase: usize,
}

impl Place {
    /// The place of the frame that is `frames` later.
    pub(super) fn after<S>(self, frames: usize, filter: &Interpolation<S>) -> Self {
        let phase = self.phase + frames * filter.step;
        Self { index: self.index + phase / filter.phases, phase: phase % filter.phases }
    }

    /// How many frames from here on `input_frames` input frames suffice for.
    pub(super) fn ready_frames<S>(self, input_frames: usize, filter: &Interpolation<S>) -> usize {
        let Some(behind) = input_frames.checked_sub(self.index + TAPS) else { return 0 };
        // The last whose first input frame is at most `behind` further, and those before it.
        ((behind + 1) * filter.phases - 1 - self.phase) / filter.step + 1
    }
}

/// From a place on, output frame by output frame, the taps and the range of the input that they
/// weigh.
struct Windows<'a, S> {
    filter: &'a Interpolation<S>,
    place: Place,
}

impl<'a, S> Iterator for Windows<'a, S> {
    type Item = (&'a [[S; LANES]; TAPS / LANES], Range<usize>);

    // Not a closure: what is inlined is compiled for the instructions of the caller.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let Place { index, phase } = self.place;
        let filter = self.filter;
        self.place.index += filter.whole_step;
        self.place.phase += filter.part_step;
        if self.place.phase >= filter.phases {
            self.place.phase -= filter.phases;
            self.place.index += 1;
        }
        Some((&filter.taps[phase], index..index + TAPS))
    }
}

/// What each lane adds up to, in `sums`.
#[inline(always)]
fn add_up<S: Sample>(taps: &[[S; LANES]; TAPS / LANES], input: &[S], sums: &mut [S; LANES]) {
    let mut added = [S::ZERO; LANES];
    for (taps, input) in taps.iter().zip(input.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            added[lane] = added[lane] + input[lane] * taps[lane];
        }
    }
    *sums = added;
}

/// The sum of all lanes, always in this order.
#[inline(always)]
fn total<S: Sample>([a, b, c, d, e, f, g, h]: [S; LANES]) -> S {
    (((a + e) + (c + g)) + ((b + f) + (d + h))).cleaned()
}

/// Fills the output of one channel from a place on.
#[inline(always)]
pub(super) fn mono<S: Sample>(filter: &Interpolation<S>, place: Place, input: &[S], output: &mut [S]) {
    let mut windows = Windows { filter, place };
    let mut sums = [[S::ZERO; LANES]; FRAMES_AT_ONCE];
    for values in output.chunks_mut(FRAMES_AT_ONCE) {
        for (sums, (taps, window)) in sums[..values.len()].iter_mut().zip(&mut windows) {
            add_up(taps, &input[window], sums);
        }
        for (value, sums) in values.iter_mut().zip(sums) {
            *value = total(sums);
        }
    }
}

/// The same of two channels, faster than one after the other, with the same result.
#[inline(always)]
pub(super) fn stereo<S: Sample>(
    filter: &Interpolation<S>,
    place: Place,
    [left_in, right_in]: [&[S]; 2],
    [left_out, right_out]: [&mut [S]; 2],
) {
    let mut windows = Windows { filter, place };
    let mut sums = [[[S::ZERO; LANES]; 2]; FRAMES_AT_ONCE];
    let (lefts, rights) = (left_out.chunks_mut(FRAMES_AT_ONCE), right_out.chunks_mut(FRAMES_AT_ONCE));
    for (lefts, rights) in lefts.zip(rights) {
        for ([left, right], (taps, window)) in sums[..lefts.len()].iter_mut().zip(&mut windows) {
            add_up(taps, &left_in[window.clone()], left);
            add_up(taps, &right_in[window], right);
        }
        for ((left, right), sums) in lefts.iter_mut().zip(rights).zip(sums) {
            (*left, *right) = (total(sums[0]), total(sums[1]));
        }
    }
}

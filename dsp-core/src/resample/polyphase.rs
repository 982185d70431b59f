//! The polyphase filter, which converts a signal without treble to any other rate.

use alloc::vec::Vec;
use core::ops::Range;

use super::scalar::Scalar;
use crate::dsp::window::WindowedSinc;

/// Number of values that are multiplied together, on every target.
const LANES: usize = 8;

/// Number of input frames for an output frame.
pub(super) const TAPS: usize = 24;

/// Stop-band attenuation. With [`TAPS`] taps the transition is half the sample rate wide. It goes
/// from a quarter of the rate, where the signal ends, to three quarters, where its image starts.
const ATTENUATION_DB: f64 = 172.0;

/// Number of output frames whose lanes are summed together, outside the inner loop, which the
/// compiler otherwise vectorizes badly.
const SUMMED_FRAMES: usize = 16;

/// A windowed sinc, divided into phases.
#[derive(Debug, Clone)]
pub struct PolyphaseFilter<S> {
    /// `phases / step` is the ratio of output to input rate, in lowest terms.
    pub(super) phases: usize,
    pub(super) step: usize,
    /// Whole input frames from an output frame to the next.
    whole_step: usize,
    /// Phases that come on top of [`Self::whole_step`].
    phase_step: usize,
    /// The taps of each phase, in the order of the input frames.
    taps: Vec<[[S; LANES]; TAPS / LANES]>,
}

impl<S: Scalar> PolyphaseFilter<S> {
    pub(super) fn new(phases: usize, step: usize) -> Self {
        let sinc = WindowedSinc::new(ATTENUATION_DB, 0.5, TAPS as f64 / 2.0);
        let mut taps = Vec::with_capacity(phases);
        for phase in 0..phases {
            let mut phase_taps = [[S::ZERO; LANES]; TAPS / LANES];
            for (index, tap) in phase_taps.as_flattened_mut().iter_mut().enumerate() {
                let time = phase as f64 / phases as f64 - (index as f64 - (TAPS / 2 - 1) as f64);
                *tap = S::from_f64(sinc.at(time)).cleaned();
            }
            taps.push(phase_taps);
        }
        Self { phases, step, whole_step: step / phases, phase_step: step % phases, taps }
    }
}

/// Position of an output frame in the input.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// Index of the first input frame on which it depends.
    pub(super) index: usize,
    /// Phase of the filter: its time between two input frames.
    pub(super) phase: usize,
}

impl Position {
    /// The position `frames` output frames later.
    pub(super) fn after<S>(self, frames: usize, filter: &PolyphaseFilter<S>) -> Self {
        let phase = self.phase + frames * filter.step;
        Self { index: self.index + phase / filter.phases, phase: phase % filter.phases }
    }

    /// Number of output frames that can be computed from `input_frames` input frames.
    pub(super) fn ready_frames<S>(self, input_frames: usize, filter: &PolyphaseFilter<S>) -> usize {
        let Some(spare) = input_frames.checked_sub(self.index + TAPS) else { return 0 };
        // All output frames whose first input frame is at most `spare` frames later.
        ((spare + 1) * filter.phases - 1 - self.phase) / filter.step + 1
    }
}

/// Iterates over output frames: the taps and the range of input frames of each.
struct Windows<'a, S> {
    filter: &'a PolyphaseFilter<S>,
    position: Position,
}

impl<'a, S> Iterator for Windows<'a, S> {
    type Item = (&'a [[S; LANES]; TAPS / LANES], Range<usize>);

    // Not a closure, because an inlined function is compiled for the instructions of the caller.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let Position { index, phase } = self.position;
        let filter = self.filter;
        self.position.index += filter.whole_step;
        self.position.phase += filter.phase_step;
        if self.position.phase >= filter.phases {
            self.position.phase -= filter.phases;
            self.position.index += 1;
        }
        Some((&filter.taps[phase], index..index + TAPS))
    }
}

/// Multiplies and adds the values of each lane into `sums`.
#[inline(always)]
fn multiply_add<S: Scalar>(taps: &[[S; LANES]; TAPS / LANES], input: &[S], sums: &mut [S; LANES]) {
    let mut added = [S::ZERO; LANES];
    for (taps, input) in taps.iter().zip(input.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            added[lane] = added[lane] + input[lane] * taps[lane];
        }
    }
    *sums = added;
}

/// The sum of all lanes, always added in this order.
#[inline(always)]
fn lane_sum<S: Scalar>([a, b, c, d, e, f, g, h]: [S; LANES]) -> S {
    (((a + e) + (c + g)) + ((b + f) + (d + h))).cleaned()
}

/// Computes the output of one channel from a position on.
#[inline(always)]
pub(super) fn mono<S: Scalar>(
    filter: &PolyphaseFilter<S>,
    position: Position,
    input: &[S],
    output: &mut [S],
) {
    let mut windows = Windows { filter, position };
    let mut sums = [[S::ZERO; LANES]; SUMMED_FRAMES];
    for values in output.chunks_mut(SUMMED_FRAMES) {
        for (sums, (taps, window)) in sums[..values.len()].iter_mut().zip(&mut windows) {
            multiply_add(taps, &input[window], sums);
        }
        for (value, sums) in values.iter_mut().zip(sums) {
            *value = lane_sum(sums);
        }
    }
}

/// [`mono`] for two channels, which is faster than two calls and has the same result.
#[inline(always)]
pub(super) fn stereo<S: Scalar>(
    filter: &PolyphaseFilter<S>,
    position: Position,
    [left_in, right_in]: [&[S]; 2],
    [left_out, right_out]: [&mut [S]; 2],
) {
    let mut windows = Windows { filter, position };
    let mut sums = [[[S::ZERO; LANES]; 2]; SUMMED_FRAMES];
    let (lefts, rights) = (left_out.chunks_mut(SUMMED_FRAMES), right_out.chunks_mut(SUMMED_FRAMES));
    for (lefts, rights) in lefts.zip(rights) {
        for ([left, right], (taps, window)) in sums[..lefts.len()].iter_mut().zip(&mut windows) {
            multiply_add(taps, &left_in[window.clone()], left);
            multiply_add(taps, &right_in[window], right);
        }
        for ((left, right), sums) in lefts.iter_mut().zip(rights).zip(sums) {
            (*left, *right) = (lane_sum(sums[0]), lane_sum(sums[1]));
        }
    }
}

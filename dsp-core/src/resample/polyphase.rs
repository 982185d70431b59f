//! The polyphase filter. It converts a signal without frequencies above a quarter of its sample
//! rate to any other rate.

use alloc::vec::Vec;
use core::ops::Range;

use super::scalar::Scalar;
use crate::dsp::window::WindowedSinc;

/// Number of products that are computed together. It is the same on every target, because it
/// decides the order of the sums.
const LANES: usize = 8;

/// Number of input frames on which an output frame depends.
pub(super) const TAPS: usize = 24;

/// Stop-band attenuation in decibels. With [`TAPS`] taps, the transition band is half the sample
/// rate wide. It starts at a quarter of the rate, where the signal ends. It ends at three quarters
/// of the rate, where the image of the signal starts.
const ATTENUATION_DB: f64 = 172.0;

/// Number of output frames whose lanes are summed in one loop. The loop is separate from the
/// multiplications, which the compiler otherwise vectorizes badly.
const SUMMED_FRAMES: usize = 16;

/// A windowed sinc filter, divided into phases.
#[derive(Debug, Clone)]
pub struct PolyphaseFilter<S> {
    /// Number of phases. `phases / step` is the ratio of output to input rate in lowest terms.
    pub(super) phases: usize,
    /// Number of phases from an output frame to the next.
    pub(super) step: usize,
    /// Number of whole input frames in [`Self::step`].
    whole_step: usize,
    /// Number of phases that remain of [`Self::step`] after the whole input frames.
    phase_step: usize,
    /// Taps of each phase, in the order of the input frames.
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
                *tap = S::from_f64(sinc.value_at(time)).sanitize();
            }
            taps.push(phase_taps);
        }
        Self { phases, step, whole_step: step / phases, phase_step: step % phases, taps }
    }
}

/// Position of an output frame relative to the input frames.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// Index of the first input frame on which the output frame depends.
    pub(super) index: usize,
    /// Phase of the filter: the time of the output frame between two input frames.
    pub(super) phase: usize,
}

impl Position {
    /// Returns the position `frames` output frames later.
    pub(super) fn after<S>(self, frames: usize, filter: &PolyphaseFilter<S>) -> Self {
        let phase = self.phase + frames * filter.step;
        Self { index: self.index + phase / filter.phases, phase: phase % filter.phases }
    }

    /// Returns the number of output frames that can be computed from `input_frames` input frames.
    pub(super) fn ready_frames<S>(self, input_frames: usize, filter: &PolyphaseFilter<S>) -> usize {
        let Some(spare) = input_frames.checked_sub(self.index + TAPS) else { return 0 };
        // Counts the output frames whose first input frame is at most `spare` frames later.
        ((spare + 1) * filter.phases - 1 - self.phase) / filter.step + 1
    }
}

/// Iterates over output frames. Returns the taps and the range of input frames of each output
/// frame.
struct Windows<'a, S> {
    filter: &'a PolyphaseFilter<S>,
    position: Position,
}

impl<'a, S> Iterator for Windows<'a, S> {
    type Item = (&'a [[S; LANES]; TAPS / LANES], Range<usize>);

    // This is not a closure: only an inlined function is compiled with the CPU features of its
    // caller.
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

/// Multiplies the input by the taps and stores the sum of the products of each lane in `sums`.
#[inline(always)]
fn multiply_add<S: Scalar>(taps: &[[S; LANES]; TAPS / LANES], input: &[S], sums: &mut [S; LANES]) {
    let mut lane_sums = [S::ZERO; LANES];
    for (taps, input) in taps.iter().zip(input.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            lane_sums[lane] = lane_sums[lane] + input[lane] * taps[lane];
        }
    }
    *sums = lane_sums;
}

/// Sums all lanes in a fixed order.
#[inline(always)]
fn lane_sum<S: Scalar>([a, b, c, d, e, f, g, h]: [S; LANES]) -> S {
    (((a + e) + (c + g)) + ((b + f) + (d + h))).sanitize()
}

/// Computes the output of one channel, starting at a position.
#[inline(always)]
pub(super) fn filter_mono<S: Scalar>(
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

/// Like [`filter_mono`], but for two channels. One call is faster than two calls of
/// [`filter_mono`].
#[inline(always)]
pub(super) fn filter_stereo<S: Scalar>(
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

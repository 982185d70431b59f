//! The inner loop: sums of products in a fixed order.

use core::ops::Range;

use super::filter::ResamplerFilter;
use crate::simd::on_best_instructions;

/// Values that are multiplied together, on every target.
const LANES: usize = 8;

/// Taps of one turn of the loop: two sums for each lane, so that one need not wait for the other.
pub(super) const TAPS_AT_ONCE: usize = 2 * LANES;

/// Output frames whose lanes are added up together. Apart from the inner loop, because the compiler would
/// take that to pieces to suit the sum.
const FRAMES_AT_ONCE: usize = 16;

/// A type of samples that can be resampled: `f32` or `f64`.
pub trait Sample: Copy + Sized + 'static + sealed::Kernel {
    /// Silence.
    const ZERO: Self;
    /// Attenuation of the stop band in decibels.
    const ATTENUATION_DB: f64;
    /// Taps of the filter at the lower of two rates.
    const TAPS: usize;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
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
    pub(super) fn after<S>(self, frames: usize, filter: &ResamplerFilter<S>) -> Self {
        let phase = self.phase + frames * filter.step;
        Self { index: self.index + phase / filter.phases, phase: phase % filter.phases }
    }
}

pub(super) mod sealed {
    use super::{Place, ResamplerFilter};

    /// What only this module implements.
    pub trait Kernel: Sized {
        /// The value, or silence if it is not finite or too small to matter.
        fn cleaned(self) -> Self;

        /// Fills the outputs of one channel from a place on.
        fn mono(filter: &ResamplerFilter<Self>, place: Place, input: &[Self], output: &mut [Self]);

        /// The same of two channels, faster than one after the other, with the same result.
        fn stereo(
            filter: &ResamplerFilter<Self>,
            place: Place,
            inputs: [&[Self]; 2],
            outputs: [&mut [Self]; 2],
        );
    }
}

macro_rules! sample_type {
    ($type:ty, $mono:ident, $stereo:ident, $module:ident, $attenuation_db:expr, $taps:expr) => {
        mod $module {
            use super::sealed::Kernel as _;
            use super::{FRAMES_AT_ONCE, LANES, Place, ResamplerFilter, Windows};

            type Lanes = [$type; LANES];

            #[inline(always)]
            fn turns(values: &[$type]) -> &[[Lanes; 2]] {
                values.as_chunks::<LANES>().0.as_chunks().0
            }

            #[inline(always)]
            fn add(sums: &mut [Lanes; 2], values: &[Lanes; 2], taps: &[Lanes; 2]) {
                for half in 0..2 {
                    for lane in 0..LANES {
                        sums[half][lane] += values[half][lane] * taps[half][lane];
                    }
                }
            }

            /// What each lane adds up to, in `sums`.
            #[inline(always)]
            fn one(taps: &[$type], input: &[$type], sums: &mut Lanes) {
                let mut halves = [[0.0; LANES]; 2];
                for (taps, input) in turns(taps).iter().zip(turns(input)) {
                    add(&mut halves, input, taps);
                }
                join(halves, sums);
            }

            /// The same of two channels.
            #[inline(always)]
            fn two(taps: &[$type], left: &[$type], right: &[$type], sums: &mut [Lanes; 2]) {
                let mut halves = [[[0.0; LANES]; 2]; 2];
                for ((taps, left), right) in turns(taps).iter().zip(turns(left)).zip(turns(right)) {
                    add(&mut halves[0], left, taps);
                    add(&mut halves[1], right, taps);
                }
                join(halves[0], &mut sums[0]);
                join(halves[1], &mut sums[1]);
            }

            #[inline(always)]
            fn join(halves: [Lanes; 2], sums: &mut Lanes) {
                for lane in 0..LANES {
                    sums[lane] = halves[0][lane] + halves[1][lane];
                }
            }

            /// The sum of all lanes, always in this order.
            #[inline(always)]
            fn total([a, b, c, d, e, f, g, h]: Lanes) -> $type {
                (((a + e) + (c + g)) + ((b + f) + (d + h))).cleaned()
            }

            #[inline(always)]
            pub(super) fn mono(filter: &ResamplerFilter<$type>, place: Place, input: &[$type], output: &mut [$type]) {
                let mut windows = Windows { filter, place };
                let mut sums = [[0.0; LANES]; FRAMES_AT_ONCE];
                for values in output.chunks_mut(FRAMES_AT_ONCE) {
                    for (sums, (taps, window)) in sums[..values.len()].iter_mut().zip(&mut windows) {
                        one(taps, &input[window], sums);
                    }
                    for (value, sums) in values.iter_mut().zip(sums) {
                        *value = total(sums);
                    }
                }
            }

            #[inline(always)]
            pub(super) fn stereo(
                filter: &ResamplerFilter<$type>,
                place: Place,
                [left_in, right_in]: [&[$type]; 2],
                [left_out, right_out]: [&mut [$type]; 2],
            ) {
                let mut windows = Windows { filter, place };
                let mut sums = [[[0.0; LANES]; 2]; FRAMES_AT_ONCE];
                let (lefts, rights) = (left_out.chunks_mut(FRAMES_AT_ONCE), right_out.chunks_mut(FRAMES_AT_ONCE));
                for (lefts, rights) in lefts.zip(rights) {
                    for (sums, (taps, window)) in sums[..lefts.len()].iter_mut().zip(&mut windows) {
                        two(taps, &left_in[window.clone()], &right_in[window], sums);
                    }
                    for ((left, right), sums) in lefts.iter_mut().zip(rights).zip(sums) {
                        (*left, *right) = (total(sums[0]), total(sums[1]));
                    }
                }
            }
        }

        on_best_instructions! {
            fn $mono(filter: &ResamplerFilter<$type>, place: Place, input: &[$type], output: &mut [$type]) = $module::mono;
        }

        on_best_instructions! {
            fn $stereo(filter: &ResamplerFilter<$type>, place: Place, inputs: [&[$type]; 2], outputs: [&mut [$type]; 2]) = $module::stereo;
        }

        impl Sample for $type {
            const ZERO: Self = 0.0;
            const ATTENUATION_DB: f64 = $attenuation_db;
            const TAPS: usize = $taps;

            fn from_f64(value: f64) -> Self {
                value as Self
            }
        }

        impl sealed::Kernel for $type {
            #[inline(always)]
            fn cleaned(self) -> Self {
                // Below -500 dB; products with coefficients stay above denormal numbers.
                let audible = self.is_finite() && self.abs() > 1e-25;
                if audible { self } else { 0.0 }
            }

            fn mono(filter: &ResamplerFilter<Self>, place: Place, input: &[Self], output: &mut [Self]) {
                $mono(filter, place, input, output);
            }

            fn stereo(filter: &ResamplerFilter<Self>, place: Place, inputs: [&[Self]; 2], outputs: [&mut [Self]; 2]) {
                $stereo(filter, place, inputs, outputs);
            }
        }
    };
}

sample_type!(f32, mono_f32, stereo_f32, for_f32, 144.0, 224);
sample_type!(f64, mono_f64, stereo_f64, for_f64, 160.0, 256);

/// From a place on, output frame by output frame, the taps and the range of the input that they weigh.
struct Windows<'a, S> {
    filter: &'a ResamplerFilter<S>,
    place: Place,
}

impl<'a, S> Iterator for Windows<'a, S> {
    type Item = (&'a [S], Range<usize>);

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
        Some((&filter.coefficients[phase * filter.taps..][..filter.taps], index..index + filter.taps))
    }
}

//! The types of samples.

use wide::f32x4;

use super::fourier::{self, Lanes, Pair, Plan, Spectrum, Vector};
use super::interpolation::{self, Interpolation, Place};
use crate::simd::{on_best_instructions, transpose};

/// A type of samples that can be resampled: `f32` or `f64`.
pub trait Sample: Vector + 'static + sealed::Loops {
    /// Silence.
    const ZERO: Self;
    /// Attenuation of the stop band in decibels.
    const ATTENUATION_DB: f64;
    /// Taps of the filter at the lower of two rates.
    const TAPS: usize;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
}

/// Louder than anything, but not so loud that sums overflow.
const LOUDEST: f32 = 1e30;

/// Below -500 dB; products with coefficients stay above denormal numbers.
const INAUDIBLE: f32 = 1e-25;

pub(super) mod sealed {
    use super::{Interpolation, Pair, Place, Plan, Sample, Spectrum, Vector};

    /// What only this module implements: the inner loops, compiled for each type.
    pub trait Loops: Sized {
        /// Four values as registers hold them.
        type Four: Vector + core::fmt::Debug;

        /// Four values together.
        fn four(values: [Self; 4]) -> Self::Four;

        /// The values by themselves.
        fn values(four: Self::Four) -> [Self; 4];

        /// The value within bounds; silence if it is not a number, or too small to matter.
        fn cleaned(self) -> Self;

        /// The columns of four rows.
        fn transposed(rows: [Self::Four; 4]) -> [Self::Four; 4];

        /// See [`convolve`](super::fourier::convolve).
        fn convolve(
            plan: &Plan<Self>,
            signals: &mut Pair<Self>,
            filters: &[Spectrum<Self>],
            results: &mut [Pair<Self>],
        ) where
            Self: Sample;

        /// See [`mono`](super::interpolation::mono).
        fn mono(filter: &Interpolation<Self>, place: Place, input: &[Self], output: &mut [Self]);

        /// See [`stereo`](super::interpolation::stereo).
        fn stereo(
            filter: &Interpolation<Self>,
            place: Place,
            inputs: [&[Self]; 2],
            outputs: [&mut [Self]; 2],
        );
    }
}

macro_rules! sample_type {
    ($type:ty, $attenuation_db:expr, $taps:expr,
     $four:ty, $from_array:path, $to_array:path, $transposed:path,
     $convolve:ident, $mono:ident, $stereo:ident) => {
        on_best_instructions! {
            fn $convolve(
                plan: &Plan<$type>,
                signals: &mut Pair<$type>,
                filters: &[Spectrum<$type>],
                results: &mut [Pair<$type>],
            ) = fourier::convolve::<$type>;
        }

        on_best_instructions! {
            fn $mono(
                filter: &Interpolation<$type>,
                place: Place,
                input: &[$type],
                output: &mut [$type],
            ) = interpolation::mono::<$type>;
        }

        on_best_instructions! {
            fn $stereo(
                filter: &Interpolation<$type>,
                place: Place,
                inputs: [&[$type]; 2],
                outputs: [&mut [$type]; 2],
            ) = interpolation::stereo::<$type>;
        }

        impl Sample for $type {
            const ZERO: Self = 0.0;
            const ATTENUATION_DB: f64 = $attenuation_db;
            const TAPS: usize = $taps;

            fn from_f64(value: f64) -> Self {
                value as Self
            }
        }

        impl sealed::Loops for $type {
            #[inline(always)]
            fn cleaned(self) -> Self {
                let limit = Self::from(LOUDEST);
                let size = self.abs();
                let audible = size > Self::from(INAUDIBLE) && size < Self::INFINITY;
                if audible { self.clamp(-limit, limit) } else { 0.0 }
            }

            type Four = $four;

            #[inline(always)]
            fn four(values: [Self; 4]) -> Self::Four {
                $from_array(values)
            }

            #[inline(always)]
            fn values(four: Self::Four) -> [Self; 4] {
                $to_array(four)
            }

            #[inline(always)]
            fn transposed(rows: [Self::Four; 4]) -> [Self::Four; 4] {
                $transposed(rows)
            }

            fn convolve(
                plan: &Plan<Self>,
                signals: &mut Pair<Self>,
                filters: &[Spectrum<Self>],
                results: &mut [Pair<Self>],
            ) {
                $convolve(plan, signals, filters, results);
            }

            fn mono(filter: &Interpolation<Self>, place: Place, input: &[Self], output: &mut [Self]) {
                $mono(filter, place, input, output);
            }

            fn stereo(
                filter: &Interpolation<Self>,
                place: Place,
                inputs: [&[Self]; 2],
                outputs: [&mut [Self]; 2],
            ) {
                $stereo(filter, place, inputs, outputs);
            }
        }
    };
}

sample_type!(
    f32,
    144.0,
    224,
    f32x4,
    f32x4::new,
    f32x4::to_array,
    transpose,
    convolve_f32,
    mono_f32,
    stereo_f32
);
sample_type!(
    f64, 160.0, 256,
    Lanes<f64, 4>, Lanes, values, columns,
    convolve_f64, mono_f64, stereo_f64
);

#[inline(always)]
fn values(four: Lanes<f64, 4>) -> [f64; 4] {
    four.0
}

#[inline(always)]
fn columns([a, b, c, d]: [Lanes<f64, 4>; 4]) -> [Lanes<f64, 4>; 4] {
    let (a, b, c, d) = (a.0, b.0, c.0, d.0);
    [
        Lanes([a[0], b[0], c[0], d[0]]),
        Lanes([a[1], b[1], c[1], d[1]]),
        Lanes([a[2], b[2], c[2], d[2]]),
        Lanes([a[3], b[3], c[3], d[3]]),
    ]
}

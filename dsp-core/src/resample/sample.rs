//! Sample types and their inner loops.

use wide::f32x4;

use super::fourier::{self, Pair, Plan, Spectrum, Vector};
use super::polyphase::{self, PolyphaseFilter, Position};
use crate::dsp::lanes::ArrayLanes;
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

/// Maximum magnitude, below which sums do not overflow.
const LOUDEST: f32 = 1e30;

/// Magnitudes below -500 dBFS become 0, so that products are never denormal.
const INAUDIBLE: f32 = 1e-25;

pub(super) mod sealed {
    use super::{Pair, Plan, PolyphaseFilter, Position, Sample, Spectrum, Vector};

    /// The inner loops, compiled for each type. Only this module implements it.
    pub trait Loops: Sized {
        /// Four values in registers.
        type Four: Vector + core::fmt::Debug;

        /// Loads four values.
        fn four(values: [Self; 4]) -> Self::Four;

        /// Stores four values.
        fn values(four: Self::Four) -> [Self; 4];

        /// The clamped value; 0 if it is not finite or inaudible.
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

        /// See [`mono`](super::polyphase::mono).
        fn mono(filter: &PolyphaseFilter<Self>, position: Position, input: &[Self], output: &mut [Self]);

        /// See [`stereo`](super::polyphase::stereo).
        fn stereo(
            filter: &PolyphaseFilter<Self>,
            position: Position,
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
                filter: &PolyphaseFilter<$type>,
                position: Position,
                input: &[$type],
                output: &mut [$type],
            ) = polyphase::mono::<$type>;
        }

        on_best_instructions! {
            fn $stereo(
                filter: &PolyphaseFilter<$type>,
                position: Position,
                inputs: [&[$type]; 2],
                outputs: [&mut [$type]; 2],
            ) = polyphase::stereo::<$type>;
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

            fn mono(filter: &PolyphaseFilter<Self>, position: Position, input: &[Self], output: &mut [Self]) {
                $mono(filter, position, input, output);
            }

            fn stereo(
                filter: &PolyphaseFilter<Self>,
                position: Position,
                inputs: [&[Self]; 2],
                outputs: [&mut [Self]; 2],
            ) {
                $stereo(filter, position, inputs, outputs);
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
    ArrayLanes<f64, 4>, ArrayLanes, values, columns,
    convolve_f64, mono_f64, stereo_f64
);

#[inline(always)]
fn values(four: ArrayLanes<f64, 4>) -> [f64; 4] {
    four.0
}

#[inline(always)]
fn columns([a, b, c, d]: [ArrayLanes<f64, 4>; 4]) -> [ArrayLanes<f64, 4>; 4] {
    let (a, b, c, d) = (a.0, b.0, c.0, d.0);
    [
        ArrayLanes([a[0], b[0], c[0], d[0]]),
        ArrayLanes([a[1], b[1], c[1], d[1]]),
        ArrayLanes([a[2], b[2], c[2], d[2]]),
        ArrayLanes([a[3], b[3], c[3], d[3]]),
    ]
}

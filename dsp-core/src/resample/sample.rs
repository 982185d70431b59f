//! The sample types and the inner loops for each of them.

use super::fourier::{self, Pair, Plan, Spectrum};
use super::polyphase::{self, PolyphaseFilter, Position};
use super::scalar::Scalar;
use crate::simd::on_best_instructions;

/// The type of the samples of a signal: `f32` or `f64`.
pub trait Sample: Scalar + Loops {
    /// Attenuation of the first filter's stop band in decibels.
    const ATTENUATION_DB: f64;
    /// Number of taps of the first filter, counted in frames of the lower sample rate.
    const TAPS: usize;
}

/// The inner loops, compiled for each sample type.
pub trait Loops: Scalar {
    /// See [`fourier::convolve`].
    fn convolve(
        plan: &Plan<Self>,
        signals: &mut Pair<Self>,
        filters: &[Spectrum<Self>],
        results: &mut [Pair<Self>],
    );

    /// See [`polyphase::filter_mono`].
    fn mono(filter: &PolyphaseFilter<Self>, position: Position, input: &[Self], output: &mut [Self]);

    /// See [`polyphase::filter_stereo`].
    fn stereo(
        filter: &PolyphaseFilter<Self>,
        position: Position,
        inputs: [&[Self]; 2],
        outputs: [&mut [Self]; 2],
    );
}

macro_rules! sample_type {
    ($type:ty, $attenuation_db:expr, $taps:expr, $convolve:ident, $mono:ident, $stereo:ident) => {
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
            ) = polyphase::filter_mono::<$type>;
        }

        on_best_instructions! {
            fn $stereo(
                filter: &PolyphaseFilter<$type>,
                position: Position,
                inputs: [&[$type]; 2],
                outputs: [&mut [$type]; 2],
            ) = polyphase::filter_stereo::<$type>;
        }

        impl Sample for $type {
            const ATTENUATION_DB: f64 = $attenuation_db;
            const TAPS: usize = $taps;
        }

        impl Loops for $type {
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

sample_type!(f32, 144.0, 224, convolve_f32, mono_f32, stereo_f32);
sample_type!(f64, 160.0, 256, convolve_f64, mono_f64, stereo_f64);

//! Coefficients, states and one step of a section, in direct form II and in trapezoidal form.

use super::shape::Shape;
use crate::dsp::stereo_frames::Frame;

/// Coefficients of [`step`]. The denominator of the transfer function is `1 + feedback_1 z^-1 +
/// feedback_2 z^-2`, and `feedforward` contains the coefficients of the numerator. `to_half` and
/// `to_low` convert states of [`step`] to states of [`step_moving`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors {
    pub(super) feedback_1: f64,
    pub(super) feedback_2: f64,
    pub(super) feedforward: [f64; 3],
    to_half: f64,
    to_low: f64,
}

impl Factors {
    /// Computes the coefficients by the bilinear transform `s = (1 - z^-1) / (g (1 + z^-1))`.
    #[inline]
    pub(super) fn new(shape: &Shape) -> Self {
        let (g, damped) = (shape.g, shape.g * shape.damping);
        let a1 = 1.0 / (1.0 + g * g + damped);
        let (last, second_last) = (2.0 * (g * g - 1.0) * a1, (1.0 + g * g - damped) * a1);
        let (band, low) = (shape.band * g * a1, shape.low * g * g * a1);
        let input = shape.input;
        Self {
            feedback_1: last,
            feedback_2: second_last,
            feedforward: [input + (low + band), input * last + 2.0 * low, input * second_last + (low - band)],
            to_half: g * a1,
            to_low: 2.0 * g * g * a1,
        }
    }

    /// Converts a state of [`step`] to a state of [`step_moving`].
    pub(super) fn moving_state(&self, [last, second_last]: State) -> State {
        [(last - second_last) * self.to_half, (last + second_last) * self.to_low]
    }

    /// Converts a state of [`step_moving`] to a state of [`step`].
    pub(super) fn steady_state(&self, [half, low]: State) -> State {
        let (sum, difference) = (low * (0.5 / self.to_low), half * (0.5 / self.to_half));
        [sum + difference, sum - difference]
    }
}

/// The state of a section. For [`step`], these are the last two values of the recursive part. For
/// [`step_moving`], these are half of the first integrator's state, and the second integrator's
/// state.
pub(super) type State = [Frame; 2];

/// Processes a frame with a steady section, in direct form II. A frame depends on the previous
/// frame only through a product and a difference.
///
/// The state is up to `1 / (4 g^2)` times as large as the input, and its rounding error grows in
/// proportion. Noise of full scale through 20 Hz at 192 kHz has an error below -200 dBFS at a Q of
/// 0.7. At a Q of 40 the error is below -170 dBFS.
#[inline(always)]
pub(super) fn step(factors: &Factors, [last, second_last]: &mut State, frame: Frame) -> Frame {
    let recursive = (frame - *second_last * factors.feedback_2) - *last * factors.feedback_1;
    let [above, above_last, above_before] = factors.feedforward;
    let output = recursive * above + (*last * above_last + *second_last * above_before);
    (*last, *second_last) = (recursive, *last);
    output
}

/// Processes a frame with a moving section, in trapezoidal form. Unlike the state of [`step`], the
/// state does not depend on the coefficients, so they may change in every frame.
#[inline(always)]
pub(super) fn step_moving(shape: &Shape, [half, low]: &mut State, frame: Frame) -> Frame {
    let a1 = 1.0 / (1.0 + shape.g * (shape.g + shape.damping));
    let band = *half * (a1 + a1) + (frame - *low) * (shape.g * a1);
    let output = frame * shape.input + band * (shape.band + shape.low * shape.g) + *low * shape.low;
    *half = band - *half;
    *low += band * (shape.g + shape.g);
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsp::filter_section::shape::warp;

    /// Returns noise of full scale, in single precision.
    fn noise(frames: usize) -> impl Iterator<Item = Frame> {
        let mut state = 1_u64;
        (0..frames).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Frame::splat(f64::from((state >> 40) as f32 / 8_388_608.0 - 1.0))
        })
    }

    #[test]
    fn rounding_errors_of_the_direct_form_are_within_the_documented_limits() {
        for (sample_rate_hz, frequency_hz, q, max_error_db) in [
            (48_000.0, 20.0, 0.1, -200.0),
            (48_000.0, 1_000.0, 1.0, -200.0),
            (192_000.0, 20.0, 0.7, -200.0),
            (192_000.0, 20.0, 40.0, -170.0),
        ] {
            let g = warp(frequency_hz, sample_rate_hz);
            for shape in [Shape::high_pass(g, 1.0 / q), Shape::low_pass(g, 1.0 / q), Shape::bell(g, q, 2.0)] {
                let factors = Factors::new(&shape);
                let (mut direct, mut trapezoidal) = ([Frame::ZERO; 2], [Frame::ZERO; 2]);
                let mut error = 0.0_f64;
                for value in noise(400_000) {
                    let from_direct = step(&factors, &mut direct, value);
                    let from_trapezoidal = step_moving(&shape, &mut trapezoidal, value);
                    error = error.max((from_direct - from_trapezoidal).abs().to_array()[0]);
                }
                let error_db = 20.0 * libm::log10(error);
                println!("{frequency_hz} Hz at {sample_rate_hz} Hz, Q {q}: {error_db:.1} dBFS error");
                assert!(
                    error_db < max_error_db,
                    "{frequency_hz} Hz at {sample_rate_hz} Hz, Q {q}: {error_db:.1} dBFS"
                );
            }
        }
    }

    #[test]
    fn states_convert_between_both_forms() {
        let shape = Shape::bell(warp(300.0, 48_000.0), 2.0, 1.7);
        let factors = Factors::new(&shape);
        let (mut direct, mut trapezoidal) = ([Frame::ZERO; 2], [Frame::ZERO; 2]);
        for value in noise(5_000) {
            step(&factors, &mut direct, value);
            step_moving(&shape, &mut trapezoidal, value);
        }
        let conversions =
            [(factors.moving_state(direct), trapezoidal), (factors.steady_state(trapezoidal), direct)];
        for (converted, expected) in
            conversions.iter().flat_map(|(converted, expected)| converted.iter().zip(expected))
        {
            let (converted, expected) = (converted.to_array()[0], expected.to_array()[0]);
            assert!(
                (converted - expected).abs() < 1e-9 * expected.abs().max(1e-3),
                "the state is {converted} instead of {expected}"
            );
        }
    }
}

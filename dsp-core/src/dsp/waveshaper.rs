//! Waveshaping with little aliasing.
//!
//! The signal is assumed to be linear between two frames. The shaped signal is convolved with a
//! triangle two frames wide, which is antiderivative antialiasing of second order (J. D. Parker, V.
//! Zavalishin, E. Le Bivic, "Reducing the Aliasing of Nonlinear Waveshaping Using Continuous-Time
//! Convolution", DAFx 2016).
//!
//! The integrals are computed piecewise, which avoids cancellation where the signal hardly changes.
//! The integral over the flat ends of a curve has a closed form. The middle is a polynomial of
//! degree 5, whose integral follows from its five derivatives at the midpoint.

use super::control::CONTROL_FRAMES;
use super::lanes::Lanes;
use super::oversampling::FACTOR;

/// Number of samples of both channels, at the oversampled rate, from one control point to the next.
const VALUE_COUNT: usize = 2 * FACTOR * CONTROL_FRAMES;

/// Latency in frames of the oversampled rate. One frame is half the width of the triangle. The
/// second frame makes the latency, together with that of the oversampling, a whole number of frames
/// of the session.
pub(crate) const LATENCY_FRAMES: usize = 2;

/// A waveshaping curve: `p(u) = (1 - cubic - quintic) u + cubic u^3 + quintic u^5` minus its value
/// at `x = 0`. `u = (x + bias) / reach` is limited to -1 and 1. A proportion of `fold` is replaced
/// by `sin(x + bias)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Curve {
    pub(crate) reach: f32,
    pub(crate) cubic: f32,
    pub(crate) quintic: f32,
    pub(crate) bias: f32,
    /// Proportion of `sin(x + bias)` in the output, 0 to 1.
    pub(crate) fold: f32,
}

impl Curve {
    #[inline(always)]
    fn middle(&self, u: f32) -> f32 {
        let square = u * u;
        u * ((1.0 - self.cubic - self.quintic) + square * (self.cubic + square * self.quintic))
    }

    /// Returns the output for silence before this output is subtracted.
    #[inline(always)]
    fn silent_output(&self) -> f32 {
        let shaped = self.middle(limit(self.bias / self.reach, -1.0, 1.0));
        shaped + (sine(self.bias) - shaped) * self.fold
    }
}

/// Limits a value by plain comparisons, which give bit-identical results on all targets.
#[inline(always)]
fn limit(value: f32, low: f32, high: f32) -> f32 {
    let value = if value < high { value } else { high };
    if value > low { value } else { low }
}

/// Returns the sine, accurate to 2e-7 within a few periods. It is a Taylor series of degree 11 over
/// a quarter of a period.
#[inline(always)]
fn sine(x: f32) -> f32 {
    // Adding and subtracting 1.5 * 2^23 rounds to an integer.
    const ROUNDING_OFFSET: f32 = 12_582_912.0;
    const PI_HIGH: f32 = 3.140_625;
    const PI_LOW: f32 = 9.676_536e-4;
    let half_periods = (x * core::f32::consts::FRAC_1_PI + ROUNDING_OFFSET) - ROUNDING_OFFSET;
    let remainder = (x - half_periods * PI_HIGH) - half_periods * PI_LOW;
    let half = half_periods * 0.5;
    let odd = (half - ((half + ROUNDING_OFFSET) - ROUNDING_OFFSET)) * 2.0;
    let square = remainder * remainder;
    let series = remainder
        * (1.0
            + square
                * (-1.0 / 6.0
                    + square
                        * (1.0 / 120.0
                            + square
                                * (-1.0 / 5_040.0
                                    + square * (1.0 / 362_880.0 - square * (1.0 / 39_916_800.0))))));
    series * (1.0 - 2.0 * odd * odd)
}

/// Coefficients of the polynomial in the curve's middle.
#[derive(Clone, Copy)]
struct Terms {
    linear: f32,
    cubic: f32,
    quintic: f32,
}

impl Terms {
    fn new(curve: &Curve) -> Self {
        let Curve { cubic, quintic, .. } = *curve;
        Self { linear: 1.0 - cubic - quintic, cubic, quintic }
    }

    /// Returns the integrals of `p` and of `t p` over `t` from 0 to 1, while `u` goes from `start`
    /// to `end`. Both are within the middle of the curve, from -1 to 1.
    ///
    /// Let `p1` to `p5` be the derivatives of `p` at the midpoint and `h` half the distance between
    /// `start` and `end`. The first integral is `p + p2 h^2 / 6 + p4 h^4 / 120`. The second is half
    /// the sum of the first and `p1 h / 3 + p3 h^3 / 30 + p5 h^5 / 840`.
    #[inline(always)]
    fn integrals_within(&self, start: f32, end: f32) -> (f32, f32) {
        let Self { linear, cubic, quintic } = *self;
        let (middle, half) = (0.5 * (start + end), 0.5 * (end - start));
        let (square, half_square) = (middle * middle, half * half);
        let even = (linear + square * (cubic + square * quintic))
            + half_square * (cubic + square * (10.0 / 3.0 * quintic) + half_square * quintic);
        let odd = (linear * (1.0 / 3.0) + square * (cubic + square * (5.0 / 3.0 * quintic)))
            + half_square * (0.2 * cubic + square * (2.0 * quintic) + half_square * (1.0 / 7.0 * quintic));
        let integral = middle * even;
        // Adding 0 removes the sign of a zero, which makes the results bit-identical to those of
        // `integrals`.
        (integral + 0.0, 0.5 * (integral + half * odd) + 0.0)
    }
}

/// Returns the integrals of [`Terms::integrals_within`] for any `u0` and `u1`.
#[inline(always)]
fn integrals(terms: &Terms, u0: f32, u1: f32) -> (f32, f32) {
    let distance = u1 - u0;
    let distance = if distance.abs() > 1e-20 { distance } else { 1e-20 };
    let per_distance = 1.0 / distance;
    let (low, high) = ((-1.0 - u0) * per_distance, (1.0 - u0) * per_distance);
    let is_within = (u0.abs() <= 1.0) & (u1.abs() <= 1.0);
    let enter_time = if is_within { 0.0 } else { limit(if low < high { low } else { high }, 0.0, 1.0) };
    let leave_time = if is_within { 1.0 } else { limit(if low < high { high } else { low }, 0.0, 1.0) };
    let (start, end) = (limit(u0, -1.0, 1.0), limit(u1, -1.0, 1.0));
    let (whole_integral, moment) = terms.integrals_within(start, end);
    let inside = leave_time - enter_time;
    // Outside the middle the curve is flat: `p(u) = u`, with `u` limited to -1 and 1.
    let (entry_part, exit_part) = (start * enter_time, end * (1.0 - leave_time));
    let integral = entry_part + inside * whole_integral + exit_part;
    let weighted = 0.5 * entry_part * enter_time
        + inside * (enter_time * whole_integral + inside * moment)
        + 0.5 * exit_part * (1.0 + leave_time);
    (integral + 0.0, weighted + 0.0)
}

/// A waveshaper, whose state is the last frames of the oversampled rate.
pub(crate) struct Shaper {
    /// Values of `u` for the last frame, then for the current frames.
    inputs: [f32; 2 + VALUE_COUNT],
    /// Contributions of each frame to the output two frames later (`late`) and one frame later
    /// (`early`), for the last frames and then for the current frames.
    late: [f32; 4 + VALUE_COUNT],
    early: [f32; 2 + VALUE_COUNT],
    /// Sines of the last two frames, then of the current frames.
    folded: [f32; 4 + VALUE_COUNT],
    is_started: bool,
}

impl Shaper {
    pub(crate) fn new() -> Self {
        Self {
            inputs: [0.0; 2 + VALUE_COUNT],
            late: [0.0; 4 + VALUE_COUNT],
            early: [0.0; 2 + VALUE_COUNT],
            folded: [0.0; 4 + VALUE_COUNT],
            is_started: false,
        }
    }

    /// Clears the state, which is then that after a long silence.
    pub(crate) fn clear(&mut self) {
        self.is_started = false;
    }

    /// Initializes the state for silent input, for which `x + bias` is the bias.
    fn start_silent(&mut self, curve: &Curve) {
        let u = curve.bias / curve.reach;
        let (integral, weighted) = integrals(&Terms::new(curve), u, u);
        self.inputs[..2].fill(u);
        self.late[..4].fill(weighted);
        self.early[..2].fill(integral - weighted);
        self.folded[..4].fill(sine(curve.bias));
        self.is_started = true;
    }

    /// Shapes interleaved frames of the oversampled rate. The bias ramps linearly from that of
    /// `curve` to that of `next`.
    #[inline(always)]
    pub(crate) fn process(&mut self, curve: &Curve, next: &Curve, audio: &mut [f32]) {
        if !self.is_started {
            self.start_silent(curve);
        }
        let count = audio.len();
        self.compute_inputs(curve, next, audio);
        // The states of the polynomial or of the sine are cleared while they do not contribute to
        // the output.
        if curve.fold < 1.0 {
            self.shape(curve, count);
        } else {
            self.late[..4 + count].fill(0.0);
            self.early[..2 + count].fill(0.0);
        }
        if curve.fold > 0.0 {
            for (folded, input) in self.folded[4..].iter_mut().zip(&self.inputs[2..2 + count]) {
                *folded = sine(input * curve.reach);
            }
        } else {
            self.folded[..4].fill(0.0);
        }
        self.write_output(curve, next, audio);
        self.inputs.copy_within(count..count + 2, 0);
        self.late.copy_within(count..count + 4, 0);
        self.early.copy_within(count..count + 2, 0);
        if curve.fold > 0.0 {
            self.folded.copy_within(count..count + 4, 0);
        }
    }

    /// Writes `u` of the new frames: the input plus the bias, divided by the reach.
    #[inline(always)]
    fn compute_inputs(&mut self, curve: &Curve, next: &Curve, audio: &[f32]) {
        let per_reach = 1.0 / curve.reach;
        let bias_step = (next.bias - curve.bias) * (2.0 / audio.len() as f32);
        let inputs = self.inputs[2..].iter_mut().zip(audio);
        if bias_step == 0.0 {
            inputs.for_each(|(input, audio)| *input = (audio + curve.bias) * per_reach);
        } else {
            for (index, (input, audio)) in inputs.enumerate() {
                *input = (audio + curve.bias + bias_step * (index / 2) as f32) * per_reach;
            }
        }
    }

    /// Adds the contributions and subtracts the output for silence.
    #[inline(always)]
    fn write_output(&self, curve: &Curve, next: &Curve, audio: &mut [f32]) {
        let silence = curve.silent_output();
        let silence_step = (next.silent_output() - silence) * (2.0 / audio.len() as f32);
        let shaped = self.late.iter().zip(&self.early).map(|(late, early)| late + early);
        if curve == next && curve.fold == 0.0 {
            audio.iter_mut().zip(shaped).for_each(|(value, shaped)| *value = shaped - silence);
        } else {
            for (index, ((value, shaped), folded)) in
                audio.iter_mut().zip(shaped).zip(&self.folded).enumerate()
            {
                let mixed_value = shaped + (folded - shaped) * curve.fold;
                *value = mixed_value - (silence + silence_step * (index / 2) as f32);
            }
        }
    }

    #[inline(always)]
    fn shape(&mut self, curve: &Curve, count: usize) {
        let terms = Terms::new(curve);
        let ends = self.inputs[2..2 + count].as_chunks::<FRAME_VALUES>().0;
        let late_groups = self.late[4..4 + count].as_chunks_mut::<FRAME_VALUES>().0;
        let early_groups = self.early[2..2 + count].as_chunks_mut::<FRAME_VALUES>().0;
        let starts =
            self.inputs.chunks(FRAME_VALUES).filter_map(|inputs| inputs.first_chunk::<FRAME_VALUES>());
        for ((starts, ends), (late, early)) in starts.zip(ends).zip(late_groups.iter_mut().zip(early_groups))
        {
            // Nearly all frames stay within the middle of the curve and take this faster path.
            if is_within(starts) & is_within(ends) {
                compute_contributions(starts, ends, late, early, |start, end| {
                    terms.integrals_within(start, end)
                });
            } else {
                compute_contributions(starts, ends, late, early, |start, end| integrals(&terms, start, end));
            }
        }
    }
}

/// Number of samples of both channels, at the oversampled rate, for one frame of the session.
const FRAME_VALUES: usize = 2 * FACTOR;

/// Whether all samples of a frame are from -1 to 1.
#[inline(always)]
fn is_within(values: &[f32; FRAME_VALUES]) -> bool {
    values
        .as_chunks()
        .0
        .iter()
        .fold(true, |is_so_far, values| is_so_far & Lanes::new(*values).abs().are_at_most(1.0))
}

/// Computes the contributions of each sample to the output two frames later (`late`) and one frame
/// later (`early`), in frames of the oversampled rate.
#[inline(always)]
fn compute_contributions(
    starts: &[f32; FRAME_VALUES],
    ends: &[f32; FRAME_VALUES],
    late: &mut [f32; FRAME_VALUES],
    early: &mut [f32; FRAME_VALUES],
    integrals: impl Fn(f32, f32) -> (f32, f32),
) {
    for index in 0..FRAME_VALUES {
        let (integral, weighted) = integrals(starts[index], ends[index]);
        (late[index], early[index]) = (weighted, integral - weighted);
    }
}

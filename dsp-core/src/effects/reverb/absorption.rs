//! The absorption filters of the network, which determine the decay time of each frequency.
//!
//! For a decay of 60 dB in T seconds, a delay line of m frames must attenuate by 60 m / (T rate) dB
//! (J.-M. Jot and A. Chaigne, "Digital Delay Networks for Designing Artificial Reverberators", AES
//! 90th Convention, 1991, section 3). Two first-order shelves set separate attenuations for bass,
//! middle and treble.
//!
//! The frequency at which a shelf has half of its gain in decibels is the same for every delay
//! line. The attenuation in decibels is then proportional to the length of the line at all
//! frequencies (Jot, "Proportional Parametric Equalizers", AES 139th Convention, 2015).

use wide::f32x4;

use super::room::{Column, GROUP_COUNT, LINE_COUNT};
use crate::dsp::control::CONTROL_FRAMES;
use crate::simd::transpose;

/// Decay times (RT60) of the late reverberation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decay {
    pub(super) low_secs: f64,
    pub(super) middle_secs: f64,
    pub(super) high_secs: f64,
    /// Crossover between bass and middle.
    pub(super) low_hz: f64,
    /// Crossover between middle and treble.
    pub(super) high_hz: f64,
}

/// Coefficients of the low and the high shelf of four delay lines: b0, b1 - a1 b0 and a1. The
/// filter is y = b0 x + s with the next state s = b1 x - a1 y. Written as s = (b1 - a1 b0) x - a1
/// s, a state depends on the previous state through one multiplication only.
type Shelves = [[f32x4; 3]; 2];

/// States of both shelves of one group of delay lines, and states of all groups.
type State = [f32x4; 2];
pub(super) type States = [State; GROUP_COUNT];

/// Shelves with a response of 1.
const PASSTHROUGH: Shelves = [[f32x4::ONE, f32x4::ZERO, f32x4::ZERO]; 2];

/// The shelves of all delay lines, whose coefficients ramp linearly from one control point to the
/// next.
#[derive(Debug, Clone)]
pub(super) struct Absorption {
    sample_rate_hz: f64,
    computed_for: Option<(Decay, [usize; LINE_COUNT])>,
    start_shelves: [Shelves; GROUP_COUNT],
    target_shelves: [Shelves; GROUP_COUNT],
    is_ramping: bool,
    pub(super) states: States,
}

impl Absorption {
    pub(super) fn new(sample_rate_hz: f64) -> Self {
        Self {
            sample_rate_hz,
            computed_for: None,
            start_shelves: [PASSTHROUGH; GROUP_COUNT],
            target_shelves: [PASSTHROUGH; GROUP_COUNT],
            is_ramping: false,
            states: [[f32x4::ZERO; 2]; GROUP_COUNT],
        }
    }

    pub(super) fn clear(&mut self) {
        self.states = [[f32x4::ZERO; 2]; GROUP_COUNT];
    }

    /// Starts a ramp at a control point, to the coefficients for a decay and for the lengths of the
    /// delay lines.
    pub(super) fn step(&mut self, decay: &Decay, line_frames: &[usize; LINE_COUNT]) {
        // Adding and subtracting `floor` rounds inaudible states to 0.
        let floor = f32x4::splat(1e-18);
        for state in self.states.as_flattened_mut() {
            *state = (*state + floor) - floor;
        }
        if self.is_ramping {
            self.start_shelves = self.target_shelves;
        }
        self.is_ramping = self.computed_for != Some((*decay, *line_frames));
        if self.is_ramping {
            self.compute(decay, line_frames);
        }
    }

    /// Sets the coefficients immediately, without a ramp.
    pub(super) fn reset_to(&mut self, decay: &Decay, line_frames: &[usize; LINE_COUNT]) {
        self.compute(decay, line_frames);
        (self.start_shelves, self.is_ramping) = (self.target_shelves, false);
    }

    fn compute(&mut self, decay: &Decay, line_frames: &[usize; LINE_COUNT]) {
        self.computed_for = Some((*decay, *line_frames));
        let warped = |frequency_hz: f64| {
            libm::tan(core::f64::consts::PI * (frequency_hz / self.sample_rate_hz).min(0.49))
        };
        let (low_warped, high_warped) = (warped(decay.low_hz), warped(decay.high_hz));
        for (group, line_frames) in line_frames.as_chunks::<4>().0.iter().enumerate() {
            let (mut low, mut high) = ([[0.0; 4]; 3], [[0.0; 4]; 3]);
            for (lane, frames) in line_frames.iter().enumerate() {
                let gain = |secs: f64| libm::exp10(-3.0 * *frames as f64 / (self.sample_rate_hz * secs));
                let middle_gain = gain(decay.middle_secs);
                let low_gain_root = libm::sqrt(gain(decay.low_secs) / middle_gain);
                let high_gain_root = libm::sqrt(gain(decay.high_secs) / middle_gain);
                let shelves = [
                    (&mut low, middle_gain, low_warped * low_gain_root, low_warped / low_gain_root),
                    (
                        &mut high,
                        high_gain_root * high_gain_root,
                        high_warped / high_gain_root,
                        high_warped * high_gain_root,
                    ),
                ];
                for (shelf, gain, zero, pole) in shelves {
                    let scale = 1.0 / (1.0 + pole);
                    let direct = gain * (zero + 1.0) * scale;
                    let feedback = (pole - 1.0) * scale;
                    shelf[0][lane] = direct as f32;
                    shelf[1][lane] = (gain * (zero - 1.0) * scale - feedback * direct) as f32;
                    shelf[2][lane] = feedback as f32;
                }
            }
            self.target_shelves[group] = [low, high].map(|shelf| shelf.map(f32x4::new));
        }
    }

    /// Filters up to four frames of all delay lines, from `offset` frames after the control point
    /// on. `states` is a copy of [`Self::states`], which the compiler can keep in registers.
    #[inline(always)]
    pub(super) fn process(&self, states: &mut States, offset: usize, frames: usize, columns: &mut Column) {
        for group in 0..GROUP_COUNT {
            // The block is transposed from four frames per line to four lines per frame, and back.
            let [a, b, c, d] = [0, 1, 2, 3].map(|lane| columns[4 * group + lane]);
            let mut frames_of_lines = transpose([a, b, c, d]);
            let (start_shelves, state) = (&self.start_shelves[group], &mut states[group]);
            if frames == 4 && !self.is_ramping {
                frames_of_lines.iter_mut().for_each(|values| filter_frame(start_shelves, state, values));
            } else {
                for (frame, values) in frames_of_lines.iter_mut().enumerate().take(frames) {
                    filter_frame(
                        &interpolate(start_shelves, &self.target_shelves[group], offset + frame),
                        state,
                        values,
                    );
                }
            }
            for (lane, values) in transpose(frames_of_lines).into_iter().enumerate() {
                columns[4 * group + lane] = values;
            }
        }
    }
}

/// Filters one frame of four delay lines.
#[inline(always)]
fn filter_frame(shelves: &Shelves, state: &mut State, values: &mut f32x4) {
    for ([direct, state_gain, feedback], state) in shelves.iter().zip(state) {
        let old_state = *state;
        *state = *state_gain * *values - *feedback * old_state;
        *values = *direct * *values + old_state;
    }
}

/// Returns the shelves' coefficients `offset` frames after the control point.
#[inline(always)]
fn interpolate(start: &Shelves, target: &Shelves, offset: usize) -> Shelves {
    let fraction = f32x4::splat(offset as u16 as f32 * (1.0 / CONTROL_FRAMES as f32));
    let mut shelves = *start;
    for (value, target_value) in shelves.as_flattened_mut().iter_mut().zip(target.as_flattened()) {
        *value = *value + (*target_value - *value) * fraction;
    }
    shelves
}

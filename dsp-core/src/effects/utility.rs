//! Utility: gain, balance, polarity and assignment of channels.

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ChoiceEnum, ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::smoothed_value::SmoothedValue;
use crate::gain;

/// Gain, balance, polarity and channel assignment.
pub(super) static UTILITY: EffectKind = EffectKind {
    id: "utility",
    name: "Utility",
    group: Group::Utility,
    parameters: UtilityParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Utility::new(config)),
    memory_bytes: inline_bytes::<Utility>,
};

parameters! {
    /// Parameters of the utility effect.
    enum UtilityParam {
        /// Gain in decibels.
        GainDb = linear("gain_db", "Gain", Unit::Decibels, [-144.0, 36.0], 0.0),
        /// Balance between left (-1) and right (1).
        Balance = linear("balance", "Balance", Unit::Number, [-1.0, 1.0], 0.0),
        /// Whether the left channel is inverted.
        InvertLeft = switch("invert_left", "Invert left", false),
        /// Whether the right channel is inverted.
        InvertRight = switch("invert_right", "Invert right", false),
        /// Assignment of the channels.
        Channels = choice("channels", "Channels", Channels::NAMES, Channels::Stereo as usize),
    }
}

choices! {
    /// Assignment of input channels to output channels.
    enum Channels {
        Stereo = "Stereo",
        /// Left and right swapped.
        Swapped = "Swapped",
        /// The left input in both outputs.
        Left = "Left",
        /// The right input in both outputs.
        Right = "Right",
        /// The mean of both inputs in both outputs.
        Mono = "Mono",
    }
}

/// Minimum ramp time of switches and choices, in seconds.
const SWITCH_SECS: f64 = 0.005;

/// Gains from each input to each output: left to left, right to left, left to right, right to
/// right.
type Matrix = [f64; 4];

/// A gain matrix. Each parameter has a separate ramp, so setting one parameter does not change the
/// ramp of another.
struct Utility {
    switch_frames: u32,
    gain: SmoothedValue,
    /// Gains of left and right.
    balance: [SmoothedValue; 2],
    /// Polarity of left and right: -1 for an inverted channel.
    signs: [SmoothedValue; 2],
    channels: [SmoothedValue; 4],
}

const STEREO_MATRIX: Matrix = [1.0, 0.0, 0.0, 1.0];

impl Utility {
    fn new(config: &EffectConfig<'_>) -> Self {
        Self {
            switch_frames: (SWITCH_SECS * f64::from(config.sample_rate_hz)) as u32,
            gain: SmoothedValue::new(1.0),
            balance: [SmoothedValue::new(1.0); 2],
            signs: [SmoothedValue::new(1.0); 2],
            channels: STEREO_MATRIX.map(SmoothedValue::new),
        }
    }

    fn smoothed_values(&mut self) -> impl Iterator<Item = &mut SmoothedValue> {
        let sides = self.balance.iter_mut().chain(&mut self.signs);
        [&mut self.gain].into_iter().chain(sides).chain(&mut self.channels)
    }

    fn matrix(&self) -> Matrix {
        let [left, right] =
            [0, 1].map(|side| self.gain.value() * self.balance[side].value() * self.signs[side].value());
        let [ll, rl, lr, rr] = self.channels.each_ref().map(SmoothedValue::value);
        [ll * left, rl * left, lr * right, rr * right]
    }
}

impl Channels {
    /// Returns the gains of the assignment.
    fn matrix(self) -> Matrix {
        match self {
            Self::Stereo => STEREO_MATRIX,
            Self::Swapped => [0.0, 1.0, 1.0, 0.0],
            Self::Left => [1.0, 0.0, 1.0, 0.0],
            Self::Right => [0.0, 1.0, 0.0, 1.0],
            Self::Mono => [0.5; 4],
        }
    }
}

impl Effect for Utility {
    fn reset(&mut self, _frame: u64) {
        self.smoothed_values().for_each(SmoothedValue::finish);
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = UtilityParam::from_index(parameter) else { return };
        let switch_frames = ramp_frames.max(self.switch_frames);
        let sign = if value >= 0.5 { -1.0 } else { 1.0 };
        match parameter {
            UtilityParam::GainDb => self.gain.set_target(f64::from(gain::from_db(value)), ramp_frames),
            UtilityParam::Balance => {
                let (left, right) = gain::balance(value);
                self.balance[0].set_target(f64::from(left), ramp_frames);
                self.balance[1].set_target(f64::from(right), ramp_frames);
            }
            UtilityParam::InvertLeft => self.signs[0].set_target(sign, switch_frames),
            UtilityParam::InvertRight => self.signs[1].set_target(sign, switch_frames),
            UtilityParam::Channels => {
                let matrix = Channels::from_value(value).matrix();
                for (smoothed_value, target) in self.channels.iter_mut().zip(matrix) {
                    smoothed_value.set_target(target, switch_frames);
                }
            }
        }
    }

    fn needs_no_control_points(&self) -> bool {
        true
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        if self.smoothed_values().all(|smoothed| smoothed.is_steady()) {
            let [ll, rl, lr, rr] = self.matrix().map(|gain| gain as f32);
            if [ll, rl, lr, rr] == [1.0, 0.0, 0.0, 1.0] {
                return;
            }
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left * ll + *right * rl, *left * lr + *right * rr);
            }
            return;
        }
        for (left, right) in left.iter_mut().zip(right) {
            let [ll, rl, lr, rr] = self.matrix().map(|gain| gain as f32);
            self.smoothed_values().for_each(|smoothed| smoothed.advance(1));
            (*left, *right) = (*left * ll + *right * rl, *left * lr + *right * rr);
        }
    }
}

//! Utility: gain, balance, polarity and channels.

use super::best::best;
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit};
use crate::gain;

/// Level, balance, polarity and channel order.
pub(super) static UTILITY: EffectKind = EffectKind {
    id: "utility",
    name: "Utility",
    parameters: &[
        Parameter::linear("gain_db", "Gain", Unit::Decibels, [-144.0, 36.0], 0.0),
        Parameter::linear("balance", "Balance", Unit::Number, [-1.0, 1.0], 0.0),
        Parameter::switch("invert_left", "Invert left", false),
        Parameter::switch("invert_right", "Invert right", false),
        Parameter::choice("channels", "Channels", &["Stereo", "Swapped", "Left", "Right", "Mono"], 0),
    ],
    has_side_chain: false,
    make: |config| best(Utility::new(config)),
};

/// How long switches and choices take, in seconds.
const SWITCH_SECS: f64 = 0.005;

/// Gains from both inputs to both outputs: left to left, right to left, left to right, right to right.
type Matrix = [f64; 4];

struct Utility {
    gain_db: f64,
    balance: f64,
    invert: [bool; 2],
    channels: u8,
    switch_frames: u32,
    matrix: [Glide; 4],
}

impl Utility {
    fn new(config: &EffectConfig<'_>) -> Self {
        let mut utility = Self {
            gain_db: 0.0,
            balance: 0.0,
            invert: [false; 2],
            channels: 0,
            switch_frames: (SWITCH_SECS * f64::from(config.sample_rate_hz)) as u32,
            matrix: [Glide::new(0.0); 4],
        };
        utility.aim(0);
        utility
    }

    fn target(&self) -> Matrix {
        let gain = f64::from(gain::from_db(self.gain_db));
        let (left, right) = gain::balance(self.balance);
        let sign = |inverted| if inverted { -gain } else { gain };
        let left = f64::from(left) * sign(self.invert[0]);
        let right = f64::from(right) * sign(self.invert[1]);
        let [ll, rl, lr, rr] = match self.channels {
            0 => [1.0, 0.0, 0.0, 1.0],
            1 => [0.0, 1.0, 1.0, 0.0],
            2 => [1.0, 0.0, 1.0, 0.0],
            3 => [0.0, 1.0, 0.0, 1.0],
            _ => [0.5; 4],
        };
        [ll * left, rl * left, lr * right, rr * right]
    }

    fn aim(&mut self, glide_frames: u32) {
        let targets = self.target();
        for (glide, target) in self.matrix.iter_mut().zip(targets) {
            glide.set(target, glide_frames);
        }
    }
}

impl Effect for Utility {
    fn reset(&mut self, _frame: u64) {
        self.matrix.iter_mut().for_each(Glide::jump);
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        match parameter {
            0 => self.gain_db = value,
            1 => self.balance = value,
            2 => self.invert[0] = value >= 0.5,
            3 => self.invert[1] = value >= 0.5,
            _ => self.channels = value as u8,
        }
        let switches = parameter >= 2;
        self.aim(if switches { glide_frames.max(self.switch_frames) } else { glide_frames });
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        debug_assert!(left.len() <= CONTROL_FRAMES, "at most a control step");
        if self.matrix.iter().all(Glide::is_at_rest) {
            let [ll, rl, lr, rr] = self.matrix.each_ref().map(|glide| glide.target() as f32);
            if [ll, rl, lr, rr] == [1.0, 0.0, 0.0, 1.0] {
                return;
            }
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left * ll + *right * rl, *left * lr + *right * rr);
            }
            return;
        }
        for (left, right) in left.iter_mut().zip(right) {
            let [ll, rl, lr, rr] = self.matrix.each_mut().map(|glide| glide.next() as f32);
            (*left, *right) = (*left * ll + *right * rl, *left * lr + *right * rr);
        }
    }
}

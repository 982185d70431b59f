//! Utility: gain, balance, polarity and channels.

use super::best::best;
use super::{Effect, EffectConfig, EffectKind, Glide, Parameter, Unit, memory};
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
    impulse_max_secs: None,
    make: |config| best(Utility::new(config)),
    memory_bytes: memory::inline_bytes::<Utility>,
};

/// How long switches and choices take, in seconds.
const SWITCH_SECS: f64 = 0.005;

/// Gains from both inputs to both outputs: left to left, right to left, left to right, right to
/// right.
type Matrix = [f64; 4];

/// Each parameter on its way by itself, so that none of them hurries or holds up another.
struct Utility {
    switch_frames: u32,
    gain: Glide,
    /// Left and right.
    balance: [Glide; 2],
    /// -1 where a side is inverted.
    signs: [Glide; 2],
    channels: [Glide; 4],
}

const STEREO: Matrix = [1.0, 0.0, 0.0, 1.0];

impl Utility {
    fn new(config: &EffectConfig<'_>) -> Self {
        Self {
            switch_frames: (SWITCH_SECS * f64::from(config.sample_rate_hz)) as u32,
            gain: Glide::new(1.0),
            balance: [Glide::new(1.0); 2],
            signs: [Glide::new(1.0); 2],
            channels: STEREO.map(Glide::new),
        }
    }

    fn glides(&mut self) -> impl Iterator<Item = &mut Glide> {
        let sides = self.balance.iter_mut().chain(&mut self.signs);
        [&mut self.gain].into_iter().chain(sides).chain(&mut self.channels)
    }

    fn matrix(&self) -> Matrix {
        let [left, right] =
            [0, 1].map(|side| self.gain.value() * self.balance[side].value() * self.signs[side].value());
        let [ll, rl, lr, rr] = self.channels.each_ref().map(Glide::value);
        [ll * left, rl * left, lr * right, rr * right]
    }
}

/// Which inputs go to which outputs.
fn channels(choice: u8) -> Matrix {
    match choice {
        0 => STEREO,
        1 => [0.0, 1.0, 1.0, 0.0],
        2 => [1.0, 0.0, 1.0, 0.0],
        3 => [0.0, 1.0, 0.0, 1.0],
        _ => [0.5; 4],
    }
}

impl Effect for Utility {
    fn reset(&mut self, _frame: u64) {
        self.glides().for_each(Glide::jump);
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        let switch_frames = glide_frames.max(self.switch_frames);
        match parameter {
            0 => self.gain.set(f64::from(gain::from_db(value)), glide_frames),
            1 => {
                let (left, right) = gain::balance(value);
                self.balance[0].set(f64::from(left), glide_frames);
                self.balance[1].set(f64::from(right), glide_frames);
            }
            2 | 3 => self.signs[parameter - 2].set(if value >= 0.5 { -1.0 } else { 1.0 }, switch_frames),
            _ => {
                for (glide, target) in self.channels.iter_mut().zip(channels(value as u8)) {
                    glide.set(target, switch_frames);
                }
            }
        }
    }

    fn is_still(&self) -> bool {
        true
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        if self.glides().all(|glide| glide.is_at_rest()) {
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
            self.glides().for_each(|glide| glide.pass(1));
            (*left, *right) = (*left * ll + *right * rl, *left * lr + *right * rr);
        }
    }
}

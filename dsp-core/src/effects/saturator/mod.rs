//! Saturator: a drive into one of five curves, at eight times the sample rate.
//!
//! With a drive `d` (linear): `y = f(d x) / sqrt(d)`: half of the drive's decibels are taken back,
//! so that a peak at minus half the drive keeps its level. All curves rise from 0 by 1 and end at
//! -1 and 1:
//!
//! | type | curve |
//! |---|---|
//! | tape | `(15 u - 10 u^3 + 3 u^5) / 8`, `u = x / 1.875`: bends early, ends softly |
//! | tube | as soft, but around 0.4: even harmonics |
//! | soft | `(3 u - u^3) / 2`, `u = x / 1.5` |
//! | hard | `u = x`: straight up to its end |
//! | fold | `sin x`, with half of the drive's decibels: comes back where others end |
//!
//! A bias `b` makes any of them `f(x + b) - f(b)`; what constant part that leaves, a high-pass
//! filter at 5 Hz removes.

mod oversampling;
mod shaper;

use super::best::best;
use super::memory::inline_bytes;
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit};
use crate::gain;
use crate::simd::on_best_instructions;
use oversampling::{FACTOR, Oversampler};
use shaper::{Curve, Shaper};

/// Largest memory of the four oversampling stages in bytes; a test compares it.
const OVERSAMPLING_BYTES: u64 = 48 * 1024;

/// Drive into a curve.
pub(super) static SATURATOR: EffectKind = EffectKind {
    id: "saturator",
    name: "Saturator",
    parameters: &[
        Parameter::linear("drive_db", "Drive", Unit::Decibels, [0.0, 36.0], 12.0),
        Parameter::choice("type", "Type", &["Tape", "Tube", "Soft", "Hard", "Fold"], 0),
        Parameter::linear("bias", "Bias", Unit::Number, [-1.0, 1.0], 0.0),
        Parameter::linear("output_db", "Output", Unit::Decibels, [-36.0, 12.0], 0.0),
        Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 1.0),
    ],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Saturator::new(config)),
    memory_bytes: Saturator::memory_bytes,
};

const TUBE: usize = 1;
const FOLD: usize = 4;

/// Reach, cubic and quintic share of each type's curve.
const CURVES: [[f64; 3]; 5] =
    [[1.875, -1.25, 0.375], [1.5, -0.5, 0.0], [1.5, -0.5, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]];

/// The bias that makes a tube of a soft curve.
const TUBE_BIAS: f64 = 0.4;

/// How long a choice takes, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Corner of the filter that removes a constant, in hertz.
const CONSTANT_HZ: f64 = 5.0;

/// Values below this are silence.
const SILENT: f32 = 1e-12;

const LATENCY_FRAMES: usize = (oversampling::LAG + shaper::LAG) / FACTOR;

const _: () = assert!(
    (oversampling::LAG + shaper::LAG).is_multiple_of(FACTOR),
    "the way takes whole frames, or dry and wet would not meet"
);

struct Saturator {
    switch_frames: u32,
    clock: u64,
    /// The gain of half the drive's decibels, and what takes as much back behind the curve.
    half_drive: Glide,
    taken_back: Glide,
    output: Glide,
    reach: Glide,
    cubic: Glide,
    quintic: Glide,
    /// What is set, and the curve's own.
    user_bias: Glide,
    own_bias: Glide,
    fold: Glide,
    mix: Glide,
    oversampler: Oversampler,
    shaper: Shaper,
    constant: Constant,
    /// The input of as many frames as the output lags.
    dry: [[f32; 2]; LATENCY_FRAMES],
    dry_place: usize,
    /// For how long the input has been silent.
    silent_frames: usize,
}

impl Saturator {
    /// The filters and buffers of oversampling, whatever the rate.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        OVERSAMPLING_BYTES + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let still = Glide::new(0.0);
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let turn = core::f64::consts::TAU * CONSTANT_HZ / sample_rate_hz;
        let mut saturator = Self {
            switch_frames: (SWITCH_SECS * sample_rate_hz) as u32,
            clock: 0,
            half_drive: Glide::new(1.0),
            taken_back: Glide::new(1.0),
            output: still,
            reach: Glide::new(1.0),
            cubic: still,
            quintic: still,
            user_bias: still,
            own_bias: still,
            fold: still,
            mix: still,
            oversampler: Oversampler::new(),
            shaper: Shaper::new(),
            constant: Constant { found: [0.0; 2], share: still, speed: 1.0 - libm::exp(-turn) },
            dry: [[0.0; 2]; LATENCY_FRAMES],
            dry_place: 0,
            silent_frames: usize::MAX,
        };
        for (place, parameter) in SATURATOR.parameters.iter().enumerate() {
            saturator.set(place, parameter.default, 0);
        }
        saturator.reset(0);
        saturator
    }

    fn aim_curve(&mut self, kind: usize, glide_frames: u32) {
        let [reach, cubic, quintic] = CURVES[kind];
        self.reach.set(reach, glide_frames);
        self.cubic.set(cubic, glide_frames);
        self.quintic.set(quintic, glide_frames);
        self.own_bias.set(if kind == TUBE { TUBE_BIAS } else { 0.0 }, glide_frames);
        self.fold.set(if kind == FOLD { 1.0 } else { 0.0 }, glide_frames);
    }

    /// A curve with a bias adds a constant, which is found and taken away.
    fn aim_constant(&mut self) {
        let is_biased = self.user_bias.target() + self.own_bias.target() != 0.0;
        self.constant.share.go_over(if is_biased { 1.0 } else { 0.0 }, self.switch_frames);
    }

    fn curve_glides(&mut self) -> [&mut Glide; 6] {
        [
            &mut self.reach,
            &mut self.cubic,
            &mut self.quintic,
            &mut self.user_bias,
            &mut self.own_bias,
            &mut self.fold,
        ]
    }

    fn curve(&self) -> Curve {
        Curve {
            reach: self.reach.value() as f32,
            cubic: self.cubic.value() as f32,
            quintic: self.quintic.value() as f32,
            bias: (self.user_bias.value() + self.own_bias.value()) as f32,
            fold: self.fold.value() as f32,
        }
    }

    /// Whether silence comes in, and nothing is left of what came before.
    fn is_silent(&mut self, frames: usize, audio: &[f32]) -> bool {
        let biases = [&self.user_bias, &self.own_bias];
        let is_symmetric = biases.iter().all(|bias| bias.target() == 0.0 && bias.is_at_rest());
        if !is_symmetric || audio.iter().any(|value| *value != 0.0) {
            self.silent_frames = 0;
        } else if self.silent_frames < 2 * LATENCY_FRAMES {
            self.silent_frames += frames;
        } else {
            return true;
        }
        false
    }

    /// Left and right in turns, driven and bent.
    fn bend(&mut self, frames: usize, audio: &mut [f32; 2 * CONTROL_FRAMES]) {
        let mut curves = [self.curve(); CONTROL_FRAMES + 1];
        let mut count = 2;
        if self.curve_glides().iter().any(|glide| !glide.is_at_rest()) {
            // A curve that moves is another one in each frame.
            for curve in &mut curves[1..=frames] {
                self.curve_glides().into_iter().for_each(|glide| glide.pass(1));
                *curve = self.curve();
            }
            count = frames + 1;
        }
        bend_oversampled(&mut self.oversampler, &mut self.shaper, &curves[..count], frames, audio);
    }
}

on_best_instructions! {
    /// Bends frames of left and right in turns from one curve to the next, each for an equal share
    /// of the frames.
    fn bend_oversampled(
        oversampler: &mut Oversampler,
        shaper: &mut Shaper,
        curves: &[Curve],
        frames: usize,
        audio: &mut [f32; 2 * CONTROL_FRAMES],
    ) = bend_oversampled_here;
}

#[inline(always)]
fn bend_oversampled_here(
    oversampler: &mut Oversampler,
    shaper: &mut Shaper,
    curves: &[Curve],
    frames: usize,
    audio: &mut [f32; 2 * CONTROL_FRAMES],
) {
    let fast = oversampler.up(frames, audio);
    let share = fast.len() / (curves.len() - 1);
    for (fast, curves) in fast.chunks_mut(share).zip(curves.windows(2)) {
        shaper.process(&curves[0], &curves[1], fast);
    }
    oversampler.down(frames, audio);
}

impl Effect for Saturator {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.curve_glides().into_iter().for_each(Glide::jump);
        let levels = [&mut self.half_drive, &mut self.taken_back, &mut self.output, &mut self.mix];
        levels.into_iter().chain([&mut self.constant.share]).for_each(Glide::jump);
        self.oversampler.clear();
        self.shaper.clear();
        self.constant.found = [0.0; 2];
        self.dry = [[0.0; 2]; LATENCY_FRAMES];
        self.dry_place = 0;
        self.silent_frames = usize::MAX;
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        match parameter {
            0 => {
                let half = f64::from(gain::from_db(value / 2.0));
                self.half_drive.set(half, glide_frames);
                self.taken_back.set(1.0 / half, glide_frames);
            }
            1 => {
                self.aim_curve(value as usize, glide_frames.max(self.switch_frames));
                self.aim_constant();
            }
            2 => {
                self.user_bias.set(value, glide_frames);
                self.aim_constant();
            }
            3 => self.output.set(f64::from(gain::from_db(value)), glide_frames),
            _ => self.mix.set(value, glide_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        if self.clock.is_multiple_of(CONTROL_FRAMES as u64) {
            self.constant.hush();
        }
        self.clock += left.len() as u64;
        let mut audio = [0.0; 2 * CONTROL_FRAMES];
        let frames = left.len();
        let mut fold = self.fold;
        for ((values, left), right) in audio.chunks_mut(2).zip(&*left).zip(&*right) {
            // A curve that folds is given half of the drive only.
            let (half, fold) = (self.half_drive.next(), fold.next());
            let gain = (half * (half + (1.0 - half) * fold)) as f32;
            for (value, input) in values.iter_mut().zip([*left, *right]) {
                *value = if input.abs() < SILENT { 0.0 } else { input * gain };
            }
        }
        if self.is_silent(frames, &audio) {
            self.curve_glides().into_iter().for_each(|glide| glide.pass(frames));
        } else {
            self.bend(frames, &mut audio);
        }
        self.constant.remove(&mut audio[..2 * frames]);
        for ((values, left), right) in audio.chunks(2).zip(left).zip(right) {
            let gain = (self.output.next() * self.taken_back.next()) as f32;
            let share = self.mix.next() as f32;
            let dry = core::mem::replace(&mut self.dry[self.dry_place], [*left, *right]);
            self.dry_place = if self.dry_place + 1 == LATENCY_FRAMES { 0 } else { self.dry_place + 1 };
            *left = dry[0] * (1.0 - share) + values[0] * gain * share;
            *right = dry[1] * (1.0 - share) + values[1] * gain * share;
        }
    }

    fn latency_frames(&self) -> usize {
        LATENCY_FRAMES
    }
}

/// What an asymmetric curve adds to every frame.
struct Constant {
    /// A running mean of left and right.
    found: [f64; 2],
    /// How much of it is taken away.
    share: Glide,
    speed: f64,
}

impl Constant {
    fn remove(&mut self, audio: &mut [f32]) {
        if self.share.target() == 0.0 && self.share.is_at_rest() {
            self.found = [0.0; 2];
            return;
        }
        for values in audio.chunks_mut(2) {
            let share = self.share.next();
            for (value, found) in values.iter_mut().zip(&mut self.found) {
                let exact = f64::from(*value);
                *found += (exact - *found) * self.speed;
                *value = (exact - *found * share) as f32;
            }
        }
    }

    fn hush(&mut self) {
        for found in &mut self.found {
            if found.abs() < f64::from(SILENT) {
                *found = 0.0;
            }
        }
    }
}

//! Compressor: turns down what is above a threshold.
//!
//! A feed-forward design in decibels, after Giannoulis, Massberg and Reiss, "Digital Dynamic Range
//! Compressor Design: A Tutorial and Analysis", JAES 60 (6), 2012: the level of the louder channel
//! goes through the static curve, the reduction that comes out is smoothed, and both channels get
//! the same gain.

use wide::f64x2;

use super::ballistics::Ballistics;
use super::best::best;
use super::curve::GlidingCurve;
use super::decibels::{gain, level_db, peak_levels_db};
use super::key::{HIGH_PASS_OFF_HZ, Key};
use super::step::Step;
use super::{
    CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, LONGEST_FRAMES, Parameter, Unit, memory,
};

/// Compression with a side-chain.
///
/// - `threshold_db`: the level, in dBFS, above which it turns down.
/// - `ratio`: decibels above the threshold that become one.
/// - `knee_db`: width of the stretch around the threshold in which compression sets in.
/// - `attack_ms`, `release_ms`: time constants (63 % of the way in decibels).
/// - `detector`: whether the level is the magnitude of each sample, or the root of a mean square
///   with a time constant of 10 ms (3 dB lower for a sine).
/// - `side_high_pass_hz`: what lies below does not count, 12 dB an octave; 20 Hz: off.
/// - `makeup_db`: gain behind the compression.
/// - `auto_makeup`: adds half of what a level of 0 dBFS is turned down by.
/// - `mix`: share of the compressed signal; the rest is as it came in.
pub(super) static COMPRESSOR: EffectKind = EffectKind {
    id: "compressor",
    name: "Compressor",
    parameters: &[
        Parameter::linear("threshold_db", "Threshold", Unit::Decibels, [-60.0, 0.0], THRESHOLD_DB),
        Parameter::logarithmic("ratio", "Ratio", Unit::Ratio, [1.0, 100.0], RATIO),
        Parameter::linear("knee_db", "Knee", Unit::Decibels, [0.0, 24.0], KNEE_DB),
        Parameter::logarithmic("attack_ms", "Attack", Unit::Milliseconds, [0.05, 250.0], ATTACK_MS),
        Parameter::logarithmic("release_ms", "Release", Unit::Milliseconds, [5.0, 3_000.0], RELEASE_MS),
        Parameter::choice("detector", "Detector", &["Peak", "RMS"], 0),
        Parameter::logarithmic(
            "side_high_pass_hz",
            "Side-chain high-pass",
            Unit::Hertz,
            [HIGH_PASS_OFF_HZ, 2_000.0],
            HIGH_PASS_OFF_HZ,
        ),
        Parameter::linear("makeup_db", "Make-up", Unit::Decibels, [-12.0, 36.0], 0.0),
        Parameter::switch("auto_makeup", "Auto make-up", false),
        Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 1.0),
    ],
    has_side_chain: true,
    impulse_max_secs: None,
    make: |config| best(Compressor::new(config)),
    memory_bytes: memory::inline_bytes::<Compressor>,
};

const THRESHOLD_DB: f64 = -20.0;
const RATIO: f64 = 3.0;
const KNEE_DB: f64 = 6.0;
const ATTACK_MS: f64 = 10.0;
const RELEASE_MS: f64 = 120.0;

/// Time constant of the mean square, in milliseconds.
const RMS_MS: f64 = 10.0;

/// How long switches and choices take, in seconds.
const SWITCH_SECS: f64 = 0.02;

/// Share of the reduction at full scale that automatic make-up gives back.
const AUTO_SHARE: f32 = 0.5;

struct Compressor {
    clock: u64,
    switch_frames: u32,
    key: Key,
    detector: Detector,
    curve: GlidingCurve,
    ballistics: Ballistics,
    makeup_db: Glide,
    /// 1 while make-up is automatic.
    auto_makeup: Glide,
    mix: Glide,
}

impl Compressor {
    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        Self {
            clock: 0,
            switch_frames: (SWITCH_SECS * f64::from(rate_hz)) as u32,
            key: Key::new(HIGH_PASS_OFF_HZ, rate_hz),
            detector: Detector::new(rate_hz),
            curve: GlidingCurve {
                threshold_db: Glide::new(THRESHOLD_DB),
                ratio: Glide::new(RATIO),
                knee_db: Glide::new(KNEE_DB),
            },
            ballistics: Ballistics::new(ATTACK_MS, RELEASE_MS, rate_hz),
            makeup_db: Glide::new(0.0),
            auto_makeup: Glide::new(0.0),
            mix: Glide::new(1.0),
        }
    }

    /// Lets frames pass that begin at a control place or behind one.
    fn pass(&mut self, frames: usize) {
        if self.clock.is_multiple_of(CONTROL_FRAMES as u64) {
            self.key.refresh();
            self.detector.refresh();
            self.ballistics.refresh();
        }
        // Where all calls end, also those that go on behind control places.
        if self.clock.is_multiple_of(LONGEST_FRAMES as u64) {
            self.key.hush();
            self.detector.hush();
            self.ballistics.hush();
        }
        self.clock += frames as u64;
    }

    /// Whether make-up and mix stay as they are.
    fn is_level(&self) -> bool {
        let is_manual = self.auto_makeup.is_at_rest() && self.auto_makeup.target() == 0.0;
        is_manual && self.makeup_db.is_at_rest() && self.mix.is_at_rest()
    }

    /// The gains behind the compression, in decibels; to be called before the curve goes on.
    #[inline(always)]
    fn makeups_db<const FRAMES: usize>(&mut self, frames: usize) -> Step<FRAMES> {
        let mut makeups_db = self.makeup_db.steps(frames);
        if self.auto_makeup.is_at_rest() && self.auto_makeup.target() == 0.0 {
            return makeups_db;
        }
        let mut at_full_scale_db = [0.0; FRAMES];
        self.curve.clone().reduce(&mut at_full_scale_db, frames);
        let auto: Step<FRAMES> = self.auto_makeup.steps(frames);
        for ((makeup, reduction), auto) in makeups_db.iter_mut().zip(at_full_scale_db).zip(auto) {
            *makeup += auto * AUTO_SHARE * reduction;
        }
        makeups_db
    }

    /// Processes frames in place, at most a step.
    #[inline(always)]
    fn compress<const FRAMES: usize>(&mut self, [left, right]: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        let frames = left.len();
        let (mut room, mut values) = (None, [0.0; FRAMES]);
        let key = self.key.hear::<FRAMES>([&*left, &*right], side, &mut room);
        self.detector.levels_db(key, &mut values);
        let moving =
            (!self.is_level()).then(|| (self.makeups_db::<FRAMES>(frames), self.mix.steps::<FRAMES>(frames)));
        self.curve.reduce(&mut values, frames);
        self.ballistics.follow(&mut values, frames);
        let mixed =
            |reduction_db: f32, makeup_db: f32, mix: f32| 1.0 + mix * (gain(makeup_db - reduction_db) - 1.0);
        if let Some((makeups_db, mix)) = moving {
            for ((value, makeup_db), mix) in values.iter_mut().zip(makeups_db).zip(mix) {
                *value = mixed(*value, makeup_db, mix);
            }
        } else {
            let (makeup_db, mix) = (self.makeup_db.value() as f32, self.mix.value() as f32);
            values.iter_mut().for_each(|value| *value = mixed(*value, makeup_db, mix));
        }
        for ((left, right), gain) in left.iter_mut().zip(right).zip(values) {
            (*left, *right) = (*left * gain, *right * gain);
        }
    }
}

impl Effect for Compressor {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.key.reset();
        self.detector.reset();
        self.curve.jump();
        self.ballistics.reset();
        self.makeup_db.jump();
        self.auto_makeup.jump();
        self.mix.jump();
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        let switch_frames = glide_frames.max(self.switch_frames);
        match parameter {
            0 => self.curve.threshold_db.set(value, glide_frames),
            1 => self.curve.ratio.set(value, glide_frames),
            2 => self.curve.knee_db.set(value, glide_frames),
            3 => self.ballistics.set_attack_ms(value, glide_frames),
            4 => self.ballistics.set_release_ms(value, glide_frames),
            5 => self.detector.set_rms_share(value, switch_frames),
            6 => self.key.set_high_pass_hz(value, glide_frames),
            7 => self.makeup_db.set(value, glide_frames),
            8 => self.auto_makeup.set(value, switch_frames),
            _ => self.mix.set(value, glide_frames),
        }
    }

    fn is_still(&self) -> bool {
        self.key.is_still() && self.detector.is_still() && self.ballistics.is_still()
    }

    #[inline(always)]
    fn process(&mut self, audio: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        let frames = audio[0].len();
        self.pass(frames);
        if frames > CONTROL_FRAMES {
            self.compress::<LONGEST_FRAMES>(audio, side);
        } else {
            self.compress::<CONTROL_FRAMES>(audio, side);
        }
    }

    fn rest(&mut self, frames: usize) -> bool {
        let glides = [&self.makeup_db, &self.auto_makeup, &self.mix];
        let rests = self.key.rests()
            && self.detector.rests()
            && self.curve.is_at_rest()
            && self.ballistics.rests()
            && glides.iter().all(|glide| glide.is_at_rest());
        if rests {
            self.pass(frames);
        }
        rests
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        Some(self.ballistics.reduction_db())
    }
}

/// Measures the level of the louder channel.
struct Detector {
    /// 1 while it measures the root of the mean square.
    rms_share: Glide,
    /// Whether it measures both until the next control place.
    blends: bool,
    mean_squares: f64x2,
    /// What is left of a mean square after a frame.
    keep: f64,
}

/// Below this a mean square is silence: 300 dB below full scale.
const SILENT_SQUARE: f64 = 1e-30;

impl Detector {
    fn new(sample_rate_hz: u32) -> Self {
        let frames = RMS_MS / 1_000.0 * f64::from(sample_rate_hz);
        Self {
            rms_share: Glide::new(0.0),
            blends: false,
            mean_squares: f64x2::ZERO,
            keep: libm::exp(-1.0 / frames),
        }
    }

    fn reset(&mut self) {
        self.rms_share.jump();
        self.blends = false;
        self.mean_squares = f64x2::ZERO;
    }

    fn set_rms_share(&mut self, share: f64, glide_frames: u32) {
        self.rms_share.set(share, glide_frames);
        self.blends = true;
    }

    /// To be called at control places.
    fn refresh(&mut self) {
        self.blends = !self.rms_share.is_at_rest();
        if !self.blends && self.rms_share.target() == 0.0 {
            self.mean_squares = f64x2::ZERO;
        }
    }

    /// Whether [`Self::refresh`] would do nothing.
    fn is_still(&self) -> bool {
        !self.blends
    }

    fn rests(&self) -> bool {
        !self.blends && self.mean_squares.to_array() == [0.0; 2]
    }

    /// Lets what is left end; to be called at fixed places of the clock.
    fn hush(&mut self) {
        let [left, right] = self.mean_squares.to_array();
        let flush = |square| if square < SILENT_SQUARE { 0.0 } else { square };
        self.mean_squares = f64x2::from([flush(left), flush(right)]);
    }

    /// Puts the levels of some frames in dBFS.
    #[inline(always)]
    fn levels_db<const FRAMES: usize>(&mut self, key: [&[f32]; 2], levels_db: &mut Step<FRAMES>) {
        if !self.blends && self.rms_share.target() == 1.0 {
            return self.rms_levels_db(key, levels_db);
        }
        peak_levels_db(key, levels_db);
        if self.blends {
            let mut rms_levels_db = [0.0; FRAMES];
            self.rms_levels_db(key, &mut rms_levels_db);
            let share: Step<FRAMES> = self.rms_share.steps(key[0].len());
            for ((level, rms_level), share) in levels_db.iter_mut().zip(rms_levels_db).zip(share) {
                *level += share * (rms_level - *level);
            }
        }
    }

    #[inline(always)]
    fn rms_levels_db(&mut self, [left, right]: [&[f32]; 2], levels_db: &mut [f32]) {
        for ((level, left), right) in levels_db.iter_mut().zip(left).zip(right) {
            let values = f64x2::from([f64::from(*left), f64::from(*right)]);
            self.mean_squares = self.mean_squares * self.keep + values * values * (1.0 - self.keep);
            let [left, right] = self.mean_squares.to_array();
            *level = (if left > right { left } else { right }) as f32;
        }
        levels_db.iter_mut().for_each(|level| *level = 0.5 * level_db(*level));
    }
}

//! Gate and expander: turns down what is below a threshold.

use super::ballistics::TimeConstant;
use super::best::best;
use super::decibels::{gain, higher, level_db, lower, peak_levels_db};
use super::key::{HIGH_PASS_OFF_HZ, Key};
use super::step::Step;
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit, memory};

/// A gate with a side-chain; an expander at low ratios.
///
/// - `threshold_db`: the peak level, in dBFS, at which it opens.
/// - `ratio`: decibels that each decibel below the threshold becomes.
/// - `range_db`: most that it turns down.
/// - `hysteresis_db`: how far below the threshold the level has to fall before an open gate closes.
/// - `attack_ms`: time constant of opening (63 % of the way in decibels).
/// - `hold_ms`: how long it stays as it is once the level has fallen. Half a period of the lowest
///   tone or more keeps it from following the wave.
/// - `release_ms`: time constant of closing.
/// - `side_high_pass_hz`: what lies below does not count, 12 dB an octave; 20 Hz: off.
pub(super) static GATE: EffectKind = EffectKind {
    id: "gate",
    name: "Gate",
    parameters: &[
        Parameter::linear("threshold_db", "Threshold", Unit::Decibels, [-80.0, 0.0], THRESHOLD_DB),
        Parameter::logarithmic("ratio", "Ratio", Unit::Ratio, [1.0, 100.0], RATIO),
        Parameter::linear("range_db", "Range", Unit::Decibels, [0.0, 120.0], RANGE_DB),
        Parameter::linear("hysteresis_db", "Hysteresis", Unit::Decibels, [0.0, 24.0], HYSTERESIS_DB),
        Parameter::logarithmic("attack_ms", "Attack", Unit::Milliseconds, [0.05, 100.0], ATTACK_MS),
        Parameter::linear("hold_ms", "Hold", Unit::Milliseconds, [0.0, 1_000.0], HOLD_MS),
        Parameter::logarithmic("release_ms", "Release", Unit::Milliseconds, [2.0, 3_000.0], RELEASE_MS),
        Parameter::logarithmic(
            "side_high_pass_hz",
            "Side-chain high-pass",
            Unit::Hertz,
            [HIGH_PASS_OFF_HZ, 8_000.0],
            HIGH_PASS_OFF_HZ,
        ),
    ],
    has_side_chain: true,
    impulse_max_secs: None,
    make: |config| best(Gate::new(config)),
    memory_bytes: memory::inline_bytes::<Gate>,
};

const THRESHOLD_DB: f64 = -50.0;
const RATIO: f64 = 10.0;
const RANGE_DB: f64 = 60.0;
const HYSTERESIS_DB: f64 = 4.0;
const ATTACK_MS: f64 = 0.5;
const HOLD_MS: f64 = 25.0;
const RELEASE_MS: f64 = 80.0;

/// Below this, in decibels, a reduction is none.
const NO_REDUCTION_DB: f64 = 1e-9;

struct Gate {
    clock: u64,
    frames_per_ms: f64,
    key: Key,
    threshold_db: Glide,
    ratio: Glide,
    range_db: Glide,
    hysteresis_db: Glide,
    hold_ms: Glide,
    attack: TimeConstant,
    release: TimeConstant,
    /// Frames of a hold.
    hold_frames: u32,
    /// Frames that are left of the hold.
    held_frames: u32,
    /// Whether the level has reached the threshold and the gate has not closed since.
    is_open: bool,
    reduction_db: f64,
}

impl Gate {
    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        let mut gate = Self {
            clock: 0,
            frames_per_ms: f64::from(rate_hz) / 1_000.0,
            key: Key::new(HIGH_PASS_OFF_HZ, rate_hz),
            threshold_db: Glide::new(THRESHOLD_DB),
            ratio: Glide::new(RATIO),
            range_db: Glide::new(RANGE_DB),
            hysteresis_db: Glide::new(HYSTERESIS_DB),
            hold_ms: Glide::new(HOLD_MS),
            attack: TimeConstant::new(ATTACK_MS, rate_hz),
            release: TimeConstant::new(RELEASE_MS, rate_hz),
            hold_frames: 0,
            held_frames: 0,
            is_open: false,
            reduction_db: 0.0,
        };
        gate.reset(0);
        gate
    }

    /// Computes what moves slowly; to be called at every control place.
    fn refresh(&mut self) {
        self.key.refresh();
        self.attack.refresh();
        self.release.refresh();
        self.hold_frames = libm::round(self.hold_ms.value() * self.frames_per_ms) as u32;
        self.key.hush();
        if self.reduction_db < NO_REDUCTION_DB {
            self.reduction_db = 0.0;
        }
    }

    /// Turns levels into what the gate does.
    fn follow(&mut self, levels_db: &mut Step, frames: usize) {
        let thresholds_db = self.threshold_db.step(frames);
        let ratios = self.ratio.step(frames);
        let ranges_db = self.range_db.step(frames);
        let hystereses_db = self.hysteresis_db.step(frames);
        let mut targets_db = [0.0; CONTROL_FRAMES];
        for (frame, target_db) in targets_db.iter_mut().enumerate() {
            let below_db = higher(thresholds_db[frame] - levels_db[frame], 0.0);
            *target_db = lower(below_db * (ratios[frame] - 1.0), ranges_db[frame]);
        }
        for (frame, level_db) in levels_db.iter_mut().enumerate().take(frames) {
            let threshold_db = thresholds_db[frame];
            let closing_db = if self.is_open { threshold_db - hystereses_db[frame] } else { threshold_db };
            let target_db = if *level_db >= closing_db { 0.0 } else { targets_db[frame] };
            self.is_open |= *level_db >= threshold_db;
            *level_db = self.go(f64::from(target_db)) as f32;
        }
        self.hold_ms.pass(frames);
        self.attack.pass(frames);
        self.release.pass(frames);
    }

    /// The reduction of a frame, on its way to a target.
    #[inline(always)]
    fn go(&mut self, target_db: f64) -> f64 {
        let keep = if target_db <= self.reduction_db {
            self.held_frames = self.hold_frames;
            self.attack.keep()
        } else if self.held_frames > 0 {
            self.held_frames -= 1;
            return self.reduction_db;
        } else {
            self.is_open = false;
            self.release.keep()
        };
        self.reduction_db = keep * self.reduction_db + (1.0 - keep) * target_db;
        self.reduction_db
    }
}

impl Effect for Gate {
    /// Closed, as after a long silence.
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.key.reset();
        self.threshold_db.jump();
        self.ratio.jump();
        self.range_db.jump();
        self.hysteresis_db.jump();
        self.hold_ms.jump();
        self.attack.jump();
        self.release.jump();
        self.refresh();
        self.held_frames = 0;
        self.is_open = false;
        let below_db = self.threshold_db.value() - f64::from(level_db(0.0));
        self.reduction_db = (below_db * (self.ratio.value() - 1.0)).min(self.range_db.value());
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        match parameter {
            0 => self.threshold_db.set(value, glide_frames),
            1 => self.ratio.set(value, glide_frames),
            2 => self.range_db.set(value, glide_frames),
            3 => self.hysteresis_db.set(value, glide_frames),
            4 => self.attack.set(value, glide_frames),
            5 => self.hold_ms.set(value, glide_frames),
            6 => self.release.set(value, glide_frames),
            _ => self.key.set_high_pass_hz(value, glide_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        let frames = left.len();
        if self.clock.is_multiple_of(CONTROL_FRAMES as u64) {
            self.refresh();
        }
        self.clock += frames as u64;

        let mut room: Option<[Step; 2]> = None;
        let key = self.key.hear([&*left, &*right], side, &mut room);
        let mut values = [0.0; CONTROL_FRAMES];
        peak_levels_db(key, &mut values);
        self.follow(&mut values, frames);
        values.iter_mut().for_each(|value| *value = gain(-*value));
        for ((left, right), gain) in left.iter_mut().zip(right).zip(values) {
            (*left, *right) = (*left * gain, *right * gain);
        }
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        Some(self.reduction_db as f32)
    }
}

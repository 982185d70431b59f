//! Gate and expander: attenuates levels below a threshold.

use super::detector_input::{DetectorInput, HIGH_PASS_OFF_HZ};
use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::ballistics::TimeConstant;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::control_block::ControlBlock;
use crate::dsp::decibels::{gain, higher, level_db, lower, peak_levels_db};
use crate::dsp::smoothed_value::SmoothedValue;

/// A gate with a side-chain, which is an expander at low ratios.
pub(super) static GATE: EffectKind = EffectKind {
    id: "gate",
    name: "Gate",
    group: Group::Dynamics,
    parameters: GateParam::TABLE,
    has_side_chain: true,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Gate::new(config)),
    memory_bytes: inline_bytes::<Gate>,
};

parameters! {
    enum GateParam {
        /// Peak level in dBFS at which the gate opens.
        ThresholdDb = linear("threshold_db", "Threshold", Unit::Decibels, [-80.0, 0.0], -50.0),
        /// Decibels by which the output falls for each decibel of input below the threshold.
        Ratio = logarithmic("ratio", "Ratio", Unit::Ratio, [1.0, 100.0], 10.0),
        /// Maximum reduction in decibels.
        RangeDb = linear("range_db", "Range", Unit::Decibels, [0.0, 120.0], 60.0),
        /// Distance in decibels below the threshold at which an open gate closes.
        HysteresisDb = linear("hysteresis_db", "Hysteresis", Unit::Decibels, [0.0, 24.0], 4.0),
        /// Time constant of the gain while the gate opens: the time for 63 % of a step in decibels.
        AttackMs = logarithmic("attack_ms", "Attack", Unit::Milliseconds, [0.05, 100.0], 0.5),
        /// Time for which the gain stays constant after the level has fallen. If the time is at
        /// least half a period of the lowest tone, the gain does not follow the waveform.
        HoldMs = linear("hold_ms", "Hold", Unit::Milliseconds, [0.0, 1_000.0], 25.0),
        /// Time constant of the gain while the gate closes: the time for 63 % of a step in
        /// decibels.
        ReleaseMs = logarithmic("release_ms", "Release", Unit::Milliseconds, [2.0, 3_000.0], 80.0),
        /// Cut-off of the detector's high-pass filter of 12 dB per octave. At 20 Hz the filter is
        /// off.
        SideHighPassHz = logarithmic(
            "side_high_pass_hz",
            "Side-chain high-pass",
            Unit::Hertz,
            [HIGH_PASS_OFF_HZ, 8_000.0],
            HIGH_PASS_OFF_HZ,
        ),
    }
}

/// A reduction of less than this many decibels counts as 0 dB.
const NO_REDUCTION_DB: f64 = 1e-9;

struct Gate {
    next_frame: u64,
    frames_per_ms: f64,
    input: DetectorInput,
    threshold_db: SmoothedValue,
    ratio: SmoothedValue,
    range_db: SmoothedValue,
    hysteresis_db: SmoothedValue,
    hold_ms: SmoothedValue,
    attack: TimeConstant,
    release: TimeConstant,
    /// Length of the hold, in frames.
    hold_frames: u32,
    /// Remaining frames of the hold.
    remaining_hold_frames: u32,
    /// Whether the level has reached the threshold and the gate has not closed since.
    is_open: bool,
    reduction_db: f64,
}

impl Gate {
    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        let mut gate = Self {
            next_frame: 0,
            frames_per_ms: f64::from(rate_hz) / 1_000.0,
            input: DetectorInput::new(HIGH_PASS_OFF_HZ, rate_hz),
            threshold_db: SmoothedValue::new(GateParam::ThresholdDb.default_value()),
            ratio: SmoothedValue::new(GateParam::Ratio.default_value()),
            range_db: SmoothedValue::new(GateParam::RangeDb.default_value()),
            hysteresis_db: SmoothedValue::new(GateParam::HysteresisDb.default_value()),
            hold_ms: SmoothedValue::new(GateParam::HoldMs.default_value()),
            attack: TimeConstant::new(GateParam::AttackMs.default_value(), rate_hz),
            release: TimeConstant::new(GateParam::ReleaseMs.default_value(), rate_hz),
            hold_frames: 0,
            remaining_hold_frames: 0,
            is_open: false,
            reduction_db: 0.0,
        };
        gate.reset(0);
        gate
    }

    /// Computes the values that change at control points.
    fn refresh(&mut self) {
        self.input.refresh();
        self.attack.refresh();
        self.release.refresh();
        self.hold_frames = libm::round(self.hold_ms.value() * self.frames_per_ms) as u32;
        self.input.flush_denormals();
        if self.reduction_db < NO_REDUCTION_DB {
            self.reduction_db = 0.0;
        }
    }

    /// Replaces the levels of the first `frames` frames by smoothed reductions in decibels.
    fn smooth(&mut self, levels_db: &mut ControlBlock, frames: usize) {
        let thresholds_db = self.threshold_db.next_values::<CONTROL_FRAMES>(frames);
        let ratios = self.ratio.next_values::<CONTROL_FRAMES>(frames);
        let ranges_db = self.range_db.next_values::<CONTROL_FRAMES>(frames);
        let hystereses_db = self.hysteresis_db.next_values::<CONTROL_FRAMES>(frames);
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
            *level_db = self.smooth_frame(f64::from(target_db)) as f32;
        }
        self.hold_ms.advance(frames);
        self.attack.advance(frames);
        self.release.advance(frames);
    }

    /// Smooths the reduction of one frame towards a target.
    #[inline(always)]
    fn smooth_frame(&mut self, target_db: f64) -> f64 {
        let decay = if target_db <= self.reduction_db {
            self.remaining_hold_frames = self.hold_frames;
            self.attack.decay()
        } else if self.remaining_hold_frames > 0 {
            self.remaining_hold_frames -= 1;
            return self.reduction_db;
        } else {
            self.is_open = false;
            self.release.decay()
        };
        self.reduction_db = decay * self.reduction_db + (1.0 - decay) * target_db;
        self.reduction_db
    }
}

impl Effect for Gate {
    /// Clears the state. Afterwards the gate is closed, which is its state after a long silence.
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        self.input.reset();
        self.threshold_db.finish();
        self.ratio.finish();
        self.range_db.finish();
        self.hysteresis_db.finish();
        self.hold_ms.finish();
        self.attack.finish();
        self.release.finish();
        self.refresh();
        self.remaining_hold_frames = 0;
        self.is_open = false;
        let below_db = self.threshold_db.value() - f64::from(level_db(0.0));
        self.reduction_db = (below_db * (self.ratio.value() - 1.0)).min(self.range_db.value());
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = GateParam::from_index(parameter) else { return };
        match parameter {
            GateParam::ThresholdDb => self.threshold_db.set_target(value, ramp_frames),
            GateParam::Ratio => self.ratio.set_target(value, ramp_frames),
            GateParam::RangeDb => self.range_db.set_target(value, ramp_frames),
            GateParam::HysteresisDb => self.hysteresis_db.set_target(value, ramp_frames),
            GateParam::AttackMs => self.attack.set_time_ms(value, ramp_frames),
            GateParam::HoldMs => self.hold_ms.set_target(value, ramp_frames),
            GateParam::ReleaseMs => self.release.set_time_ms(value, ramp_frames),
            GateParam::SideHighPassHz => self.input.set_high_pass_hz(value, ramp_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], side_chain: Option<[&[f32]; 2]>) {
        let frames = left.len();
        if self.next_frame.is_multiple_of(CONTROL_FRAMES as u64) {
            self.refresh();
        }
        self.next_frame += frames as u64;

        let mut buffer: Option<[ControlBlock; 2]> = None;
        let input = self.input.read([&*left, &*right], side_chain, &mut buffer);
        let mut values = [0.0; CONTROL_FRAMES];
        peak_levels_db(input, &mut values);
        self.smooth(&mut values, frames);
        values.iter_mut().for_each(|value| *value = gain(-*value));
        for ((left, right), gain) in left.iter_mut().zip(right).zip(values) {
            (*left, *right) = (*left * gain, *right * gain);
        }
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        Some(self.reduction_db as f32)
    }
}

//! Compressor: attenuates levels above a threshold.
//!
//! The design is feed-forward in decibels (Giannoulis, Massberg and Reiss, "Digital Dynamic Range
//! Compressor Design: A Tutorial and Analysis", JAES 60 (6), 2012). The static curve turns the
//! level of the louder channel into a gain reduction, which is then smoothed. Both channels get the
//! same gain.

use super::detector_input::{DetectorInput, HIGH_PASS_OFF_HZ};
use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ChoiceEnum, ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::ballistics::Ballistics;
use crate::dsp::control::{CONTROL_FRAMES, LONGEST_FRAMES};
use crate::dsp::control_block::ControlBlock;
use crate::dsp::decibels::gain;
use crate::dsp::gain_computer::SmoothedGainComputer;
use crate::dsp::level_detector::LevelDetector;
use crate::dsp::smoothed_value::SmoothedValue;

/// A compressor with a side-chain.
pub(super) static COMPRESSOR: EffectKind = EffectKind {
    id: "compressor",
    name: "Compressor",
    group: Group::Dynamics,
    parameters: CompressorParam::TABLE,
    has_side_chain: true,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Compressor::new(config)),
    memory_bytes: inline_bytes::<Compressor>,
};

parameters! {
    enum CompressorParam {
        /// Level in dBFS above which the compressor attenuates.
        ThresholdDb = linear("threshold_db", "Threshold", Unit::Decibels, [-60.0, 0.0], -20.0),
        /// Decibels of input above the threshold per decibel of output.
        Ratio = logarithmic("ratio", "Ratio", Unit::Ratio, [1.0, 100.0], 3.0),
        /// Width of the transition around the threshold, in decibels.
        KneeDb = linear("knee_db", "Knee", Unit::Decibels, [0.0, 24.0], 6.0),
        /// Time constant of a rising reduction: the time for 63 % of a step in decibels.
        AttackMs = logarithmic("attack_ms", "Attack", Unit::Milliseconds, [0.05, 250.0], 10.0),
        /// Time constant of a falling reduction: the time for 63 % of a step in decibels.
        ReleaseMs = logarithmic("release_ms", "Release", Unit::Milliseconds, [5.0, 3_000.0], 120.0),
        /// The level that the detector measures: the peak of each frame, or the root mean square
        /// with a time constant of 10 ms. The root mean square of a sine is 3 dB below its peak.
        Detector = choice("detector", "Detector", Detector::NAMES, Detector::Peak as usize),
        /// Cut-off of the detector's high-pass filter of 12 dB per octave. At 20 Hz the filter is
        /// off.
        SideHighPassHz = logarithmic(
            "side_high_pass_hz",
            "Side-chain high-pass",
            Unit::Hertz,
            [HIGH_PASS_OFF_HZ, 2_000.0],
            HIGH_PASS_OFF_HZ,
        ),
        /// Gain after the compression, in decibels.
        MakeupDb = linear("makeup_db", "Make-up", Unit::Decibels, [-12.0, 36.0], 0.0),
        /// Whether the make-up gain also includes half of the reduction that a level of 0 dBFS
        /// gets.
        AutoMakeup = switch("auto_makeup", "Auto make-up", false),
        /// Proportion of the compressed signal; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 1.0),
    }
}

choices! {
    /// The level that the detector measures.
    enum Detector { Peak = "Peak", Rms = "RMS" }
}

/// Minimum ramp time of switches and choices, in seconds.
const SWITCH_SECS: f64 = 0.02;

/// Proportion of the reduction at full scale that automatic make-up gain restores.
const AUTO_MAKEUP_PROPORTION: f32 = 0.5;

struct Compressor {
    /// Session time of the next frame, in frames.
    next_frame: u64,
    switch_frames: u32,
    input: DetectorInput,
    detector: LevelDetector,
    curve: SmoothedGainComputer,
    ballistics: Ballistics,
    makeup_db: SmoothedValue,
    /// 1 while make-up gain is automatic, 0 otherwise.
    auto_makeup: SmoothedValue,
    mix: SmoothedValue,
}

impl Compressor {
    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        Self {
            next_frame: 0,
            switch_frames: (SWITCH_SECS * f64::from(rate_hz)) as u32,
            input: DetectorInput::new(HIGH_PASS_OFF_HZ, rate_hz),
            detector: LevelDetector::new(rate_hz),
            curve: SmoothedGainComputer {
                threshold_db: SmoothedValue::new(CompressorParam::ThresholdDb.default_value()),
                ratio: SmoothedValue::new(CompressorParam::Ratio.default_value()),
                knee_db: SmoothedValue::new(CompressorParam::KneeDb.default_value()),
            },
            ballistics: Ballistics::new(
                CompressorParam::AttackMs.default_value(),
                CompressorParam::ReleaseMs.default_value(),
                rate_hz,
            ),
            makeup_db: SmoothedValue::new(CompressorParam::MakeupDb.default_value()),
            auto_makeup: SmoothedValue::new(CompressorParam::AutoMakeup.default_value()),
            mix: SmoothedValue::new(CompressorParam::Mix.default_value()),
        }
    }

    /// Advances by `frames` frames.
    fn advance(&mut self, frames: usize) {
        if self.next_frame.is_multiple_of(CONTROL_FRAMES as u64) {
            self.input.refresh();
            self.detector.refresh();
            self.ballistics.refresh();
        }
        // A call may cross control points, but never a multiple of `LONGEST_FRAMES`. The result
        // thus does not depend on the call size.
        if self.next_frame.is_multiple_of(LONGEST_FRAMES as u64) {
            self.input.flush_denormals();
            self.detector.flush_denormals();
            self.ballistics.flush_denormals();
        }
        self.next_frame += frames as u64;
    }

    /// Whether automatic make-up gain is off, and the manual make-up gain and the mix are steady.
    fn is_steady(&self) -> bool {
        let is_manual = self.auto_makeup.is_steady() && self.auto_makeup.target() == 0.0;
        is_manual && self.makeup_db.is_steady() && self.mix.is_steady()
    }

    /// Returns the make-up gain of each frame in decibels. The caller advances the gain computer
    /// only afterwards.
    #[inline(always)]
    fn makeups_db<const FRAMES: usize>(&mut self, frames: usize) -> ControlBlock<FRAMES> {
        let mut makeups_db = self.makeup_db.next_values(frames);
        if self.auto_makeup.is_steady() && self.auto_makeup.target() == 0.0 {
            return makeups_db;
        }
        let mut at_full_scale_db = [0.0; FRAMES];
        self.curve.clone().reduce(&mut at_full_scale_db, frames);
        let auto: ControlBlock<FRAMES> = self.auto_makeup.next_values(frames);
        for ((makeup, reduction), auto) in makeups_db.iter_mut().zip(at_full_scale_db).zip(auto) {
            *makeup += auto * AUTO_MAKEUP_PROPORTION * reduction;
        }
        makeups_db
    }

    /// Processes at most `FRAMES` frames in place.
    #[inline(always)]
    fn compress<const FRAMES: usize>(
        &mut self,
        [left, right]: [&mut [f32]; 2],
        side_chain: Option<[&[f32]; 2]>,
    ) {
        let frames = left.len();
        let (mut buffer, mut values) = (None, [0.0; FRAMES]);
        let input = self.input.read::<FRAMES>([&*left, &*right], side_chain, &mut buffer);
        self.detector.levels_db(input, &mut values);
        let ramps = (!self.is_steady())
            .then(|| (self.makeups_db::<FRAMES>(frames), self.mix.next_values::<FRAMES>(frames)));
        self.curve.reduce(&mut values, frames);
        self.ballistics.smooth(&mut values, frames);
        let mixed_value =
            |reduction_db: f32, makeup_db: f32, mix: f32| 1.0 + mix * (gain(makeup_db - reduction_db) - 1.0);
        if let Some((makeups_db, mix)) = ramps {
            for ((value, makeup_db), mix) in values.iter_mut().zip(makeups_db).zip(mix) {
                *value = mixed_value(*value, makeup_db, mix);
            }
        } else {
            let (makeup_db, mix) = (self.makeup_db.value() as f32, self.mix.value() as f32);
            values.iter_mut().for_each(|value| *value = mixed_value(*value, makeup_db, mix));
        }
        for ((left, right), gain) in left.iter_mut().zip(right).zip(values) {
            (*left, *right) = (*left * gain, *right * gain);
        }
    }
}

impl Effect for Compressor {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        self.input.reset();
        self.detector.reset();
        self.curve.finish();
        self.ballistics.reset();
        self.makeup_db.finish();
        self.auto_makeup.finish();
        self.mix.finish();
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = CompressorParam::from_index(parameter) else { return };
        let switch_frames = ramp_frames.max(self.switch_frames);
        match parameter {
            CompressorParam::ThresholdDb => self.curve.threshold_db.set_target(value, ramp_frames),
            CompressorParam::Ratio => self.curve.ratio.set_target(value, ramp_frames),
            CompressorParam::KneeDb => self.curve.knee_db.set_target(value, ramp_frames),
            CompressorParam::AttackMs => self.ballistics.set_attack_ms(value, ramp_frames),
            CompressorParam::ReleaseMs => self.ballistics.set_release_ms(value, ramp_frames),
            CompressorParam::Detector => {
                let rms_fraction = match Detector::from_value(value) {
                    Detector::Peak => 0.0,
                    Detector::Rms => 1.0,
                };
                self.detector.set_rms_fraction(rms_fraction, switch_frames);
            }
            CompressorParam::SideHighPassHz => self.input.set_high_pass_hz(value, ramp_frames),
            CompressorParam::MakeupDb => self.makeup_db.set_target(value, ramp_frames),
            CompressorParam::AutoMakeup => self.auto_makeup.set_target(value, switch_frames),
            CompressorParam::Mix => self.mix.set_target(value, ramp_frames),
        }
    }

    fn needs_no_control_points(&self) -> bool {
        self.input.is_steady() && self.detector.is_steady() && self.ballistics.is_steady()
    }

    #[inline(always)]
    fn process(&mut self, audio: [&mut [f32]; 2], side_chain: Option<[&[f32]; 2]>) {
        let frames = audio[0].len();
        self.advance(frames);
        if frames > CONTROL_FRAMES {
            self.compress::<LONGEST_FRAMES>(audio, side_chain);
        } else {
            self.compress::<CONTROL_FRAMES>(audio, side_chain);
        }
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        let smoothed_values = [&self.makeup_db, &self.auto_makeup, &self.mix];
        let is_idle = self.input.is_idle()
            && self.detector.is_idle()
            && self.curve.is_steady()
            && self.ballistics.is_idle()
            && smoothed_values.iter().all(|smoothed| smoothed.is_steady());
        if is_idle {
            self.advance(frames);
        }
        is_idle
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        Some(self.ballistics.reduction_db())
    }
}

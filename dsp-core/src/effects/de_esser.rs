//! De-esser: attenuates sibilance.

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ChoiceEnum, ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::ballistics::Ballistics;
use crate::dsp::band_split::{BandSplit, Bands};
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::control_block::ControlBlock;
use crate::dsp::decibels::{gain, lower, peak_levels_db};
use crate::dsp::gain_computer::SmoothedGainComputer;
use crate::dsp::smoothed_value::SmoothedValue;

/// A compressor with a high-pass filter before its detector.
///
/// In split mode the de-esser is a dynamic high shelf. A second-order Butterworth filter splits the
/// input into the bands `low`, `middle` and `high`. With a gain `g`, the output is `low + sqrt(g)
/// middle + g high`. At `w` times `frequency_hz`, the shelf has a gain of `sqrt((1 + g^2 w^4) / (1
/// + w^4))`, which falls monotonically over `w`. Without reduction the output equals the input.
///
/// The time constants are 0.5 ms and 40 ms: sibilance begins fast and ends before the next vowel.
pub(super) static DE_ESSER: EffectKind = EffectKind {
    id: "de_esser",
    name: "De-esser",
    group: Group::Dynamics,
    parameters: DeEsserParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(DeEsser::new(config)),
    memory_bytes: inline_bytes::<DeEsser>,
};

parameters! {
    enum DeEsserParam {
        /// Whether the reduction applies to high frequencies or to the whole signal.
        Mode = choice("mode", "Mode", Mode::NAMES, Mode::Split as usize),
        /// Cut-off of the detector's high-pass filter of 12 dB per octave.
        FrequencyHz = logarithmic("frequency_hz", "Frequency", Unit::Hertz, [1_000.0, 16_000.0], 5_500.0),
        /// Peak level of the detector's input in dBFS above which the ratio is infinite. The knee
        /// is 6 dB wide.
        ThresholdDb = linear("threshold_db", "Threshold", Unit::Decibels, [-60.0, 0.0], -28.0),
        /// Maximum reduction in decibels.
        RangeDb = linear("range_db", "Range", Unit::Decibels, [0.0, 24.0], 8.0),
        /// Whether the output is the detector's input.
        Listen = switch("listen", "Listen", false),
    }
}

choices! {
    /// The frequencies to which the reduction applies.
    enum Mode {
        /// Frequencies above the cut-off.
        Split = "Split",
        /// All frequencies.
        Wide = "Wide",
    }
}

/// Width of the knee in decibels, and time constants of the reduction in milliseconds.
const KNEE_DB: f64 = 6.0;
const ATTACK_MS: f64 = 0.5;
const RELEASE_MS: f64 = 40.0;

/// Minimum ramp time of switches and choices, in seconds.
const SWITCH_SECS: f64 = 0.02;

struct DeEsser {
    /// Session time of the next frame, in frames.
    next_frame: u64,
    switch_frames: u32,
    filter: BandSplit,
    curve: SmoothedGainComputer,
    range_db: SmoothedValue,
    ballistics: Ballistics,
    /// 1 in wide mode and 0 in split mode.
    wide_fraction: SmoothedValue,
    /// 1 while the output is the detector's input, 0 otherwise.
    listen: SmoothedValue,
}

impl DeEsser {
    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        Self {
            next_frame: 0,
            switch_frames: (SWITCH_SECS * f64::from(rate_hz)) as u32,
            filter: BandSplit::new(DeEsserParam::FrequencyHz.default_value(), rate_hz),
            curve: SmoothedGainComputer {
                threshold_db: SmoothedValue::new(DeEsserParam::ThresholdDb.default_value()),
                ratio: SmoothedValue::new(f64::INFINITY),
                knee_db: SmoothedValue::new(KNEE_DB),
            },
            range_db: SmoothedValue::new(DeEsserParam::RangeDb.default_value()),
            ballistics: Ballistics::new(ATTACK_MS, RELEASE_MS, rate_hz),
            wide_fraction: SmoothedValue::new(0.0),
            listen: SmoothedValue::new(DeEsserParam::Listen.default_value()),
        }
    }

    /// Advances by `frames` frames, which do not cross a control point.
    fn advance(&mut self, frames: usize) {
        if self.next_frame.is_multiple_of(CONTROL_FRAMES as u64) {
            self.filter.refresh();
            self.filter.flush_denormals();
            self.ballistics.refresh();
            self.ballistics.flush_denormals();
        }
        self.next_frame += frames as u64;
    }

    /// Replaces levels in decibels by the square roots of the linear gains.
    fn replace_by_gain_roots(&mut self, values: &mut ControlBlock, frames: usize) {
        self.curve.reduce(values, frames);
        for (value, range_db) in values.iter_mut().zip(self.range_db.next_values::<CONTROL_FRAMES>(frames)) {
            *value = lower(*value, range_db);
        }
        self.ballistics.smooth(values, frames);
        values.iter_mut().for_each(|value| *value = gain(-0.5 * *value));
    }
}

impl Effect for DeEsser {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        self.filter.reset();
        self.curve.finish();
        self.range_db.finish();
        self.ballistics.reset();
        self.wide_fraction.finish();
        self.listen.finish();
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = DeEsserParam::from_index(parameter) else { return };
        let switch_frames = ramp_frames.max(self.switch_frames);
        match parameter {
            DeEsserParam::Mode => {
                let wide_fraction = match Mode::from_value(value) {
                    Mode::Split => 0.0,
                    Mode::Wide => 1.0,
                };
                self.wide_fraction.set_target(wide_fraction, switch_frames);
            }
            DeEsserParam::FrequencyHz => self.filter.set_frequency_hz(value, ramp_frames),
            DeEsserParam::ThresholdDb => self.curve.threshold_db.set_target(value, ramp_frames),
            DeEsserParam::RangeDb => self.range_db.set_target(value, ramp_frames),
            DeEsserParam::Listen => self.listen.set_target(value, switch_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        let frames = left.len();
        self.advance(frames);
        let bands: Bands<CONTROL_FRAMES> = self.filter.split([&*left, &*right]);
        let mut gain_roots = [0.0; CONTROL_FRAMES];
        peak_levels_db(bands.high.each_ref().map(|band| &band[..]), &mut gain_roots);
        self.replace_by_gain_roots(&mut gain_roots, frames);
        let wide_fraction =
            (!is_off(&self.wide_fraction)).then(|| self.wide_fraction.next_values::<CONTROL_FRAMES>(frames));
        let listen = (!is_off(&self.listen)).then(|| self.listen.next_values::<CONTROL_FRAMES>(frames));
        for (channel, values) in [left, right].into_iter().enumerate() {
            let (middles, highs) = (&bands.middle[channel], &bands.high[channel]);
            let mut output = [0.0; CONTROL_FRAMES];
            for (frame, (output, value)) in output.iter_mut().zip(&*values).enumerate() {
                let gain_root = gain_roots[frame];
                *output = *value
                    - middles[frame] * (1.0 - gain_root)
                    - highs[frame] * (1.0 - gain_root * gain_root);
            }
            for (frame, wide_fraction) in wide_fraction.iter().flatten().enumerate().take(frames) {
                output[frame] +=
                    wide_fraction * (values[frame] * gain_roots[frame] * gain_roots[frame] - output[frame]);
            }
            for (frame, listen) in listen.iter().flatten().enumerate().take(frames) {
                output[frame] += listen * (highs[frame] - output[frame]);
            }
            values.copy_from_slice(&output[..frames]);
        }
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        let smoothed_values = [&self.range_db, &self.wide_fraction, &self.listen];
        let is_idle = self.filter.is_idle()
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

/// Whether a switch is off and steady.
fn is_off(switch: &SmoothedValue) -> bool {
    switch.is_steady() && switch.target() == 0.0
}

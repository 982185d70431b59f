//! Limiter: limits the true peak.

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::ballistics::TimeConstant;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::control_block::ControlBlock;
use crate::dsp::decibels::gain;
use crate::dsp::delay_line::DelayLine;
use crate::dsp::memory::values_bytes;
use crate::dsp::smoothed_value::SmoothedValue;
use crate::dsp::true_peak_limit::{LATENCY_FRAMES as PEAK_LATENCY_FRAMES, TruePeakDetector};
use crate::gain::to_db;
use crate::lookahead::LookaheadGain;

/// A look-ahead limiter of the true peak (ITU-R BS.1770-5, annex 2).
///
/// [`LookaheadGain`] computes the gain from the true peaks, which include peaks between the
/// samples. A signal below the ceiling passes unchanged. The latency is the look-ahead of 2 ms plus
/// the latency of the peak detector. The gain falls within the look-ahead.
///
/// For signals band-limited to 0.48 times the sample rate, the true peak exceeds the ceiling by at
/// most 0.2 dB at any release time. The detector underestimates content above that frequency: the
/// waveform of white noise exceeds the ceiling by up to 1 dB between its samples. The error falls
/// with the square root of the number of taps. A quarter of the error would need sixteen times as
/// many taps and, at 48 kHz, 7.5 ms more latency.
pub(super) static LIMITER: EffectKind = EffectKind {
    id: "limiter",
    name: "Limiter",
    group: Group::Dynamics,
    parameters: LimiterParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Limiter::new(config)),
    memory_bytes: Limiter::memory_bytes,
};

parameters! {
    enum LimiterParam {
        /// Gain before the limiter, in decibels.
        InputGainDb = linear("input_gain_db", "Input gain", Unit::Decibels, [-12.0, 36.0], 0.0),
        /// Highest true peak of the output, in dBTP.
        CeilingDbtp = linear("ceiling_dbtp", "Ceiling", Unit::Decibels, [-24.0, 0.0], -1.0),
        /// Time constant of the gain's recovery: the time for 63 % of a step of the linear gain.
        ReleaseMs = logarithmic("release_ms", "Release", Unit::Milliseconds, [5.0, 1_000.0], 80.0),
    }
}

/// Time in which the gain falls before a peak, in seconds.
const LOOKAHEAD_SECS: f64 = 0.002;

/// Frames on either side of a peak that get the gain of the peak. The waveform between two frames
/// depends on the frames around them.
const MARGIN_FRAMES: usize = 2;

/// Headroom below the ceiling in decibels, for the error of the peak detector above 0.48 times the
/// sample rate.
const HEADROOM_DB: f32 = 0.1;

struct Limiter {
    next_frame: u64,
    input_gain_db: SmoothedValue,
    ceiling_db: SmoothedValue,
    release: TimeConstant,
    true_peak: TruePeakDetector,
    gain: LookaheadGain,
    /// Gain of the last frame of the output.
    last_gain: f32,
    delays: [DelayLine; 2],
}

impl Limiter {
    /// Returns the size of both delays, of the required gains, of the look-ahead gains in double
    /// precision and of the effect itself in bytes.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        let lookahead_frames = (LOOKAHEAD_SECS * f64::from(sample_rate_hz)) as usize;
        values_bytes(5 * (lookahead_frames + PEAK_LATENCY_FRAMES + 3 * MARGIN_FRAMES))
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        let average_frames = libm::round(LOOKAHEAD_SECS * f64::from(rate_hz)) as usize;
        // The detector finds a peak between two frames `PEAK_LATENCY_FRAMES` frames after the first
        // of them. The gain reaches the gain of the peak `average_frames - 1` frames later.
        // `MARGIN_FRAMES` more frames let the gain cover the margin before the peak.
        let delay_frames = average_frames - 1 + PEAK_LATENCY_FRAMES + MARGIN_FRAMES;
        Self {
            next_frame: 0,
            input_gain_db: SmoothedValue::new(LimiterParam::InputGainDb.default_value()),
            ceiling_db: SmoothedValue::new(LimiterParam::CeilingDbtp.default_value()),
            release: TimeConstant::new(LimiterParam::ReleaseMs.default_value(), rate_hz),
            true_peak: TruePeakDetector::new(),
            gain: LookaheadGain::new(average_frames, average_frames + 1 + 2 * MARGIN_FRAMES),
            last_gain: 1.0,
            delays: [DelayLine::new(delay_frames), DelayLine::new(delay_frames)],
        }
    }

    #[inline(always)]
    fn amplify(&mut self, audio: [&mut [f32]; 2]) {
        if self.input_gain_db.is_steady() && self.input_gain_db.target() == 0.0 {
            return;
        }
        let gains = smoothed_gains(&mut self.input_gain_db, audio[0].len(), 0.0);
        for values in audio {
            values.iter_mut().zip(&gains).for_each(|(value, gain)| *value *= gain);
        }
    }

    #[inline(always)]
    fn ceilings(&mut self, frames: usize) -> ControlBlock {
        smoothed_gains(&mut self.ceiling_db, frames, -HEADROOM_DB)
    }
}

/// Returns the gains of the next `frames` frames, which are `offset_db` above the level.
#[inline(always)]
fn smoothed_gains(level_db: &mut SmoothedValue, frames: usize, offset_db: f32) -> ControlBlock {
    if level_db.is_steady() {
        return [gain(level_db.target() as f32 + offset_db); CONTROL_FRAMES];
    }
    let mut gains = level_db.next_values::<CONTROL_FRAMES>(frames);
    gains.iter_mut().for_each(|value| *value = gain(*value + offset_db));
    gains
}

impl Effect for Limiter {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        self.input_gain_db.finish();
        self.ceiling_db.finish();
        self.release.finish();
        self.true_peak.reset();
        self.gain.reset();
        self.last_gain = 1.0;
        self.delays.iter_mut().for_each(DelayLine::clear);
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = LimiterParam::from_index(parameter) else { return };
        match parameter {
            LimiterParam::InputGainDb => self.input_gain_db.set_target(value, ramp_frames),
            LimiterParam::CeilingDbtp => self.ceiling_db.set_target(value, ramp_frames),
            LimiterParam::ReleaseMs => self.release.set_time_ms(value, ramp_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        let frames = left.len();
        if self.next_frame.is_multiple_of(CONTROL_FRAMES as u64) {
            self.release.refresh();
        }
        self.next_frame += frames as u64;

        self.amplify([&mut *left, &mut *right]);
        let ceilings = self.ceilings(frames);
        let mut gains = self.true_peak.compute_gains([&*left, &*right], &ceilings);
        let gains = &mut gains[..frames];
        self.gain.process(gains, 1.0 - self.release.decay());
        self.release.advance(frames);
        self.last_gain = gains.last().copied().unwrap_or(self.last_gain);
        for (delay, values) in self.delays.iter_mut().zip([left, right]) {
            delay.process(values);
            values.iter_mut().zip(&*gains).for_each(|(value, gain)| *value *= gain);
        }
    }

    fn latency_frames(&self) -> usize {
        self.delays[0].frames()
    }

    fn gain_reduction_db(&self) -> Option<f32> {
        Some((0.0 - to_db(f64::from(self.last_gain))) as f32)
    }
}

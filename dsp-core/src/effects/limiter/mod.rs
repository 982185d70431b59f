//! Limiter: a ceiling for the true peak.

mod true_peak;

use super::ballistics::TimeConstant;
use super::best::best;
use super::decibels::gain;
use super::memory::{inline_bytes, values_bytes};
use super::step::Step;
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit};
use crate::dsp::delay_line::DelayLine;
use crate::gain::to_db;
use crate::lookahead::LookaheadGain;
use true_peak::TruePeak;

/// A look-ahead limiter of the true peak (ITU-R BS.1770-5, annex 2).
///
/// The gain of `lookahead.rs`, from peaks between the samples too. What is below the ceiling passes
/// to the bit. The latency is the look-ahead of 2 ms, which is also how long the gain takes to
/// fall, and what it takes to find a peak.
///
/// For signals that end at 0.48 times the sample rate the ceiling holds to 0.2 dB, at any release.
/// What is above that is read too low: the waveform of white noise exceeds the ceiling by up to 1
/// dB, though no sample does. To hold it there would take sixteen times as many taps and 8 ms more,
/// as what is missed falls with the root of their number.
///
/// - `input_gain_db`: gain before the limiter.
/// - `ceiling_dbtp`: highest true peak that comes out.
/// - `release_ms`: time constant in which the gain recovers (63 % of the way, linear).
pub(super) static LIMITER: EffectKind = EffectKind {
    id: "limiter",
    name: "Limiter",
    parameters: &[
        Parameter::linear("input_gain_db", "Input gain", Unit::Decibels, [-12.0, 36.0], 0.0),
        Parameter::linear("ceiling_dbtp", "Ceiling", Unit::Decibels, [-24.0, 0.0], CEILING_DBTP),
        Parameter::logarithmic("release_ms", "Release", Unit::Milliseconds, [5.0, 1_000.0], RELEASE_MS),
    ],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Limiter::new(config)),
    memory_bytes: Limiter::memory_bytes,
};

const CEILING_DBTP: f64 = -1.0;
const RELEASE_MS: f64 = 80.0;

/// How long the gain takes to fall, in seconds.
const LOOKAHEAD_SECS: f64 = 0.002;

/// Frames around a peak that get the gain which it needs: what is between two frames depends
/// on their neighbours.
const MARGIN_FRAMES: usize = 2;

/// How far below the ceiling it aims, in decibels: for what `true_peak.rs` reads too low, which is
/// content above 0.48 times the sample rate.
const AIM_BELOW_DB: f32 = 0.1;

struct Limiter {
    clock: u64,
    input_gain_db: Glide,
    ceiling_db: Glide,
    release: TimeConstant,
    true_peak: TruePeak,
    gain: LookaheadGain,
    /// The gain of the frame that came out last.
    last_gain: f32,
    delays: [DelayLine; 2],
}

impl Limiter {
    /// The delays of both sides, and the gains of the time that it looks ahead, in double
    /// precision.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        let ahead_frames = (LOOKAHEAD_SECS * f64::from(sample_rate_hz)) as usize;
        values_bytes(8 * (ahead_frames + true_peak::LATENCY_FRAMES + 3 * MARGIN_FRAMES))
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let rate_hz = config.sample_rate_hz;
        let average_frames = libm::round(LOOKAHEAD_SECS * f64::from(rate_hz)) as usize;
        // A peak between two frames is found `LATENCY_FRAMES` after the first of them. Its gain is
        // there `average_frames - 1` later: then the margin before it comes out, and in the end the
        // one after.
        let delay_frames = average_frames - 1 + true_peak::LATENCY_FRAMES + MARGIN_FRAMES;
        Self {
            clock: 0,
            input_gain_db: Glide::new(0.0),
            ceiling_db: Glide::new(CEILING_DBTP),
            release: TimeConstant::new(RELEASE_MS, rate_hz),
            true_peak: TruePeak::new(),
            gain: LookaheadGain::new(average_frames, average_frames + 1 + 2 * MARGIN_FRAMES),
            last_gain: 1.0,
            delays: [DelayLine::new(delay_frames), DelayLine::new(delay_frames)],
        }
    }

    fn amplify(&mut self, audio: [&mut [f32]; 2]) {
        if self.input_gain_db.is_at_rest() && self.input_gain_db.target() == 0.0 {
            return;
        }
        let mut gains = self.input_gain_db.step(audio[0].len());
        gains.iter_mut().for_each(|value| *value = gain(*value));
        for values in audio {
            values.iter_mut().zip(&gains).for_each(|(value, gain)| *value *= gain);
        }
    }

    fn ceilings(&mut self, frames: usize) -> Step {
        if self.ceiling_db.is_at_rest() {
            return [gain(self.ceiling_db.target() as f32 - AIM_BELOW_DB); CONTROL_FRAMES];
        }
        let mut ceilings = self.ceiling_db.step(frames);
        ceilings.iter_mut().for_each(|value| *value = gain(*value - AIM_BELOW_DB));
        ceilings
    }
}

impl Effect for Limiter {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.input_gain_db.jump();
        self.ceiling_db.jump();
        self.release.jump();
        self.true_peak.reset();
        self.gain.reset();
        self.last_gain = 1.0;
        self.delays.iter_mut().for_each(DelayLine::clear);
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        match parameter {
            0 => self.input_gain_db.set(value, glide_frames),
            1 => self.ceiling_db.set(value, glide_frames),
            _ => self.release.set(value, glide_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let frames = left.len();
        if self.clock.is_multiple_of(CONTROL_FRAMES as u64) {
            self.release.refresh();
        }
        self.clock += frames as u64;

        self.amplify([&mut *left, &mut *right]);
        let ceilings = self.ceilings(frames);
        let mut gains = self.true_peak.needed_gains([&*left, &*right], &ceilings);
        let gains = &mut gains[..frames];
        self.gain.process(gains, 1.0 - self.release.keep());
        self.release.pass(frames);
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

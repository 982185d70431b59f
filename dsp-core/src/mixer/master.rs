//! The master: shared reverb and chorus, effects, fader and limiter.

use super::TrackMix;
use super::channel::fader::Fader;
use super::channel::meter::Meter;
use super::channel::rack::EffectRack;
use super::graph::{MixBuffers, ProcessContext};
use super::tempo::Tempo;
use crate::limiter::{LimiterConfig, LimiterProcessor, Reduction};
use crate::session::Session;
use crate::synth::chorus::ChorusProcessor;
use crate::synth::reverb::ReverbProcessor;

pub(crate) struct Master {
    pub(crate) fader: Fader,
    pub(crate) rack: EffectRack,
    reverb: ReverbProcessor,
    chorus: ChorusProcessor,
    limiter: LimiterProcessor,
    pub(crate) meter: Meter,
}

impl Master {
    pub(crate) fn new(session: &Session, tempo: &Tempo) -> Self {
        let sample_rate_hz = session.sample_rate_hz;
        Self {
            fader: Fader::new(&track_mix(session.master_gain), sample_rate_hz),
            rack: EffectRack::new(tempo, sample_rate_hz),
            reverb: ReverbProcessor::new(session.reverb, sample_rate_hz),
            chorus: ChorusProcessor::new(session.chorus, sample_rate_hz),
            limiter: LimiterProcessor::new(LimiterConfig::for_mix(sample_rate_hz)),
            meter: Meter::default(),
        }
    }

    /// Applies the settings of an edited session, except those of the effects.
    pub(crate) fn set_session(&mut self, session: &Session) {
        self.fader.set_lanes(&session.master_automation);
        self.set_gain(session.master_gain);
        self.reverb.set_settings(session.reverb);
        self.chorus.set_settings(session.chorus);
    }

    pub(crate) fn set_gain(&mut self, gain: f32) {
        self.fader.set_mix(&track_mix(gain));
    }

    /// Returns the latency from the sum of the strips to the output, in frames.
    pub(crate) fn latency_frames(&self) -> usize {
        self.rack.latency_frames() + self.limiter.latency_frames()
    }

    /// Returns the gain reduction of the limiter since the last call, or since the last seek.
    pub(crate) fn take_limiter_reduction(&mut self) -> Reduction {
        self.limiter.take_reduction()
    }

    /// Clears all audio state and resets to a frame of the clock.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.fader.reset(clock);
        self.rack.reset(clock);
        self.reverb.reset();
        self.chorus.reset(clock);
        self.limiter.reset();
    }

    /// Moves automation and tempo to the start of a loop. All signals continue.
    pub(crate) fn jump(&mut self, clock: u64) {
        self.fader.jump();
        self.rack.jump(clock);
    }

    /// Stops automation. Automated settings ramp to their values at `frame`.
    pub(crate) fn stop(&mut self, frame: u64) {
        self.fader.stop(frame);
        self.rack.stop(frame);
    }

    /// Computes the output of a block from the sum of the strips.
    pub(crate) fn process(
        &mut self,
        context: ProcessContext,
        buffers: &mut MixBuffers,
        [left, right]: [&mut [f32]; 2],
    ) {
        let sum = buffers.sums.master.each_mut().map(|values| &mut values[..context.frames]);
        let [sum_left, sum_right, reverb, chorus] = sum;
        self.chorus.process(chorus, sum_left, sum_right);
        self.reverb.process(reverb, sum_left, sum_right);
        let sides = [&mut *sum_left, &mut *sum_right];
        self.rack.process_master(context.is_playing, sides, &buffers.taps);
        left.copy_from_slice(sum_left);
        right.copy_from_slice(sum_right);
        self.fader.process(context, [&mut *left, &mut *right], None);
        self.limiter.process(left, right);
        self.meter.advance(context.frames);
        self.meter.add([left, right], [1.0; 2]);
    }
}

fn track_mix(gain: f32) -> TrackMix {
    TrackMix { gain, pan: 0.0, is_muted: false, is_soloed: false }
}

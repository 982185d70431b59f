//! What all tracks share: reverb and chorus, the master's effects and fader, and the limiter.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::fader::Fader;
use super::insert::Insert;
use super::meter::Meter;
use super::musical_time::Tempo;
use super::strip::{Key, Moment, StereoBlock, TrackBlock};
use super::{Session, TrackMix};
use crate::limiter::{LimiterConfig, LimiterProcessor, Reduction};
use crate::synth::chorus::ChorusProcessor;
use crate::synth::reverb::ReverbProcessor;

pub(super) struct Master {
    pub(super) fader: Fader,
    pub(super) insert: Insert,
    pub(super) keys: Vec<Key>,
    reverb: ReverbProcessor,
    chorus: ChorusProcessor,
    limiter: LimiterProcessor,
    pub(super) meter: Meter,
}

impl Master {
    pub(super) fn new(session: &Session, tempo: &Tempo) -> Self {
        let rate_hz = session.sample_rate_hz;
        Self {
            fader: Fader::new(&mix(session.master_gain), rate_hz),
            insert: Insert::new(tempo, rate_hz),
            keys: Vec::new(),
            reverb: ReverbProcessor::new(session.reverb, rate_hz),
            chorus: ChorusProcessor::new(session.chorus, rate_hz),
            limiter: LimiterProcessor::new(LimiterConfig::mix(rate_hz)),
            meter: Meter::default(),
        }
    }

    /// Takes over what an edited session says, but for its effects.
    pub(super) fn set(&mut self, session: &Session) {
        self.fader.set_lanes(&session.master_automation);
        self.set_gain(session.master_gain);
        self.reverb.set(session.reverb);
        self.chorus.set(session.chorus);
    }

    pub(super) fn set_gain(&mut self, gain: f32) {
        self.fader.set_mix(&mix(gain));
    }

    /// Frames by which the output lags the sum of the strips.
    pub(super) fn latency_frames(&self) -> usize {
        self.insert.latency_frames() + self.limiter.latency_frames()
    }

    /// The limiter's gain reduction since the last seek.
    pub(super) fn reduction(&self) -> Reduction {
        self.limiter.reduction()
    }

    /// See [`super::desk::Desk::jump`].
    pub(super) fn jump(&mut self, clock: u64) {
        self.fader.jump(clock);
        self.insert.reset(clock);
        self.keys.iter_mut().for_each(Key::jump);
        self.reverb.reset();
        self.chorus.reset(clock);
        self.limiter.reset();
    }

    /// See [`super::desk::Desk::stand`].
    pub(super) fn stand(&mut self, frame: u64) {
        self.fader.stand(frame);
        self.insert.stand(frame);
    }

    /// Makes the output of a block from the sum of the strips.
    pub(super) fn process(
        &mut self,
        moment: Moment,
        sum: &mut TrackBlock,
        taps: &[Option<Box<StereoBlock>>],
        [left, right]: [&mut [f32]; 2],
    ) {
        let Moment { clock, moves, frames } = moment;
        let [mix_left, mix_right, reverb, chorus] = sum.each_mut().map(|values| &mut values[..frames]);
        self.chorus.process(chorus, mix_left, mix_right);
        self.reverb.process(reverb, mix_left, mix_right);
        // What goes to the shared effects has gone there.
        self.insert.process_with_keys(moves, [&mut *mix_left, &mut *mix_right], &mut self.keys, taps);
        left.copy_from_slice(mix_left);
        right.copy_from_slice(mix_right);
        self.fader.apply(clock, moves, [&mut *left, &mut *right], None);
        self.limiter.process(left, right);
        self.meter.pass(frames);
        self.meter.add([left, right], [1.0; 2]);
    }
}

fn mix(gain: f32) -> TrackMix {
    TrackMix { gain, pan: 0.0, mute: false, solo: false }
}

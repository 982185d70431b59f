//! Effects for unit tests: one with latency, one with a side-chain, one that outputs the musical
//! time.

use alloc::boxed::Box;

use super::effect::{Effect, EffectConfig, EffectKind, Group, MusicalTime};
use crate::dsp::delay_line::DelayLine;

/// Latency of [`TEST_DELAY`] and of [`TEST_SIDE_CHAIN`], in frames.
pub(crate) const TEST_DELAY_FRAMES: usize = 777;
pub(crate) const TEST_SIDE_CHAIN_FRAMES: usize = 50;

/// All effects for tests.
pub(super) static KINDS: [&EffectKind; 3] = [&TEST_DELAY, &TEST_SIDE_CHAIN, &CLOCK];

/// Effect that delays its input.
pub(super) static TEST_DELAY: EffectKind = EffectKind {
    id: "test_latent",
    name: "Latent",
    group: Group::Utility,
    parameters: &[],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |_: &EffectConfig<'_>| {
        Box::new(TestDelay([DelayLine::new(TEST_DELAY_FRAMES), DelayLine::new(TEST_DELAY_FRAMES)]))
    },
    memory_bytes: |_, _| 8_192,
};

/// Effect that subtracts its side-chain from its input and delays the difference.
pub(super) static TEST_SIDE_CHAIN: EffectKind = EffectKind {
    id: "test_listener",
    name: "Listener",
    group: Group::Utility,
    parameters: &[],
    has_side_chain: true,
    impulse_max_secs: None,
    make: |_: &EffectConfig<'_>| {
        Box::new(TestDelay([DelayLine::new(TEST_SIDE_CHAIN_FRAMES), DelayLine::new(TEST_SIDE_CHAIN_FRAMES)]))
    },
    memory_bytes: |_, _| 8_192,
};

/// Effect whose left output is the position in quarter notes, divided by 1,000.
pub(super) static CLOCK: EffectKind = EffectKind {
    id: "test_clock",
    name: "Clock",
    group: Group::Utility,
    parameters: &[],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| {
        Box::new(Clock { beat: 0.0, beats_per_frame: 0.0, rate_hz: f64::from(config.sample_rate_hz) })
    },
    memory_bytes: |_, _| 8_192,
};

struct Clock {
    beat: f64,
    beats_per_frame: f64,
    rate_hz: f64,
}

impl Effect for Clock {
    fn reset(&mut self, _frame: u64) {}

    fn set_parameter(&mut self, _parameter: usize, _value: f64, _ramp_frames: u32) {}

    fn set_time(&mut self, time: MusicalTime) {
        (self.beat, self.beats_per_frame) = (time.beat, time.bpm / (60.0 * self.rate_hz));
    }

    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        for (left, right) in left.iter_mut().zip(right) {
            (*left, *right) = ((self.beat / 1_000.0) as f32, 0.0);
            self.beat += self.beats_per_frame;
        }
    }
}

struct TestDelay([DelayLine; 2]);

impl Effect for TestDelay {
    fn reset(&mut self, _frame: u64) {
        self.0.iter_mut().for_each(DelayLine::clear);
    }

    fn set_parameter(&mut self, _parameter: usize, _value: f64, _ramp_frames: u32) {}

    fn process(&mut self, audio: [&mut [f32]; 2], side_chain: Option<[&[f32]; 2]>) {
        for (channel, (values, delay)) in audio.into_iter().zip(&mut self.0).enumerate() {
            if let Some(side_chain) = side_chain {
                values.iter_mut().zip(side_chain[channel]).for_each(|(value, side)| *value -= side);
            }
            delay.process(values);
        }
    }

    fn latency_frames(&self) -> usize {
        self.0[0].frames()
    }
}

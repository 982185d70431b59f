//! Effects for tests of what deals with effects: of some latency, listening to a side-chain,
//! telling the time.

use alloc::boxed::Box;

use super::{Effect, EffectConfig, EffectKind, MusicalTime};
use crate::dsp::delay_line::DelayLine;

/// Latency of the two kinds, in frames.
pub(crate) const LATENT_FRAMES: usize = 777;
pub(crate) const LISTENER_FRAMES: usize = 50;

/// All of them.
pub(super) static KINDS: [&EffectKind; 3] = [&LATENT, &LISTENER, &CLOCK];

/// Delays, and does nothing else.
pub(super) static LATENT: EffectKind = EffectKind {
    id: "test_latent",
    name: "Latent",
    parameters: &[],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |_: &EffectConfig<'_>| {
        Box::new(Latent([DelayLine::new(LATENT_FRAMES), DelayLine::new(LATENT_FRAMES)]))
    },
    memory_bytes: |_, _| 8_192,
};

/// Delays, and takes away what its side-chain hears.
pub(super) static LISTENER: EffectKind = EffectKind {
    id: "test_listener",
    name: "Listener",
    parameters: &[],
    has_side_chain: true,
    impulse_max_secs: None,
    make: |_: &EffectConfig<'_>| {
        Box::new(Latent([DelayLine::new(LISTENER_FRAMES), DelayLine::new(LISTENER_FRAMES)]))
    },
    memory_bytes: |_, _| 8_192,
};

/// Puts out the number of the quarter note, in thousandths.
pub(super) static CLOCK: EffectKind = EffectKind {
    id: "test_clock",
    name: "Clock",
    parameters: &[],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| Box::new(Clock { beat: 0.0, per_frame: 0.0, rate_hz: f64::from(config.sample_rate_hz) }),
    memory_bytes: |_, _| 8_192,
};

struct Clock {
    beat: f64,
    per_frame: f64,
    rate_hz: f64,
}

impl Effect for Clock {
    fn reset(&mut self, _frame: u64) {}

    fn set(&mut self, _parameter: usize, _value: f64, _glide_frames: u32) {}

    fn set_time(&mut self, time: MusicalTime) {
        (self.beat, self.per_frame) = (time.beat, time.bpm / (60.0 * self.rate_hz));
    }

    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        for (left, right) in left.iter_mut().zip(right) {
            (*left, *right) = ((self.beat / 1_000.0) as f32, 0.0);
            self.beat += self.per_frame;
        }
    }
}

struct Latent([DelayLine; 2]);

impl Effect for Latent {
    fn reset(&mut self, _frame: u64) {
        self.0.iter_mut().for_each(DelayLine::clear);
    }

    fn set(&mut self, _parameter: usize, _value: f64, _glide_frames: u32) {}

    fn process(&mut self, audio: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        for (place, (values, delay)) in audio.into_iter().zip(&mut self.0).enumerate() {
            if let Some(side) = side {
                values.iter_mut().zip(side[place]).for_each(|(value, side)| *value -= side);
            }
            delay.process(values);
        }
    }

    fn latency_frames(&self) -> usize {
        self.0[0].frames()
    }
}

//! Effects for tests of what deals with effects: of some latency, and listening to a side-chain.

use alloc::boxed::Box;

use super::{Effect, EffectConfig, EffectKind};
use crate::delay::Delay;

/// Latency of the two kinds, in frames.
pub(crate) const LATENT_FRAMES: usize = 777;
pub(crate) const LISTENER_FRAMES: usize = 50;

/// Delays, and does nothing else.
pub(super) static LATENT: EffectKind = EffectKind {
    id: "test_latent",
    name: "Latent",
    parameters: &[],
    has_side_chain: false,
    make: |_: &EffectConfig<'_>| Box::new(Latent([Delay::new(LATENT_FRAMES), Delay::new(LATENT_FRAMES)])),
};

/// Delays, and takes away what its side-chain hears.
pub(super) static LISTENER: EffectKind = EffectKind {
    id: "test_listener",
    name: "Listener",
    parameters: &[],
    has_side_chain: true,
    make: |_: &EffectConfig<'_>| Box::new(Latent([Delay::new(LISTENER_FRAMES), Delay::new(LISTENER_FRAMES)])),
};

struct Latent([Delay; 2]);

impl Effect for Latent {
    fn reset(&mut self, _frame: u64) {
        self.0.iter_mut().for_each(Delay::clear);
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

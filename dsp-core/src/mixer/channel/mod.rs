//! A track's channel: effects, fader, outputs and sends.

pub(super) mod chain;
mod dry_fallback;
pub(super) mod fader;
pub(super) mod insert;
mod instrument_fallback;
mod live_chain;
pub(super) mod meter;
pub(super) mod rack;
pub(super) mod recording;
pub(super) mod route;
pub(super) mod side_chain;
pub(super) mod slot;
pub(super) mod strip;

pub use chain::{EffectChain, SlotSource};
pub use dry_fallback::DryFallback;
pub use insert::InsertBuffers;
pub use instrument_fallback::InstrumentFallback;
pub use live_chain::{LIVE_BLOCK_FRAMES, LiveChain, LiveEffect, LivePass, LiveSource};
pub use rack::effect_seed;
pub use slot::EffectSlot;

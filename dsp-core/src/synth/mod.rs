//! SoundFont instruments: the synthesizer of a track, and the reverb and chorus that all share.
//!
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.
//!
//! A `SynthProcessor` plays one channel. What moves slowly (envelopes, oscillators, controllers) is
//! computed at every event, at corners of envelopes, and on a grid of frames that is as fine as the
//! movement of the voice needs; between two such places gains and filters go straight. Where the
//! places are depends on the events and on the frame at which the synthesizer was reset, never on
//! how many frames a call asks for.
//!
//! Each voice reads its sample by itself and is mixed by itself, several frames at a time; the
//! filters of eight voices, whose outputs wait for one another, run in lockstep.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2;
mod awe32;
mod awe32_table;
mod channel;
pub mod chorus;
mod curves;
mod envelope;
mod filter;
mod grid;
mod interpolation;
mod lanes;
mod lockstep;
mod modulation;
mod oscillator;
mod playback;
mod portamento;
mod processor;
mod ramp;
pub mod reverb;
mod settings;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod start;
mod units;
mod voice;
mod voices;

pub use channel::selected_bank;
pub use processor::SynthError;
pub(crate) use processor::{SynthConfig, SynthProcessor};

/// Bank number from which on a SoundFont holds drum kits (section 7.2).
pub const DRUM_BANK: u16 = 128;

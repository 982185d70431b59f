//! SoundFont instruments: the synthesizer of a track, and the reverb and chorus that all share.
//!
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.
//!
//! A [`SynthProcessor`] plays one channel. Its voices stand in groups of eight, whose filters and gains
//! are computed in lockstep. What moves slowly (envelopes, oscillators, controllers) is computed
//! at places at most 64 or 128 frames apart, and at every event; between two places gains and filters
//! go straight. Where these places are depends on the events and on the frame at which the
//! synthesizer was reset, never on how many frames a call asks for.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2;
mod channel;
pub mod chorus;
mod curves;
mod envelope;
mod filter;
mod group;
mod interpolation;
mod lanes;
mod modulation;
mod oscillator;
mod playback;
mod portamento;
mod processor;
mod ramp;
pub mod reverb;
mod settings;
pub mod simd;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod start;
mod units;
mod voice;
mod voices;

pub use processor::SynthError;
pub(crate) use processor::{SynthConfig, SynthProcessor};

/// Bank number from which on a SoundFont holds drum kits (section 7.2).
const DRUM_BANK: u16 = 128;

/// Frames between two places at which what moves slowly is computed, while a pitch or anything else
/// moves fast, and at most.
const FINE_GRID_FRAMES: u32 = 64;
const GRID_FRAMES: u32 = 128;

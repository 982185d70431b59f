//! SoundFont instruments: the synthesizer of a track, and the reverb and chorus that all share.
//!
//! The voices are those of the `rustysynth` crate. Its limits are this module's: linear
//! interpolation, no modulators of the file's own, and control in steps of
//! [`EVENT_GRID_FRAMES`]. Its built-in effects are off: a room for each track would cost more
//! than the voices, so tracks send to one in the mix instead.

pub mod chorus;
pub mod reverb;
#[cfg(feature = "std")]
mod voices;

#[cfg(feature = "std")]
pub use voices::SynthError;
#[cfg(feature = "std")]
pub(crate) use voices::SynthProcessor;

/// Frames between the places at which events take effect.
pub const EVENT_GRID_FRAMES: u64 = 8;

//! The Songfoundry engine: DSP that the service runs natively and the browser as WebAssembly.
//!
//! # Units
//!
//! A *frame* is one sample per channel, a *sample* one value, a *block* 512 values (256 interleaved
//! stereo frames, [`block::BLOCK_FRAMES`]). Musical positions are in *ticks*, 960 to a quarter
//! note; only [`tempo::TempoMap`] converts them to frames. Levels are linear unless a name says
//! `_db`, `_lufs` or `_dbtp`.
//!
//! # Contract
//!
//! - The engine takes bytes and slices and returns bytes and slices. It knows no JSON, HTTP,
//!   files, clocks, threads or logging.
//! - Arithmetic is plain IEEE 754. Transcendental functions come from `libm`, on every target,
//!   because a platform's own may round differently (clippy refuses the std ones here).
//! - Constructors validate and allocate. `process` and `reset` never allocate, lock, log or
//!   panic, and their output does not depend on the number of frames of a call.
//! - Randomness is seeded by the caller.
//!
//! Without the `std` feature the crate is `no_std` with `alloc`. It then lacks loudness measurement
//! of finished signals, the WAV writer, and the choice of AVX2 at run time, which need std.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod analysis;
pub mod block;
pub mod dither;
pub mod downmix;
mod dsp;
pub mod effects;
pub mod gain;
pub mod limiter;
mod lookahead;
#[cfg(feature = "std")]
pub mod loudness;
pub mod meters;
pub mod mixer;
pub mod peaks;
pub mod render;
pub mod resample;
pub mod session;
pub mod simd;
pub mod soundfont;
pub mod synth;
pub mod tempo;
mod third_octave;
pub mod true_peak;
#[cfg(feature = "std")]
pub mod wav;

/// Refuses memory to what unit tests run inside `assert_no_alloc`.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

//! The Songfoundry engine: signal processing that the service runs as native code and the browser
//! as WebAssembly.
//!
//! # Units
//!
//! A *frame* is one sample per channel, and a *sample* is one value. A *block* has 512 values: 256
//! interleaved stereo frames ([`block::BLOCK_FRAMES`]). Musical positions are in *ticks*, 960 to a
//! quarter note; only [`tempo::TempoMap`] converts them to frames. Levels are linear unless a name
//! says `_db`, `_dbfs`, `_lufs` or `_dbtp`.
//!
//! # Contract
//!
//! - The engine's input and output are bytes and slices. The engine uses no JSON, HTTP, files,
//!   clocks or logging, and starts no threads.
//! - Arithmetic is plain IEEE 754. Transcendental functions come from `libm` on every target,
//!   because those of a platform may round differently. Clippy forbids the functions of `std`.
//! - Constructors validate their arguments and allocate all memory. `process` and `reset` never
//!   allocate, lock, log or panic, and their output does not depend on the number of frames per
//!   call.
//! - The caller passes the seed of all random numbers.
//!
//! Without the `std` feature the crate is `no_std` with `alloc`. It then lacks the loudness
//! measurement of finished signals, the WAV writer, and the choice of AVX2 at run time.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod analysis;
pub mod block;
pub mod dither;
pub mod downmix;
mod dsp;
pub mod effects;
pub mod gain;
mod k_weighting;
pub mod limiter;
mod lookahead;
#[cfg(feature = "std")]
pub mod loudness;
pub mod meters;
pub mod metronome;
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

/// Makes unit tests fail if code inside `assert_no_alloc` allocates.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

//! Tests of the built-in effects: rules that apply to all effects, and measurements of each effect.

#![expect(clippy::disallowed_methods, reason = "tests compare the engine with the functions of std")]

mod bit_crusher;
mod chorus;
mod compressor;
mod convolution;
mod de_esser;
mod delay;
mod equalizer;
mod filter;
mod flanger;
mod gate;
mod limiter;
mod measure;
mod phaser;
mod reverb;
mod rules;
mod saturator;
mod tremolo;
mod utility;
mod values;
mod width;

/// Makes allocations inside `assert_no_alloc` fail.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

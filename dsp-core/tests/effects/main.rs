//! The built-in effects: rules that hold for all of them, and the figures of each.

#![expect(clippy::disallowed_methods, reason = "what is measured is compared with a second opinion: std's")]

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

/// Refuses memory to what runs inside `assert_no_alloc`.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

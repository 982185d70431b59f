//! The built-in effects: rules that hold for all of them, and the figures of each.

#![expect(clippy::disallowed_methods, reason = "what a test measures need not round alike on every target")]

mod chorus;
mod delay;
mod flanger;
mod measure;
mod phaser;
mod reverb;
mod rules;
mod tremolo;
mod utility;

/// Refuses memory to what runs inside `assert_no_alloc`.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

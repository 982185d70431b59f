//! Resampling, dither, loudness and true peak by figures: each test prints what it measures, and asserts its bound.
//! `cargo test --package dsp-core --test signal -- --nocapture` shows the figures.

mod dither;
mod loudness;
mod resampling;
mod spectrum;
mod true_peak;

/// Refuses memory to what runs inside `assert_no_alloc`.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

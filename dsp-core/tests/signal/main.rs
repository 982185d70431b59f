//! Tests of resampling, dither, loudness and true peak. Each test prints its measurement and
//! compares it with a limit. `cargo test --package dsp-core --test signal -- --nocapture` shows the
//! measurements.

mod dither;
mod ebu;
mod fingerprint;
mod loudness;
mod meters;
mod resampling;
mod spectrum;
mod true_peak;
mod wav;

/// Makes allocations inside `assert_no_alloc` fail.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

#[test]
fn every_instruction_set_computes_the_same_bits() {
    let best_fingerprint = fingerprint::computed();
    dsp_core::simd::force_baseline(true);
    let baseline = fingerprint::computed();
    dsp_core::simd::force_baseline(false);
    println!("{}: {best_fingerprint:#018x}, baseline: {baseline:#018x}", dsp_core::simd::instructions());
    assert_eq!((best_fingerprint, baseline), (fingerprint::EXPECTED, fingerprint::EXPECTED));
}

//! SoundFont 2.04, clause by clause: each test plays a small bank made for it and asserts a figure.
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.

#[path = "../maker/mod.rs"]
mod maker;
mod measure;
mod rig;

mod call_sizes;
mod channel;
mod default_modulators;
mod envelopes;
mod filter;
mod generator;
mod modulators;
mod notes;
mod oscillators;
mod outputs;
mod pitch;
mod rates;
mod samples;
mod voices;
mod zones;

/// Refuses memory to what runs inside `assert_no_alloc`.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

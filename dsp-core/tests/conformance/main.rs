//! Conformance tests for SoundFont 2.04, clause by clause. Each test plays a small generated bank
//! and measures the output. Section numbers refer to the "SoundFont Technical Specification" 2.04.

#[path = "../maker/mod.rs"]
mod maker;
mod measure;
mod rig;

mod awe32;
mod call_sizes;
mod channel;
mod channel_modes;
mod controllers;
mod curves;
mod default_modulators;
mod destinations;
mod envelopes;
mod filter;
mod generator;
mod generator_parameters;
mod loops;
mod modulators;
mod mono;
mod notes;
mod oscillators;
mod outputs;
mod pedals;
mod pitch;
mod random_banks;
mod rates;
mod registered_parameters;
mod sample_addresses;
mod samples;
mod stages;
mod stealing;
mod superseding;
mod velocity_to_cutoff;
mod voices;
#[cfg(feature = "vorbis")]
mod vorbis;
mod zones;

/// Makes allocations inside `assert_no_alloc` fail.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

//! Tests of the engine's public API with whole banks and whole sessions.

mod clicks;
mod clips;
mod edits;
mod full;
mod inserts;
mod lanes;
mod latency;
mod loops;
mod notes;
mod recorded_effects;
mod routing;
mod seeking;
mod seeking_notes;
mod session;
mod sessions;
mod small_bank;
mod soundfont;
mod tails;
mod tracks;

/// Makes allocations inside `assert_no_alloc` fail.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

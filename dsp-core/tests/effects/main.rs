//! The built-in effects: rules that hold for all of them, and the figures of each.

mod measure;
mod rules;
mod utility;

/// Refuses memory to what runs inside `assert_no_alloc`.
#[global_allocator]
static ALLOCATOR: assert_no_alloc::AllocDisabler = assert_no_alloc::AllocDisabler;

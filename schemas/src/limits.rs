//! Totals that a project may not exceed, beside the limits in the JSON Schema itself.

/// Most notes in one project, all tracks together.
pub const MAX_NOTES: usize = 1_000_000;

/// Most controls in one project, all tracks together.
pub const MAX_CONTROLS: usize = 1_000_000;

/// Largest position or length in ticks, as in the schema's `Tick`.
pub const MAX_TICK: u32 = 1_000_000_000;

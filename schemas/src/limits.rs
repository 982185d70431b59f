//! Totals that a project may not exceed, beside the limits in the JSON Schema itself.

/// Most notes in one project, all tracks together. With as many controls as may be, they fit into
/// the 32 MiB that a service takes by default, at some 80 bytes for a note.
pub const MAX_NOTES: usize = 250_000;

/// Most controls in one project, all tracks together; some 60 bytes each.
pub const MAX_CONTROLS: usize = 150_000;

/// Largest position or length in ticks, as in the schema's `Tick`.
pub const MAX_TICK: u32 = 1_000_000_000;

/// Most effects in one project, all tracks and the master together: twenty on each of fifty tracks. A track has
/// at most 64 by the schema.
pub const MAX_EFFECTS: usize = 1_000;

/// Most values of effects' parameters in one project; plugins have up to a few thousand each.
pub const MAX_PARAMS: usize = 100_000;

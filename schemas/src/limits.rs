//! Totals that a project may not exceed, beside the limits in the JSON Schema itself.

/// Bytes that a note counts in [`MAX_EVENT_BYTES`]: about its size in a stored document.
pub const NOTE_BYTES: usize = 80;

/// Bytes that a control counts in [`MAX_EVENT_BYTES`].
pub const CONTROL_BYTES: usize = 60;

/// Most bytes that the notes and controls of one project take, all tracks together. They fit into
/// the 32 MiB that a service takes by default: 250,000 notes with 150,000 controls, or 483,333
/// controls alone.
pub const MAX_EVENT_BYTES: usize = 29_000_000;

/// Bytes that these notes and controls count in [`MAX_EVENT_BYTES`].
pub const fn event_bytes(notes: usize, controls: usize) -> usize {
    notes.saturating_mul(NOTE_BYTES).saturating_add(controls.saturating_mul(CONTROL_BYTES))
}

/// Largest position or length in ticks, as in the schema's `Tick`.
pub const MAX_TICK: u32 = 1_000_000_000;

/// Most effects in one project, all tracks and the master together: twenty on each of fifty tracks.
/// A track has at most 64 by the schema.
pub const MAX_EFFECTS: usize = 1_000;

/// Most values of effects' parameters in one project; plugins have up to a few thousand each.
pub const MAX_PARAMS: usize = 100_000;

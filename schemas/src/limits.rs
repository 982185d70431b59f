//! Limits of the totals of a project, in addition to the limits in the JSON Schema.

/// Bytes of a note in [`MAX_EVENT_BYTES`]: about its size in a stored document.
pub const NOTE_BYTES: usize = 80;

/// Bytes of a control in [`MAX_EVENT_BYTES`].
pub const CONTROL_BYTES: usize = 60;

/// Maximum bytes of the notes and controls of a project, all tracks together. They fit into the 32
/// MiB that a service accepts by default: 250,000 notes with 150,000 controls, or 483,333 controls
/// alone.
pub const MAX_EVENT_BYTES: usize = 29_000_000;

/// Bytes of these notes and controls in [`MAX_EVENT_BYTES`].
pub const fn event_bytes(notes: usize, controls: usize) -> usize {
    notes.saturating_mul(NOTE_BYTES).saturating_add(controls.saturating_mul(CONTROL_BYTES))
}

/// Largest position or length in ticks, as in the schema's `Tick`.
pub const MAX_TICK: u32 = 1_000_000_000;

/// Maximum number of effects in a project, all tracks and the master together: twenty on each of
/// fifty tracks. The schema allows at most 64 on a track.
pub const MAX_EFFECTS: usize = 1_000;

/// Maximum number of effect parameter values in a project; plugins have up to a few thousand each.
pub const MAX_PARAMS: usize = 100_000;

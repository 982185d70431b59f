//! Limits on whole projects, such as the number of all notes. The JSON Schema cannot express them.

/// Bytes that a note counts towards [`MAX_EVENT_BYTES`]: about its size in a stored document.
pub const NOTE_BYTES: usize = 80;

/// Bytes that a control counts towards [`MAX_EVENT_BYTES`]: about its size in a stored document.
pub const CONTROL_BYTES: usize = 60;

/// Maximum number of bytes of all notes and controls of a project. It allows 250,000 notes with
/// 150,000 controls, or 483,333 controls alone. Such a project fits into the 32 MiB that a service
/// accepts by default.
pub const MAX_EVENT_BYTES: usize = 29_000_000;

/// Returns the bytes that these numbers of notes and controls count towards [`MAX_EVENT_BYTES`].
pub const fn event_bytes(notes: usize, controls: usize) -> usize {
    notes.saturating_mul(NOTE_BYTES).saturating_add(controls.saturating_mul(CONTROL_BYTES))
}

/// Largest position or length in ticks, as in the schema's `Tick`.
pub const MAX_TICK: u32 = 1_000_000_000;

/// Maximum number of effects in a project, on all tracks and the master together. It allows twenty
/// effects on each of fifty tracks. The schema allows at most 64 effects on one track.
pub const MAX_PROJECT_EFFECTS: usize = 1_000;

/// Maximum number of parameter values of effects and instruments in a project. One plugin can have
/// a few thousand parameters.
pub const MAX_PARAMS: usize = 100_000;

//! The events of a track that determine its state at the start of a loop.

use alloc::vec::Vec;

use super::held_keys::HeldKeys;
use crate::session::{Event, TrackEvent};

/// The state of a track's events at the start of a loop. It is computed when the loop is set, so
/// that the jump to the start takes little time even in a song with many notes.
pub(super) struct LoopEvents {
    pub(super) start_frame: u64,
    /// Index of the first event at or after the start.
    pub(super) next_event: usize,
    /// Keys that the events before the start hold down.
    pub(super) held_keys: HeldKeys,
    /// The events before the start that affect the state at the start, each with a flag that marks
    /// the notes that are held there.
    pub(super) past: Vec<(Event, bool)>,
}

impl LoopEvents {
    /// `events` are all events of the track by ascending frame.
    pub(super) fn new(events: &[TrackEvent], start_frame: u64) -> Self {
        let next_event = events.partition_point(|event| event.frame < start_frame);
        let past = &events[..next_event];
        let held_keys = HeldKeys::after(past);
        // The last note-on is the start of a portamento.
        let last_note_on = past.iter().rposition(|event| matches!(event.event, Event::NoteOn { .. }));
        let is_needed = |(index, event, is_held): &(usize, Event, bool)| match event {
            Event::NoteOn { .. } => *is_held || Some(*index) == last_note_on,
            Event::NoteOff { .. } => false,
            _ => true,
        };
        let with_flags = past
            .iter()
            .enumerate()
            .map(|(index, event)| (index, event.event, held_keys.is_held_note_on(index, event.event)));
        let past = with_flags.filter(is_needed).map(|(_, event, is_held)| (event, is_held)).collect();
        Self { start_frame, next_event, held_keys, past }
    }
}

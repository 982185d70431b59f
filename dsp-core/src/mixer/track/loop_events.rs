//! The events of a track that determine its state at the start of a loop.

use alloc::vec::Vec;

use super::held_keys::HeldKeys;
use crate::session::{Event, TrackEvent};
use crate::synth::LaterValues;

/// The state of a track's events at the start of a loop. It is computed when the loop is set, so
/// that the jump to the start takes little time even in a song with many notes.
pub(super) struct LoopEvents {
    pub(super) start_frame: u64,
    /// Index of the first event at or after the start.
    pub(super) next_event: usize,
    /// Keys that the events before the start hold down.
    pub(super) held_keys: HeldKeys,
    /// The events before the start that affect the state at the start, each with a flag that marks
    /// the notes that are held there. Of controllers that change often, only the last value does.
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
            .rev()
            .map(|(index, event)| (index, event.event, held_keys.is_held_note_on(index, event.event)));
        let mut later_values = LaterValues::NONE;
        let mut past: Vec<_> = with_flags
            .filter(is_needed)
            .filter(|(_, event, _)| !later_values.replace(*event))
            .map(|(_, event, is_held)| (event, is_held))
            .collect();
        past.reverse();
        Self { start_frame, next_event, held_keys, past }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(events: &[Event]) -> Vec<Event> {
        let events: Vec<_> = (0..).zip(events).map(|(frame, &event)| TrackEvent { frame, event }).collect();
        let loop_events = LoopEvents::new(&events, events.len() as u64);
        assert_eq!(loop_events.next_event, events.len());
        loop_events.past.into_iter().map(|(event, _)| event).collect()
    }

    #[test]
    fn only_the_last_value_of_a_controller_that_changes_often_is_kept() {
        let values = |value: u8| {
            [
                Event::Controller { controller: 1, value },
                Event::PitchBend { value: value.into() },
                Event::ChannelPressure { value },
                Event::KeyPressure { key: 60, value },
                Event::KeyPressure { key: 61, value },
            ]
        };
        let many: Vec<_> = (0..100_000_u32).flat_map(|index| values((index % 128) as u8)).collect();
        assert_eq!(past(&many), values((99_999 % 128) as u8));
    }

    #[test]
    fn events_whose_order_matters_are_all_kept() {
        let in_order = [0, 32, 6, 38, 96, 97, 98, 99, 100, 101, 66, 84, 120, 121, 123, 124, 125, 126, 127];
        let mut events: Vec<_> =
            in_order.map(|controller| Event::Controller { controller, value: 1 }).to_vec();
        events.extend([Event::Program { program: 1 }, Event::Preset { bank: 0, program: 1 }]);
        let twice = events.repeat(2);
        assert_eq!(past(&twice), twice);
    }
}

//! MIDI events of a block, as words of the shared memory.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::host::{Event, EventKind};

/// Number of words of an event: frame, kind and channel; key or controller, and value; velocity.
pub(super) const EVENT_WORDS: usize = 3;

/// Id of notes, which are told apart by channel and key.
const NO_NOTE_ID: i32 = -1;

// The kinds of events.
const NOTE_OFF: u8 = 1;
const NOTE_ON: u8 = 2;
const KEY_PRESSURE: u8 = 3;
const CONTROLLER: u8 = 4;
const PROGRAM_CHANGE: u8 = 5;
const CHANNEL_PRESSURE: u8 = 6;
const PITCH_BEND: u8 = 7;

/// Writes an event without the id of its note. Returns false, and writes nothing, for changes of
/// parameters and for note expressions.
pub(super) fn write_event(words: &[AtomicU32], event: &Event) -> bool {
    let (kind, channel, key, value, velocity) = match event.kind {
        EventKind::NoteOff { channel, key, velocity, .. } => (NOTE_OFF, channel, key, 0, velocity),
        EventKind::NoteOn { channel, key, velocity, .. } => (NOTE_ON, channel, key, 0, velocity),
        EventKind::KeyPressure { channel, key, value, .. } => (KEY_PRESSURE, channel, key, value.into(), 0.0),
        EventKind::Controller { channel, controller, value } => {
            (CONTROLLER, channel, controller, value.into(), 0.0)
        }
        EventKind::ProgramChange { channel, program } => (PROGRAM_CHANGE, channel, 0, program.into(), 0.0),
        EventKind::ChannelPressure { channel, value } => (CHANNEL_PRESSURE, channel, 0, value.into(), 0.0),
        EventKind::PitchBend { channel, value } => (PITCH_BEND, channel, 0, value, 0.0),
        EventKind::Parameter(_) | EventKind::NoteExpression { .. } => return false,
    };
    let [frame, kind, channel] = [event.frame & 0xFFFF, kind.into(), channel.into()];
    words[0].store(frame | kind << 16 | channel << 24, Ordering::Relaxed);
    words[1].store(u32::from(key) | u32::from(value) << 16, Ordering::Relaxed);
    words[2].store(velocity.to_bits(), Ordering::Relaxed);
    true
}

/// Reads an event. Returns `None` if its kind is unknown.
pub(super) fn read_event(words: &[AtomicU32]) -> Option<Event> {
    let [first, second, third] = [0, 1, 2].map(|index| words[index].load(Ordering::Relaxed));
    let [_, _, kind, channel] = first.to_le_bytes();
    let ([key, ..], value_14) = (second.to_le_bytes(), (second >> 16) as u16);
    let (value, velocity, note_id) = (value_14 as u8, f32::from_bits(third), NO_NOTE_ID);
    let kind = match kind {
        NOTE_OFF => EventKind::NoteOff { note_id, channel, key, velocity },
        NOTE_ON => EventKind::NoteOn { note_id, channel, key, velocity },
        KEY_PRESSURE => EventKind::KeyPressure { note_id, channel, key, value },
        CONTROLLER => EventKind::Controller { channel, controller: key, value },
        PROGRAM_CHANGE => EventKind::ProgramChange { channel, program: value },
        CHANNEL_PRESSURE => EventKind::ChannelPressure { channel, value },
        PITCH_BEND => EventKind::PitchBend { channel, value: value_14 },
        _ => return None,
    };
    Some(Event { frame: first & 0xFFFF, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{NoteExpression, ParameterValue};

    #[test]
    fn events_are_read_as_they_were_written() {
        let words: [AtomicU32; EVENT_WORDS] = Default::default();
        assert_eq!(read_event(&words), None);
        let note_id = NO_NOTE_ID;
        for kind in [
            EventKind::NoteOn { note_id, channel: 15, key: 127, velocity: 1.0 / 127.0 },
            EventKind::NoteOff { note_id, channel: 0, key: 0, velocity: 0.5 },
            EventKind::KeyPressure { note_id, channel: 1, key: 60, value: 127 },
            EventKind::Controller { channel: 2, controller: 64, value: 127 },
            EventKind::ProgramChange { channel: 3, program: 99 },
            EventKind::ChannelPressure { channel: 4, value: 1 },
            EventKind::PitchBend { channel: 5, value: 16_383 },
        ] {
            let event = Event { frame: 255, kind };
            assert!(write_event(&words, &event));
            assert_eq!(read_event(&words), Some(event));
        }
        let last = read_event(&words);
        for kind in [
            EventKind::Parameter(ParameterValue { id: 1, value: 1.0 }),
            EventKind::NoteExpression { note_id, expression: NoteExpression::Pan, value: 1.0 },
        ] {
            assert!(!write_event(&words, &Event { frame: 0, kind }));
        }
        assert_eq!(read_event(&words), last);
    }
}

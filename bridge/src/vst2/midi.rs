//! Converts events to the MIDI events of VST2.

use std::ffi::c_void;

use songfoundry_bridge_protocol::host::{Event, EventKind};

/// Type of a MIDI event.
const MIDI_TYPE: i32 = 1;

/// The structure `VstMidiEvent` of VST 2.4.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MidiEvent {
    kind: i32,
    bytes: i32,
    frame: i32,
    flags: i32,
    note_frames: i32,
    note_offset: i32,
    data: [u8; 4],
    detune: i8,
    release_velocity: u8,
    reserved: [u8; 2],
}

/// The structure `VstEvents` of VST 2.4 with the events that it points to.
pub(super) struct MidiBlock {
    events: Vec<MidiEvent>,
    /// The structure: the number of events, a reserved field, and a pointer to each event.
    words: Vec<usize>,
}

impl MidiBlock {
    /// Converts the events of a block. Events without a MIDI message are left out.
    pub(super) fn new(events: &[Event]) -> Self {
        let events: Vec<MidiEvent> = events.iter().filter_map(midi_event).collect();
        let header = [events.len(), 0];
        let pointers = events.iter().map(|event| std::ptr::from_ref(event).expose_provenance());
        let words = header.into_iter().chain(pointers).collect();
        Self { events, words }
    }

    /// Whether there are no events.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the structure, which is valid as long as `self`.
    pub(super) fn as_ptr(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }
}

/// Returns the MIDI controllers that end all sounds and all notes, on all channels.
pub(super) fn end_of_notes() -> Vec<Event> {
    const ALL_SOUND_OFF: u8 = 120;
    const ALL_NOTES_OFF: u8 = 123;
    let controllers =
        (0..16).flat_map(|channel| [ALL_SOUND_OFF, ALL_NOTES_OFF].map(|controller| (channel, controller)));
    let kind = |(channel, controller)| EventKind::Controller { channel, controller, value: 0 };
    controllers.map(|controller| Event { frame: 0, kind: kind(controller) }).collect()
}

fn midi_event(event: &Event) -> Option<MidiEvent> {
    let (status, channel, data) = match event.kind {
        EventKind::NoteOn { channel, key, velocity, .. } => {
            (0x90, channel, [key, midi_value(velocity).max(1)])
        }
        EventKind::NoteOff { channel, key, velocity, .. } => (0x80, channel, [key, midi_value(velocity)]),
        EventKind::KeyPressure { channel, key, value, .. } => (0xA0, channel, [key, value]),
        EventKind::Controller { channel, controller, value } => (0xB0, channel, [controller, value]),
        EventKind::ProgramChange { channel, program } => (0xC0, channel, [program, 0]),
        EventKind::ChannelPressure { channel, value } => (0xD0, channel, [value, 0]),
        EventKind::PitchBend { channel, value } => {
            (0xE0, channel, [(value & 0x7F) as u8, (value >> 7 & 0x7F) as u8])
        }
        EventKind::Parameter(_) | EventKind::NoteExpression { .. } => return None,
    };
    let release_velocity = if status == 0x80 { data[1] } else { 0 };
    Some(MidiEvent {
        kind: MIDI_TYPE,
        bytes: size_of::<MidiEvent>() as i32,
        frame: event.frame.cast_signed(),
        flags: 0,
        note_frames: 0,
        note_offset: 0,
        data: [status | channel & 0x0F, data[0] & 0x7F, data[1] & 0x7F, 0],
        detune: 0,
        release_velocity,
        reserved: [0; 2],
    })
}

/// Converts a velocity from 0..=1 to 0..=127.
fn midi_value(value: f32) -> u8 {
    (value * 127.0).round().clamp(0.0, 127.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use songfoundry_bridge_protocol::host::{NoteExpression, ParameterValue};

    fn check(kind: EventKind, expected: Option<[u8; 3]>) {
        let event = midi_event(&Event { frame: 17, kind });
        assert_eq!(event.map(|event| [event.data[0], event.data[1], event.data[2]]), expected, "{kind:?}");
        assert!(event.is_none_or(|event| event.frame == 17 && event.bytes == 32));
    }

    #[test]
    fn events_become_midi_messages() {
        let note_id = 5;
        check(EventKind::NoteOn { note_id, channel: 3, key: 60, velocity: 1.0 }, Some([0x93, 60, 127]));
        check(EventKind::NoteOn { note_id, channel: 0, key: 60, velocity: 0.0 }, Some([0x90, 60, 1]));
        check(EventKind::NoteOff { note_id, channel: 0, key: 60, velocity: 0.5 }, Some([0x80, 60, 64]));
        check(EventKind::KeyPressure { note_id, channel: 1, key: 61, value: 9 }, Some([0xA1, 61, 9]));
        check(EventKind::Controller { channel: 15, controller: 64, value: 127 }, Some([0xBF, 64, 127]));
        check(EventKind::ProgramChange { channel: 0, program: 12 }, Some([0xC0, 12, 0]));
        check(EventKind::ChannelPressure { channel: 0, value: 100 }, Some([0xD0, 100, 0]));
        check(EventKind::PitchBend { channel: 0, value: 8_192 }, Some([0xE0, 0, 64]));
        check(EventKind::PitchBend { channel: 0, value: 16_383 }, Some([0xE0, 127, 127]));
        check(EventKind::Parameter(ParameterValue { id: 0, value: 0.5 }), None);
        check(EventKind::NoteExpression { note_id, expression: NoteExpression::Pan, value: 0.5 }, None);
    }

    #[test]
    fn a_block_points_to_its_events() {
        let note = |frame| Event {
            frame,
            kind: EventKind::NoteOn { note_id: 1, channel: 0, key: 60, velocity: 1.0 },
        };
        let mut block = MidiBlock::new(&[note(0), note(9)]);
        assert_eq!((block.words.len(), block.words[0], block.is_empty()), (4, 2, false));
        assert_eq!(block.words[3] - block.words[2], size_of::<MidiEvent>());
        assert!(!block.as_ptr().is_null());
        assert!(MidiBlock::new(&[]).is_empty());
    }
}

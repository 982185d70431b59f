//! Converts events to those of VST3, and the list in which plugins read them.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::collections::HashSet;

use songfoundry_bridge_protocol::host::{self, EventKind, NoteExpression};
use vst3::Steinberg::Vst::Event_::EventTypes_::{
    kNoteExpressionValueEvent, kNoteOffEvent, kNoteOnEvent, kPolyPressureEvent,
};
use vst3::Steinberg::Vst::{
    Event, Event__type0, IEventList, IEventListTrait, NoteExpressionTypeID, NoteExpressionTypeIDs_,
    NoteExpressionValueEvent, NoteOffEvent, NoteOnEvent, PolyPressureEvent,
};
use vst3::Steinberg::{kInvalidArgument, kResultOk, tresult};
use vst3::{Class, ComWrapper};

/// The events of a block. Events that a plugin adds are ignored.
pub(super) struct EventList(Vec<Event>);

impl Class for EventList {
    type Interfaces = (IEventList,);
}

impl EventList {
    /// Creates a list of events.
    pub(super) fn new(events: Vec<Event>) -> ComWrapper<Self> {
        ComWrapper::new(Self(events))
    }
}

/// Returns the interface of a list, which is valid as long as the object.
pub(super) fn as_list(list: &ComWrapper<EventList>) -> *mut IEventList {
    list.as_com_ref::<IEventList>().map_or(std::ptr::null_mut(), |list| list.as_ptr())
}

impl IEventListTrait for EventList {
    unsafe fn getEventCount(&self) -> i32 {
        self.0.len() as i32
    }

    unsafe fn getEvent(&self, index: i32, event: *mut Event) -> tresult {
        match usize::try_from(index).ok().and_then(|index| self.0.get(index)) {
            Some(found) if !event.is_null() => {
                // SAFETY: the caller provides memory for the event.
                unsafe { *event = *found };
                kResultOk
            }
            _ => kInvalidArgument,
        }
    }

    unsafe fn addEvent(&self, _: *mut Event) -> tresult {
        kResultOk
    }
}

/// Returns VST3's number of a note expression.
pub(super) fn expression_type(expression: NoteExpression) -> NoteExpressionTypeID {
    match expression {
        NoteExpression::Volume => NoteExpressionTypeIDs_::kVolumeTypeID,
        NoteExpression::Pan => NoteExpressionTypeIDs_::kPanTypeID,
        NoteExpression::Tuning => NoteExpressionTypeIDs_::kTuningTypeID,
        NoteExpression::Vibrato => NoteExpressionTypeIDs_::kVibratoTypeID,
        NoteExpression::Expression => NoteExpressionTypeIDs_::kExpressionTypeID,
        NoteExpression::Brightness => NoteExpressionTypeIDs_::kBrightnessTypeID,
    }
}

/// Converts an event about a note. Returns `None` for others, and for note expressions that the
/// plugin does not offer.
pub(super) fn note_event(event: &host::Event, expressions: &HashSet<NoteExpressionTypeID>) -> Option<Event> {
    let (kind, content) = match event.kind {
        EventKind::NoteOn { note_id, channel, key, velocity } => {
            let note_on = NoteOnEvent {
                channel: channel.into(),
                pitch: key.into(),
                tuning: 0.0,
                velocity,
                length: 0,
                noteId: note_id,
            };
            (kNoteOnEvent, Event__type0 { noteOn: note_on })
        }
        EventKind::NoteOff { note_id, channel, key, velocity } => {
            let note_off = NoteOffEvent {
                channel: channel.into(),
                pitch: key.into(),
                velocity,
                noteId: note_id,
                tuning: 0.0,
            };
            (kNoteOffEvent, Event__type0 { noteOff: note_off })
        }
        EventKind::KeyPressure { note_id, channel, key, value } => {
            let pressure = PolyPressureEvent {
                channel: channel.into(),
                pitch: key.into(),
                pressure: f32::from(value) / 127.0,
                noteId: note_id,
            };
            (kPolyPressureEvent, Event__type0 { polyPressure: pressure })
        }
        EventKind::NoteExpression { note_id, expression, value } => {
            let type_id = expression_type(expression);
            if !expressions.contains(&type_id) {
                return None;
            }
            let value = NoteExpressionValueEvent { typeId: type_id, noteId: note_id, value };
            (kNoteExpressionValueEvent, Event__type0 { noteExpressionValue: value })
        }
        EventKind::Controller { .. }
        | EventKind::ChannelPressure { .. }
        | EventKind::PitchBend { .. }
        | EventKind::ProgramChange { .. }
        | EventKind::Parameter(_) => return None,
    };
    Some(Event {
        busIndex: 0,
        sampleOffset: event.frame.cast_signed(),
        ppqPosition: 0.0,
        flags: 0,
        r#type: kind as u16,
        __field0: content,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use songfoundry_bridge_protocol::host::ParameterValue;

    fn convert(kind: EventKind) -> Option<Event> {
        let expressions = HashSet::from([expression_type(NoteExpression::Tuning)]);
        note_event(&host::Event { frame: 31, kind }, &expressions)
    }

    #[test]
    fn notes_keep_their_frame_and_values() {
        let on =
            convert(EventKind::NoteOn { note_id: 9, channel: 2, key: 61, velocity: 0.25 }).expect("an event");
        assert_eq!((on.sampleOffset, on.r#type), (31, kNoteOnEvent as u16));
        // SAFETY: the event is a note-on event.
        let note = unsafe { on.__field0.noteOn };
        assert_eq!((note.noteId, note.channel, note.pitch, note.velocity), (9, 2, 61, 0.25));
        let off =
            convert(EventKind::NoteOff { note_id: 9, channel: 2, key: 61, velocity: 0.5 }).expect("an event");
        // SAFETY: the event is a note-off event.
        let note = unsafe { off.__field0.noteOff };
        assert_eq!((note.noteId, note.channel, note.pitch, note.velocity), (9, 2, 61, 0.5));
        let pressure = EventKind::KeyPressure { note_id: -1, channel: 0, key: 3, value: 127 };
        let pressure = convert(pressure).expect("an event");
        // SAFETY: the event is a pressure event.
        assert_eq!(unsafe { pressure.__field0.polyPressure }.pressure, 1.0);
    }

    #[test]
    fn only_note_expressions_that_the_plugin_offers_are_converted() {
        let expression = |expression| EventKind::NoteExpression { note_id: 1, expression, value: 0.75 };
        let tuning = convert(expression(NoteExpression::Tuning)).expect("an event");
        // SAFETY: the event is a note expression.
        assert_eq!(unsafe { tuning.__field0.noteExpressionValue }.value, 0.75);
        assert!(convert(expression(NoteExpression::Pan)).is_none());
        assert!(convert(EventKind::Parameter(ParameterValue { id: 1, value: 0.5 })).is_none());
    }
}

//! `midi`: MIDI messages of a client as events for a plugin.

use songfoundry_bridge_protocol::host::EventKind;

use super::message::{Answer, MidiCommand, MidiEvent};

/// Maximum number of events of one message.
pub(super) const MESSAGE_EVENTS_MAX: usize = 256;

/// How far after the next block an event may be, in frames.
pub(super) const AHEAD_FRAMES_MAX: u32 = 65_535;

/// Id of notes, which plugins tell apart by channel and key, as in renders.
const NO_NOTE_ID: i32 = -1;

/// Maximum number of bytes that an error repeats.
const SHOWN_BYTES: usize = 8;

impl MidiCommand {
    /// Returns the offsets and the kinds of the events.
    ///
    /// # Errors
    /// The answer if an event is invalid, or if there are too many.
    pub(super) fn events(&self) -> Result<Vec<(u32, EventKind)>, Answer> {
        let count = self.events.len();
        if count > MESSAGE_EVENTS_MAX {
            let detail = format!("the message has {count} events; at most {MESSAGE_EVENTS_MAX} are allowed");
            return Err(Answer::error("too_many_events", detail));
        }
        let events = self.events.iter().enumerate();
        events.map(|(index, event)| Ok((event.checked_frame(index)?, event.kind(index)?))).collect()
    }
}

impl MidiEvent {
    fn checked_frame(&self, index: usize) -> Result<u32, Answer> {
        match self.frame {
            frame @ ..=AHEAD_FRAMES_MAX => Ok(frame),
            frame => {
                let detail =
                    format!("`frame` of event {index} is {frame}; at most {AHEAD_FRAMES_MAX} is allowed");
                Err(Answer::error("invalid_midi", detail))
            }
        }
    }

    /// Returns the event of a channel message (MIDI 1.0, table I).
    fn kind(&self, index: usize) -> Result<EventKind, Answer> {
        let invalid = |reason: &str| {
            let shown: Vec<_> =
                self.bytes.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02X}")).collect();
            let more = if self.bytes.len() > SHOWN_BYTES { " ..." } else { "" };
            let detail = format!("event {index} has the bytes `{}{more}`: {reason}", shown.join(" "));
            Answer::error("invalid_midi", detail)
        };
        let (status, data) = self.bytes.split_first().ok_or_else(|| invalid("the status is missing"))?;
        if *status < 0x80 {
            return Err(invalid("the first byte must be a status, from 80 to EF"));
        }
        if *status >= 0xF0 {
            return Err(invalid("system messages are not played; the status must be from 80 to EF"));
        }
        let (message, channel) = (status >> 4, status & 0x0F);
        let length = if matches!(message, 0xC | 0xD) { 1 } else { 2 };
        if data.len() != length {
            return Err(invalid(&format!("{length} data bytes must follow this status")));
        }
        if data.iter().any(|byte| *byte > 0x7F) {
            return Err(invalid("data bytes must be from 00 to 7F"));
        }
        let (note_id, key) = (NO_NOTE_ID, data[0]);
        let value = data.last().copied().unwrap_or_default();
        let velocity = f32::from(value) / 127.0;
        Ok(match message {
            // Running status made a note-on of velocity 0 a usual note-off.
            0x9 if value == 0 => EventKind::NoteOff { note_id, channel, key, velocity: 0.0 },
            0x9 => EventKind::NoteOn { note_id, channel, key, velocity },
            0x8 => EventKind::NoteOff { note_id, channel, key, velocity },
            0xA => EventKind::KeyPressure { note_id, channel, key, value },
            0xB => EventKind::Controller { channel, controller: key, value },
            0xC => EventKind::ProgramChange { channel, program: value },
            0xD => EventKind::ChannelPressure { channel, value },
            _ => EventKind::PitchBend { channel, value: u16::from(key) | u16::from(value) << 7 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> Result<EventKind, String> {
        let events = vec![MidiEvent { bytes: bytes.to_vec(), frame: 0 }];
        match (MidiCommand { effect: None, events }).events() {
            Ok(events) => Ok(events[0].1),
            Err(Answer::Error { code: "invalid_midi", detail }) => Err(detail),
            Err(answer) => panic!("{answer:?}"),
        }
    }

    #[test]
    fn channel_messages_become_events() {
        let note_id = NO_NOTE_ID;
        for (bytes, expected) in [
            (&[0x93, 60, 127][..], EventKind::NoteOn { note_id, channel: 3, key: 60, velocity: 1.0 }),
            (&[0x90, 60, 0], EventKind::NoteOff { note_id, channel: 0, key: 60, velocity: 0.0 }),
            (&[0x8F, 1, 127], EventKind::NoteOff { note_id, channel: 15, key: 1, velocity: 1.0 }),
            (&[0xA0, 60, 5], EventKind::KeyPressure { note_id, channel: 0, key: 60, value: 5 }),
            (&[0xB1, 64, 127], EventKind::Controller { channel: 1, controller: 64, value: 127 }),
            (&[0xC2, 9], EventKind::ProgramChange { channel: 2, program: 9 }),
            (&[0xD2, 9], EventKind::ChannelPressure { channel: 2, value: 9 }),
            (&[0xE0, 0, 64], EventKind::PitchBend { channel: 0, value: 8_192 }),
            (&[0xE0, 127, 127], EventKind::PitchBend { channel: 0, value: 16_383 }),
        ] {
            assert_eq!(kind(bytes), Ok(expected), "{bytes:02X?}");
        }
    }

    #[test]
    fn invalid_bytes_are_named_with_the_limit() {
        for (bytes, expected) in [
            (&[][..], "event 0 has the bytes ``: the status is missing"),
            (&[60, 100], "the first byte must be a status, from 80 to EF"),
            (&[0xF0, 1, 0xF7], "`F0 01 F7`: system messages are not played"),
            (&[0x90, 60], "2 data bytes must follow"),
            (&[0xC0, 60, 1], "1 data bytes must follow"),
            (&[0x90, 128, 1], "`90 80 01`: data bytes must be from 00 to 7F"),
            (&[0xFF; 9], "`FF FF FF FF FF FF FF FF ...`"),
        ] {
            let detail = kind(bytes).expect_err("invalid");
            assert!(detail.contains(expected), "{detail}");
        }
        let event = |frame| MidiEvent { bytes: vec![0x90, 60, 1], frame };
        let events = |events| MidiCommand { effect: None, events }.events();
        let Err(Answer::Error { detail, .. }) = events(vec![event(0), event(AHEAD_FRAMES_MAX + 1)]) else {
            panic!("too far ahead")
        };
        assert_eq!(detail, "`frame` of event 1 is 65536; at most 65535 is allowed");
        let many = (0..=MESSAGE_EVENTS_MAX).map(|_| event(0)).collect();
        let Err(Answer::Error { code, detail }) = events(many) else { panic!("too many events") };
        assert_eq!(
            (code, detail.as_str()),
            ("too_many_events", "the message has 257 events; at most 256 are allowed")
        );
    }
}

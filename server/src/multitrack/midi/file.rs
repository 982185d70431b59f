//! Reads Standard MIDI files, including running status, RMID wrappers and truncated files.
//!
//! Damaged files are read as far as possible, and warnings report the damage. Sources: "Standard
//! MIDI Files 1.0" (RP-001), and RP-029 for RMID.

use schemas::limits::{CONTROL_BYTES, MAX_EVENT_BYTES};

use super::MidiError;

/// The events of a MIDI file, by track.
#[derive(Debug)]
pub(super) struct MidiFile {
    pub(super) format: u16,
    pub(super) timing: Timing,
    pub(super) tracks: Vec<FileTrack>,
    /// Warnings about damage, as sentences.
    pub(super) warnings: Vec<String>,
}

/// The unit of the file's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timing {
    /// Ticks per quarter note. Tempo events set the length of a quarter note.
    TicksPerQuarter(u16),
    /// `ticks` ticks in `seconds` seconds.
    TicksPerSecond { ticks: u32, seconds: u32 },
}

/// One track chunk.
#[derive(Debug, Default)]
pub(super) struct FileTrack {
    pub(super) events: Vec<FileEvent>,
    /// End of the track, in ticks of the file.
    pub(super) end_tick: u64,
}

/// An event with its position, in ticks of the file.
#[derive(Debug)]
pub(super) struct FileEvent {
    pub(super) tick: u64,
    pub(super) kind: EventKind,
}

/// The events that the import uses. Other meta events are skipped.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// A channel message: its status without the channel (0x80 to 0xe0), its channel (0 to 15) and
    /// two data bytes.
    Channel { status: u8, channel: u8, data_bytes: [u8; 2] },
    /// Tempo in microseconds per quarter note.
    Tempo(u32),
    /// Number of beats in a bar, and the beat's note value as a power of two (3 is an eighth note).
    TimeSignature { numerator: u8, denominator_power: u8 },
    /// Name of the track. In the first track, it may be the song's name.
    TrackName(String),
    /// Name of the instrument.
    InstrumentName(String),
    /// A marker or a cue point.
    Marker(String),
    /// Port of the channel messages that follow in the track.
    Port(u8),
    /// A system exclusive message without its first byte or, with `is_escape`, raw bytes to send.
    Exclusive { is_escape: bool, data_bytes: Vec<u8> },
}

/// Maximum length of a name or marker in characters, as in the project schema. Longer text is cut.
const MAX_TEXT_CHARS: usize = 500;

/// Maximum number of events in a file. A project can have half as many controls, or starts and ends
/// of notes. The other half is for tempos, markers and other events.
const MAX_EVENTS: usize = 2 * MAX_EVENT_BYTES / CONTROL_BYTES;

/// Maximum number of warnings about one file.
const MAX_WARNINGS: usize = 20;

impl MidiFile {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is not a MIDI file, or its format or timing is invalid.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, MidiError> {
        let bytes = unwrap_rmid(bytes)?;
        let mut chunks = Reader { bytes, position_bytes: 0 };
        if chunks.take(4) != Some(b"MThd") {
            return Err(MidiError::NotMidi);
        }
        let header_bytes = chunks.u32().ok_or(MidiError::HeaderCutShort)? as usize;
        let header = chunks.take(header_bytes.max(6)).ok_or(MidiError::HeaderCutShort)?;
        let field = |offset: usize| u16::from_be_bytes([header[offset], header[offset + 1]]);
        let (format, tracks_in_header) = (field(0), usize::from(field(2)));
        if format > 2 {
            return Err(MidiError::UnknownFormat { format });
        }
        let mut file = Self { format, timing: timing(field(4))?, tracks: Vec::new(), warnings: Vec::new() };
        let mut events = 0;
        while let Some(id) = chunks.take(4) {
            let Some(size_bytes) = chunks.u32() else { break };
            let available_bytes = bytes.len() - chunks.position_bytes;
            let is_cut_short = size_bytes as usize > available_bytes;
            let body = chunks.take((size_bytes as usize).min(available_bytes)).unwrap_or_default();
            if id == b"MTrk" {
                let number = file.tracks.len() + 1;
                if is_cut_short {
                    file.warn(format!(
                        "Track {number} is truncated: its header announces {size_bytes} bytes, but the file contains only {available_bytes} of them."
                    ));
                }
                let (track, damage) = FileTrack::read(body, MAX_EVENTS - events);
                if let (Some(damage), false) = (damage, is_cut_short) {
                    file.warn(format!("Track {number} {damage}"));
                }
                events += track.events.len();
                if events > MAX_EVENTS {
                    return Err(MidiError::TooMany { kind: "events", limit: MAX_EVENTS });
                }
                file.tracks.push(track);
            }
        }
        if file.tracks.len() < tracks_in_header {
            let track_count = file.tracks.len();
            file.warn(format!(
                "The header announces {tracks_in_header} tracks, but the file has {track_count}."
            ));
        }
        if file.tracks.is_empty() {
            return Err(MidiError::NoTracks);
        }
        Ok(file)
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }
}

/// Returns the MIDI file inside a RIFF file of form type RMID, and any other file unchanged.
fn unwrap_rmid(bytes: &[u8]) -> Result<&[u8], MidiError> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12) != Some(b"RMID") {
        return Ok(bytes);
    }
    let mut chunks = Reader { bytes, position_bytes: 12 };
    while let (Some(id), Some(size)) = (chunks.take(4), chunks.take(4)) {
        let size_bytes = u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize;
        let size_bytes = size_bytes.min(bytes.len() - chunks.position_bytes);
        let body = chunks.take(size_bytes).unwrap_or_default();
        if id == b"data" {
            return Ok(body);
        }
        // Chunks begin at even offsets.
        chunks.take(size_bytes % 2);
    }
    Err(MidiError::EmptyRmid)
}

fn timing(division: u16) -> Result<Timing, MidiError> {
    if division == 0 {
        return Err(MidiError::NoTiming);
    }
    if division & 0x8000 == 0 {
        return Ok(Timing::TicksPerQuarter(division));
    }
    let [frames, ticks_per_frame] = division.to_be_bytes();
    let ticks_per_frame = u32::from(ticks_per_frame);
    // Frame rates of SMPTE time code. The value 29 stands for the 30000/1001 frames per second of
    // NTSC.
    let (frames, seconds) = match frames as i8 {
        -24 => (24, 1),
        -25 => (25, 1),
        -29 => (30_000, 1_001),
        -30 => (30, 1),
        frame_rate => return Err(MidiError::UnknownFrameRate { frames: -i16::from(frame_rate) }),
    };
    if ticks_per_frame == 0 {
        return Err(MidiError::NoTiming);
    }
    Ok(Timing::TicksPerSecond { ticks: frames * ticks_per_frame, seconds })
}

impl FileTrack {
    /// Reads the events of a track up to its end or to the first damage. Stops early once it has
    /// more than `max_events` events. Returns the track and the damage, as the predicate of a
    /// sentence.
    fn read(body: &[u8], max_events: usize) -> (Self, Option<String>) {
        let mut reader = Reader { bytes: body, position_bytes: 0 };
        let mut track = Self::default();
        let mut running_status = None;
        while reader.position_bytes < body.len() {
            let start = reader.position_bytes;
            match track.read_event(&mut reader, &mut running_status) {
                Ok(ReadEvent::Event) if track.events.len() > max_events => return (track, None),
                Ok(ReadEvent::Event) => {}
                Ok(ReadEvent::EndOfTrack) => return (track, None),
                Err(problem) => {
                    let damage = format!(
                        "is damaged at byte {start}: {problem}. The remainder of the track is skipped."
                    );
                    return (track, Some(damage));
                }
            }
        }
        (track, Some("has no end-of-track event; all its events were read.".into()))
    }

    fn read_event(
        &mut self,
        reader: &mut Reader<'_>,
        running_status: &mut Option<u8>,
    ) -> Result<ReadEvent, &'static str> {
        const CUT_SHORT: &str = "an event is cut short";
        let delta = reader.variable_length()?;
        let first_byte = reader.u8().ok_or(CUT_SHORT)?;
        self.end_tick += u64::from(delta);
        let status = if first_byte >= 0x80 {
            first_byte
        } else {
            reader.position_bytes -= 1;
            running_status.ok_or("a data byte has no status byte")?
        };
        match status {
            0x80..=0xef => {
                *running_status = Some(status);
                let mut data_bytes = [0; 2];
                let count = if matches!(status & 0xf0, 0xc0 | 0xd0) { 1 } else { 2 };
                for byte in &mut data_bytes[..count] {
                    *byte = reader.u8().ok_or(CUT_SHORT)?;
                    if *byte >= 0x80 {
                        return Err("a data byte is above 127");
                    }
                }
                self.push(EventKind::Channel { status: status & 0xf0, channel: status & 0x0f, data_bytes });
            }
            0xff => {
                let meta_type = reader.u8().ok_or(CUT_SHORT)?;
                let size_bytes = reader.variable_length()?;
                let data_bytes = reader.take(size_bytes as usize).ok_or(CUT_SHORT)?;
                if meta_type == 0x2f {
                    return Ok(ReadEvent::EndOfTrack);
                }
                if let Some(kind) = meta_event(meta_type, data_bytes) {
                    self.push(kind);
                }
            }
            0xf0 | 0xf7 => {
                let size_bytes = reader.variable_length()?;
                let data_bytes = reader.take(size_bytes as usize).ok_or(CUT_SHORT)?.to_vec();
                self.push(EventKind::Exclusive { is_escape: status == 0xf7, data_bytes });
            }
            // System common and real-time messages do not belong in a file, so they are skipped.
            0xf2 => drop(reader.take(2).ok_or(CUT_SHORT)?),
            0xf1 | 0xf3 => drop(reader.take(1).ok_or(CUT_SHORT)?),
            _ => {}
        }
        Ok(ReadEvent::Event)
    }

    fn push(&mut self, kind: EventKind) {
        self.events.push(FileEvent { tick: self.end_tick, kind });
    }
}

enum ReadEvent {
    Event,
    EndOfTrack,
}

fn meta_event(meta_type: u8, data_bytes: &[u8]) -> Option<EventKind> {
    match (meta_type, data_bytes) {
        (0x03, text) => Some(EventKind::TrackName(decode_text(text)?)),
        (0x04, text) => Some(EventKind::InstrumentName(decode_text(text)?)),
        (0x06 | 0x07, text) => Some(EventKind::Marker(decode_text(text)?)),
        (0x21, [port, ..]) => Some(EventKind::Port(*port)),
        (0x51, [high, middle, low, ..]) => {
            Some(EventKind::Tempo(u32::from_be_bytes([0, *high, *middle, *low])))
        }
        (0x58, [numerator, denominator_power, ..]) => {
            Some(EventKind::TimeSignature { numerator: *numerator, denominator_power: *denominator_power })
        }
        _ => None,
    }
}

/// Decodes text as UTF-8, or as Latin-1 if it is not valid UTF-8. Removes control characters.
/// Returns `None` if the text is empty.
fn decode_text(bytes: &[u8]) -> Option<String> {
    let remove_control_chars = |text: &mut dyn Iterator<Item = char>| -> String {
        text.filter(|c| !c.is_control()).take(MAX_TEXT_CHARS).collect()
    };
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => remove_control_chars(&mut text.chars()),
        Err(_) => remove_control_chars(&mut bytes.iter().map(|&byte| char::from(byte))),
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

struct Reader<'a> {
    bytes: &'a [u8],
    position_bytes: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(self.position_bytes..self.position_bytes.checked_add(count)?)?;
        self.position_bytes += count;
        Some(bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads a variable-length quantity: seven bits per byte, at most four bytes.
    fn variable_length(&mut self) -> Result<u32, &'static str> {
        let mut value = 0;
        for _ in 0..4 {
            let byte = self.u8().ok_or("a variable-length quantity is cut short")?;
            value = value << 7 | u32::from(byte & 0x7f);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a variable-length quantity has more than four bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(format: u16, division: u16, tracks: &[&[u8]]) -> Vec<u8> {
        let mut bytes = b"MThd\0\0\0\x06".to_vec();
        for field in [format, tracks.len() as u16, division] {
            bytes.extend(field.to_be_bytes());
        }
        for track in tracks {
            bytes.extend(b"MTrk");
            bytes.extend((track.len() as u32).to_be_bytes());
            bytes.extend(*track);
        }
        bytes
    }

    const END: [u8; 4] = [0, 0xff, 0x2f, 0];

    fn read_one_track(events: &[u8]) -> MidiFile {
        let track: Vec<u8> = events.iter().chain(&END).copied().collect();
        MidiFile::read(&file(0, 96, &[&track])).expect("a file")
    }

    fn messages(file: &MidiFile) -> Vec<(u64, u8, u8, [u8; 2])> {
        let channel_message = |event: &FileEvent| match event.kind {
            EventKind::Channel { status, channel, data_bytes } => {
                Some((event.tick, status, channel, data_bytes))
            }
            _ => None,
        };
        file.tracks.iter().flat_map(|track| &track.events).filter_map(channel_message).collect()
    }

    #[test]
    fn running_status_outlasts_metas_and_exclusives() {
        let file = read_one_track(&[
            0, 0x93, 60, 100, 10, 61, 101, 0, 0xff, 0x01, 2, b'h', b'i', 5, 62, 102, 0, 0xf0, 3, 1, 2, 0xf7,
            0x81, 0x00, 60, 0, 0, 0xc2, 7, 0, 8,
        ]);
        assert_eq!(
            messages(&file),
            [
                (0, 0x90, 3, [60, 100]),
                (10, 0x90, 3, [61, 101]),
                (15, 0x90, 3, [62, 102]),
                (143, 0x90, 3, [60, 0]),
                (143, 0xc0, 2, [7, 0]),
                (143, 0xc0, 2, [8, 0]),
            ]
        );
        assert!(file.warnings.is_empty(), "{:?}", file.warnings);
        assert_eq!(file.tracks[0].end_tick, 143);
        let exclusive = EventKind::Exclusive { is_escape: false, data_bytes: vec![1, 2, 0xf7] };
        assert!(file.tracks[0].events.iter().any(|event| event.tick == 15 && event.kind == exclusive));
    }

    #[test]
    fn meta_events_are_read() {
        let file = read_one_track(&[
            0, 0xff, 0x51, 3, 7, 0xa1, 0x20, 0, 0xff, 0x58, 4, 6, 3, 36, 8, 0, 0xff, 3, 3, b'a', 0xe9, 0, 0,
            0xff, 6, 1, b'M', 0, 0xff, 0x21, 1, 2, 0, 0xff, 4, 1, b'i', 0, 0xff, 3, 1, b' ',
        ]);
        let kinds: Vec<&EventKind> = file.tracks[0].events.iter().map(|event| &event.kind).collect();
        assert_eq!(
            kinds,
            [
                &EventKind::Tempo(500_000),
                &EventKind::TimeSignature { numerator: 6, denominator_power: 3 },
                &EventKind::TrackName("aé".into()),
                &EventKind::Marker("M".into()),
                &EventKind::Port(2),
                &EventKind::InstrumentName("i".into()),
            ]
        );
    }

    fn check_damage(events: &[u8], readable: usize, warning: &str) {
        let file = MidiFile::read(&file(0, 96, &[events])).expect("a file");
        assert_eq!(messages(&file).len(), readable);
        assert_eq!(file.warnings, [warning]);
    }

    #[test]
    fn events_before_the_damage_are_read_and_a_warning_describes_the_damage() {
        check_damage(&[0, 0x90, 60, 100], 1, "Track 1 has no end-of-track event; all its events were read.");
        let skipped = "The remainder of the track is skipped.";
        check_damage(
            &[0, 0x90, 60, 100, 0, 60],
            1,
            &format!("Track 1 is damaged at byte 4: an event is cut short. {skipped}"),
        );
        check_damage(
            &[0, 60, 100],
            0,
            &format!("Track 1 is damaged at byte 0: a data byte has no status byte. {skipped}"),
        );
        check_damage(
            &[0, 0x90, 60, 100, 0, 0x90, 60, 0x90, 0],
            1,
            &format!("Track 1 is damaged at byte 4: a data byte is above 127. {skipped}"),
        );
        check_damage(
            &[0xff, 0xff, 0xff, 0xff, 0xff],
            0,
            &format!(
                "Track 1 is damaged at byte 0: a variable-length quantity has more than four bytes. {skipped}"
            ),
        );
        check_damage(
            &[0, 0xff, 1, 0xff, 0xff, 0xff, 0x7f],
            0,
            &format!("Track 1 is damaged at byte 0: an event is cut short. {skipped}"),
        );
    }

    #[test]
    fn a_truncated_file_is_read_up_to_the_cut() {
        let complete = file(1, 96, &[&END, &[0, 0x90, 60, 100, 96, 0x80, 60, 0, 0, 0xff, 0x2f, 0]]);
        assert!(MidiFile::read(&complete).unwrap().warnings.is_empty());
        for length in 0..complete.len() {
            match MidiFile::read(&complete[..length]) {
                Ok(file) => assert!(!file.warnings.is_empty(), "cut at {length}"),
                Err(error) => assert!(length < 22 + 4, "cut at {length}: {error}"),
            }
        }
        let file = MidiFile::read(&complete[..complete.len() - 4]).unwrap();
        assert_eq!(
            file.warnings,
            ["Track 2 is truncated: its header announces 12 bytes, but the file contains only 8 of them."]
        );
        assert_eq!(messages(&file).len(), 2);
    }

    fn check_refused(bytes: &[u8], message: &str) {
        assert_eq!(MidiFile::read(bytes).unwrap_err().to_string(), message);
    }

    #[test]
    fn invalid_files_are_refused_with_the_reason() {
        check_refused(b"", "this is not a MIDI file: it does not begin with MThd");
        check_refused(b"RIFF\x04\0\0\0WAVE", "this is not a MIDI file: it does not begin with MThd");
        check_refused(b"RIFF\x04\0\0\0RMID", "this RMID file contains no MIDI data");
        check_refused(b"MThd\0\0\0\x06\0\0", "the file ends within its header");
        check_refused(b"MThd\xff\xff\xff\xff\0\0", "the file ends within its header");
        check_refused(&file(3, 96, &[&END]), "MIDI file format 3 is unknown; formats 0, 1 and 2 can be read");
        check_refused(
            &file(0, 0, &[&END]),
            "the header says 0 ticks per quarter note or video frame; at least 1 is needed",
        );
        check_refused(
            &file(0, 0xe700, &[&END]),
            "the header says 0 ticks per quarter note or video frame; at least 1 is needed",
        );
        check_refused(
            &file(0, 0x9c01, &[&END]),
            "the header says a time code of 100 frames per second; SMPTE defines 24, 25, 29 (drop frame) and 30",
        );
        check_refused(&file(0, 96, &[]), "the file has no tracks");
    }

    #[test]
    fn time_codes_and_wrappers_are_read() {
        let smpte = file(0, 0xe728, &[&END]);
        assert_eq!(
            MidiFile::read(&smpte).unwrap().timing,
            Timing::TicksPerSecond { ticks: 1_000, seconds: 1 }
        );
        let ntsc = file(0, 0xe304, &[&END]);
        assert_eq!(
            MidiFile::read(&ntsc).unwrap().timing,
            Timing::TicksPerSecond { ticks: 120_000, seconds: 1_001 }
        );
        let mut rmid = b"RIFF\xff\xff\xff\xffRMIDDISP\x01\0\0\0x\0data\xff\0\0\0".to_vec();
        rmid.extend(file(0, 480, &[&END]));
        assert_eq!(MidiFile::read(&rmid).unwrap().timing, Timing::TicksPerQuarter(480));
    }

    #[test]
    fn unknown_chunks_are_skipped_and_missing_tracks_are_reported() {
        let mut bytes = file(1, 96, &[&END, &END]);
        bytes.splice(14..14, *b"XFIH\0\0\0\x02ab");
        assert_eq!(MidiFile::read(&bytes).unwrap().tracks.len(), 2);
        bytes.truncate(bytes.len() - 12);
        assert_eq!(
            MidiFile::read(&bytes).unwrap().warnings,
            ["The header announces 2 tracks, but the file has 1."]
        );
    }
}

//! Fuzz target for MIDI files. A file must be refused or become a valid project. The export of the
//! project can then be imported again with all its notes.

use midly::num::{u4, u7, u15, u24, u28};
use midly::{
    Format, Fps, Header, MetaMessage, MidiMessage, PitchBend, Smf, Timing, TrackEvent, TrackEventKind,
};
use schemas::Project;
use schemas::json::JsonText;

use crate::choices::Choices;
use crate::mutate::chunks::{Chunk, Order, parse, write};
use crate::{Seed, mutate, with_memory_limit};

#[path = "../../../server/src/multitrack/midi/mod.rs"]
mod parser;

use parser::{ImportOptions, ImportedProject, MidiError, import};

/// Returns the maximum memory of an import, which converts events of two bytes to notes and
/// controls.
fn limit_bytes(file: &[u8]) -> usize {
    200 * file.len() + (1 << 20)
}

/// Panics if a file is imported incorrectly.
pub fn check(file: &[u8]) {
    let Ok(imported_song) = with_memory_limit(limit_bytes(file), "an import", || import(file, options())) else {
        return;
    };
    let ImportedProject { project, warnings } = imported_song;
    for warning in warnings {
        let starts_as_sentence = warning.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit());
        assert!(starts_as_sentence && warning.ends_with('.'), "not a sentence: {warning}");
    }
    let value = serde_json::to_value(&project).expect("a project is JSON");
    let document = JsonText::of_value(&value);
    assert_eq!(schemas::validate::validate(&document), Ok(()));
    let session = schemas::session::build(&project, project.sample_rate_hz, |_| Some(0));
    assert!(session.is_ok(), "{session:?}");
    let reimported = exported(&document, &project).expect("the exported file can be imported");
    assert_eq!(
        note_count(&reimported),
        note_count(&project),
        "the exported file has another number of notes"
    );
}

fn options() -> ImportOptions {
    ImportOptions { project_id: "fuzz".to_owned(), name: None, soundfont_id: None }
}

fn note_count(project: &Project) -> usize {
    project.tracks.iter().flat_map(|track| track.midi_items()).map(|item| item.notes.len()).sum()
}

/// Exports a project, imports the file, and returns the imported project. The file must be
/// complete.
///
/// # Errors
///
/// The exported file is longer or has more events than an import accepts. It may be longer because
/// an item may end after the maximum tick at which an item may start.
pub(crate) fn exported(document: &JsonText, project: &Project) -> Result<Project, MidiError> {
    let file = parser::export(document.view(), project.clone());
    Smf::parse(&file).expect("another parser reads the exported file");
    let ImportedProject { project, warnings } = import(&file, options())?;
    for warning in warnings {
        let damage = ["damaged", "cut short", "no end-of-track", "header announces"];
        assert!(!damage.iter().any(|words| warning.contains(words)), "{warning}");
    }
    Ok(project)
}

/// Panics if an export of a valid project cannot be read.
pub(crate) fn check_export(document: &JsonText, project: &Project) {
    match exported(document, project) {
        Ok(_) | Err(MidiError::TooLong { .. } | MidiError::TooMany { .. } | MidiError::TooLarge { .. }) => {}
        Err(error) => panic!("an export cannot be imported: {error}"),
    }
}

/// Mutates a track or inserts an event. The sizes of the chunks remain correct.
pub fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let mut chunks = parse(bytes, Order::Big, false);
    if chunks.first()?.id != *b"MThd" {
        return None;
    }
    let index = choices.below(chunks.len());
    let Chunk { id, body, .. } = &mut chunks[index];
    let is_track = *id == *b"MTrk";
    match choices.below(8) {
        0..4 if is_track => {
            let offset = choices.below(body.len() + 1);
            let event = event(choices);
            body.splice(offset..offset, event);
        }
        4 if is_track => {
            let copy = Chunk::new(b"MTrk", body.clone());
            chunks.push(copy);
        }
        5 if is_track => drop(chunks.remove(index)),
        6 => mutate::in_place(body),
        _ => mutate::any(body),
    }
    Some(write(&chunks, Order::Big, false))
}

/// Returns a delta time and an event.
fn event(choices: &mut Choices) -> Vec<u8> {
    const SYSEX_MESSAGES: [&[u8]; 6] = [
        // GM on, GM2 on, GS reset, a GS part as drums, XG on, and a truncated message.
        &[0xf0, 5, 0x7e, 0x7f, 9, 1, 0xf7],
        &[0xf0, 5, 0x7e, 0x7f, 9, 3, 0xf7],
        &[0xf0, 10, 0x41, 0x10, 0x42, 0x12, 0x40, 0, 0x7f, 0, 0x41, 0xf7],
        &[0xf0, 10, 0x41, 0x10, 0x42, 0x12, 0x40, 0x11, 0x15, 1, 0x19, 0xf7],
        &[0xf0, 8, 0x43, 0x10, 0x4c, 0, 0, 0x7e, 0, 0xf7],
        &[0xf7, 2, 0x7e, 0x7f],
    ];
    const DELTA_TIMES: [&[u8]; 5] = [&[0], &[1], &[0x60], &[0x83, 0x60], &[0xff, 0xff, 0xff, 0x7f]];
    const META_EVENTS: [(u8, &[u8]); 9] = [
        (0x51, &[7, 0xa1, 0x20]),
        (0x51, &[0, 0, 1]),
        (0x58, &[6, 3, 24, 8]),
        (0x58, &[0, 9, 24, 8]),
        (0x03, b"T\xe9\0"),
        (0x04, b"I"),
        (0x06, b"M"),
        (0x21, &[1]),
        (0x2f, &[]),
    ];
    let mut output = choices.among(&DELTA_TIMES).to_vec();
    let channel = choices.below(16) as u8;
    let data = [choices.below(128) as u8, choices.below(128) as u8];
    match choices.below(6) {
        0 => output.extend(*choices.among(&SYSEX_MESSAGES)),
        1 => {
            let (kind, data) = choices.among(&META_EVENTS);
            output.extend([0xff, *kind, data.len() as u8]);
            output.extend(*data);
        }
        // A controller that selects a bank or a parameter.
        2 => output.extend([0xb0 | channel, *choices.among(&[0, 32, 6, 38, 98, 99, 100, 101]), data[1]]),
        // An event in running status.
        3 => output.extend(data),
        _ => {
            let status = 0x80 | (choices.below(7) as u8) << 4 | channel;
            output.push(status);
            output.extend(&data[..if matches!(status & 0xf0, 0xc0 | 0xd0) { 1 } else { 2 }]);
        }
    }
    output
}

type Kind = TrackEventKind<'static>;

fn midi(channel: u8, message: MidiMessage) -> Kind {
    TrackEventKind::Midi { channel: u4::new(channel), message }
}

fn on(channel: u8, key: u8, vel: u8) -> Kind {
    midi(channel, MidiMessage::NoteOn { key: u7::new(key), vel: u7::new(vel) })
}

fn off(channel: u8, key: u8) -> Kind {
    midi(channel, MidiMessage::NoteOff { key: u7::new(key), vel: u7::new(64) })
}

fn cc(channel: u8, controller: u8, value: u8) -> Kind {
    midi(channel, MidiMessage::Controller { controller: u7::new(controller), value: u7::new(value) })
}

fn program(channel: u8, program: u8) -> Kind {
    midi(channel, MidiMessage::ProgramChange { program: u7::new(program) })
}

fn meta(message: MetaMessage<'static>) -> Kind {
    TrackEventKind::Meta(message)
}

/// Returns a file of tracks, which are lists of delta times and events. `midly` writes running
/// status.
fn file(format: Format, timing: Timing, tracks: &[&[(u32, Kind)]]) -> Vec<u8> {
    let mut smf = Smf::new(Header::new(format, timing));
    for track in tracks {
        let events = track.iter().chain([&(0, TrackEventKind::Meta(MetaMessage::EndOfTrack))]);
        smf.tracks.push(events.map(|&(delta, kind)| TrackEvent { delta: u28::new(delta), kind }).collect());
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).expect("writing to memory does not fail");
    bytes
}

/// Returns files of each format, with each kind of event.
pub fn seeds() -> Vec<Seed> {
    let beats = Timing::Metrical(u15::new(480));
    let notes: &[(u32, Kind)] =
        &[(0, on(0, 60, 100)), (240, on(0, 64, 90)), (0, on(9, 36, 127)), (240, off(0, 60)), (0, off(0, 64))];
    let song: &[(u32, Kind)] = &[
        (0, meta(MetaMessage::TrackName(b"Song"))),
        (0, meta(MetaMessage::Tempo(u24::new(500_000)))),
        (0, meta(MetaMessage::TimeSignature(3, 2, 24, 8))),
        (960, meta(MetaMessage::Tempo(u24::new(250_000)))),
        (480, meta(MetaMessage::Marker(b"Bridge"))),
        (0, meta(MetaMessage::CuePoint(b"\xe9"))),
        (1, meta(MetaMessage::Tempo(u24::new(1)))),
    ];
    let controls: &[(u32, Kind)] = &[
        (0, meta(MetaMessage::InstrumentName(b"Strings"))),
        (0, cc(2, 0, 121)),
        (0, cc(2, 32, 3)),
        (0, program(2, 48)),
        (0, cc(2, 101, 0)),
        (0, cc(2, 100, 1)),
        (0, cc(2, 6, 70)),
        (0, cc(2, 38, 5)),
        (0, cc(2, 99, 1)),
        (0, cc(2, 98, 8)),
        (0, cc(2, 6, 64)),
        (10, midi(2, MidiMessage::PitchBend { bend: PitchBend::from_int(-8_192) })),
        (10, midi(2, MidiMessage::ChannelAftertouch { vel: u7::new(50) })),
        (10, midi(2, MidiMessage::Aftertouch { key: u7::new(60), vel: u7::new(50) })),
        (0, on(2, 60, 1)),
        (100, on(2, 60, 2)),
        (100, on(2, 60, 0)),
    ];
    let exclusives: &[(u32, Kind)] = &[
        (0, TrackEventKind::SysEx(&[0x7e, 0x7f, 9, 1, 0xf7])),
        (0, TrackEventKind::SysEx(&[0x41, 0x10, 0x42, 0x12, 0x40, 0, 0x7f, 0, 0x41, 0xf7])),
        (0, TrackEventKind::SysEx(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x11, 0x15, 1, 0x19, 0xf7])),
        (0, TrackEventKind::SysEx(&[0x43, 0x10, 0x4c, 0, 0, 0x7e, 0, 0xf7])),
        (0, TrackEventKind::Escape(&[0xf3, 1])),
        (0, program(9, 8)),
        (0, on(9, 38, 64)),
        (0, on(1, 38, 64)),
        (960, off(1, 38)),
    ];
    let ports: &[(u32, Kind)] = &[
        (0, meta(MetaMessage::MidiPort(u7::new(1)))),
        (0, on(0, 70, 80)),
        (5, off(0, 70)),
        (0, on(15, 1, 1)),
    ];
    let single_track = file(Format::SingleTrack, beats, &[notes]);
    let mut in_riff = b"RIFF\0\0\0\0RMIDdata".to_vec();
    in_riff.extend((single_track.len() as u32).to_le_bytes());
    in_riff.extend(&single_track);
    let mut cut_short = file(Format::Parallel, beats, &[song, controls]);
    cut_short.truncate(cut_short.len() - 9);
    // This file has explicit statuses, system messages, and no end of track.
    let mut plain_file = b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk\0\0\0\x16".to_vec();
    plain_file.extend([
        0, 0x90, 60, 100, 0, 0x90, 62, 100, 0x60, 0xf8, 0, 0xf2, 1, 2, 0, 0x80, 60, 0, 0, 62, 64, 0,
    ]);
    [
        ("format-0.mid", single_track),
        ("format-1.mid", file(Format::Parallel, beats, &[song, notes, controls])),
        ("format-2.mid", file(Format::Sequential, beats, &[notes, controls])),
        ("exclusives.mid", file(Format::Parallel, beats, &[song, exclusives])),
        ("ports.mid", file(Format::Parallel, beats, &[song, notes, ports])),
        ("time-code.mid", file(Format::SingleTrack, Timing::Timecode(Fps::Fps29, 80), &[notes])),
        ("only-tempos.mid", file(Format::SingleTrack, Timing::Metrical(u15::new(1)), &[song])),
        ("long.mid", file(Format::SingleTrack, beats, &[&[(0, on(0, 1, 1)), (0x0fff_ffff, off(0, 1))]])),
        ("rmid.rmi", in_riff),
        ("cut-short.mid", cut_short),
        ("plain.mid", plain_file),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .to_vec()
}

/// Returns no seeds.
pub fn installed_seeds() -> Vec<Seed> {
    Vec::new()
}

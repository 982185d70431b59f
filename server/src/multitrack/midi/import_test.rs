use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, PitchBend, Smf, TrackEvent, TrackEventKind};
use schemas::project::{BendControl, CcControl, Control, Note, ProgramControl};

use super::*;

type Kind = TrackEventKind<'static>;

/// Makes a file of 480 ticks per quarter note. Each event comes with its delta time in ticks.
fn file(format: Format, tracks: &[&[(u32, Kind)]]) -> Vec<u8> {
    let mut smf = Smf::new(Header::new(format, midly::Timing::Metrical(u15::new(480))));
    for track in tracks {
        let end = (0, TrackEventKind::Meta(MetaMessage::EndOfTrack));
        let events = track.iter().chain([&end]);
        smf.tracks.push(events.map(|&(delta, kind)| TrackEvent { delta: u28::new(delta), kind }).collect());
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).expect("writing to memory");
    bytes
}

fn midi(channel: u8, message: MidiMessage) -> Kind {
    TrackEventKind::Midi { channel: u4::new(channel), message }
}

fn on(channel: u8, key: u8, vel: u8) -> Kind {
    midi(channel, MidiMessage::NoteOn { key: u7::new(key), vel: u7::new(vel) })
}

fn off(channel: u8, key: u8) -> Kind {
    midi(channel, MidiMessage::NoteOff { key: u7::new(key), vel: u7::new(0) })
}

fn program(channel: u8, program: u8) -> Kind {
    midi(channel, MidiMessage::ProgramChange { program: u7::new(program) })
}

fn cc(channel: u8, controller: u8, value: u8) -> Kind {
    midi(channel, MidiMessage::Controller { controller: u7::new(controller), value: u7::new(value) })
}

fn name(text: &'static str) -> Kind {
    TrackEventKind::Meta(MetaMessage::TrackName(text.as_bytes()))
}

fn read(bytes: &[u8]) -> ImportedProject {
    let options = ImportOptions { project_id: "p".into(), name: None, soundfont_id: Some("bank".into()) };
    let imported_song = import(bytes, options).expect("a project");
    let document = serde_json::to_value(&imported_song.project).expect("JSON");
    assert_eq!(schemas::validate::validate(&schemas::json::JsonText::of_value(&document)), Ok(()));
    imported_song
}

fn item(track: &Track) -> &MidiItem {
    match track.items.as_slice() {
        [Item::Midi(item)] => item,
        other => panic!("one MIDI item, not {other:?}"),
    }
}

fn note(tick: u32, length_ticks: u32, pitch: u8, velocity: u8) -> Note {
    Note { tick, length_ticks, pitch, velocity: f64::from(velocity) / 127.0, extra: Extra::default() }
}

#[test]
fn a_file_of_one_track_becomes_a_track_for_each_channel() {
    let imported_song = read(&file(
        Format::SingleTrack,
        &[&[
            (0, name("Song")),
            (0, program(0, 5)),
            (0, on(0, 60, 127)),
            (240, on(9, 35, 1)),
            (1, off(0, 60)),
            (1, on(9, 35, 0)),
        ]],
    ));
    let project = imported_song.project;
    assert_eq!(imported_song.warnings, [""; 0]);
    assert!(project.tracks.iter().all(|track| track.volume_db == -12.0), "imported tracks have -12 dB");
    assert_eq!(project.master.volume_db, 0.0);
    assert_eq!(project.name, "Song");
    let names: Vec<&str> = project.tracks.iter().map(|track| track.name.as_str()).collect();
    assert_eq!(names, ["Channel 1", "Drums"]);
    assert_eq!(item(&project.tracks[0]).notes, [note(0, 482, 60, 127)]);
    assert_eq!(item(&project.tracks[1]).notes, [note(480, 4, 35, 1)]);
    let engines: Vec<_> = project.tracks.iter().map(|track| track.synth_engine.clone()).collect();
    let engine = |bank, program| {
        let soundfont_id = Some("bank".into());
        Some(SynthEngine::SoundFont(SoundFontEngine { soundfont_id, bank, program, extra: Extra::default() }))
    };
    assert_eq!(engines, [engine(0, 5), engine(128, 0)]);
    assert_eq!(project.tracks[1].extra.get("midi_channel"), Some(&9.into()));
}

#[test]
fn tracks_of_one_channel_become_one_track() {
    let project = read(&file(
        Format::Parallel,
        &[
            &[(0, name("The song")), (960, cc(3, 7, 90))],
            &[(0, name("Right hand")), (480, on(3, 72, 10)), (480, off(3, 72))],
            &[(0, name("Left hand")), (0, program(3, 9)), (480, on(3, 48, 20)), (960, off(3, 48))],
        ],
    ))
    .project;
    assert_eq!(project.name, "The song");
    assert_eq!(project.tracks.len(), 1);
    let track = &project.tracks[0];
    assert_eq!(track.name, "Right hand");
    let item = item(track);
    assert_eq!(item.notes, [note(960, 960, 72, 10), note(960, 1920, 48, 20)]);
    let extra = Extra::default;
    assert_eq!(
        item.controls,
        [
            Control::Program(ProgramControl { tick: 0, program: 9, bank: Some(0), extra: extra() }),
            Control::Cc(CcControl { tick: 1920, controller: 7, value: 90, extra: extra() }),
        ]
    );
    assert_eq!(item.length_ticks, 2_880);
    assert!(matches!(&track.synth_engine, Some(SynthEngine::SoundFont(engine)) if engine.program == 9));
}

#[test]
fn a_track_has_the_preset_of_its_first_note() {
    let project = read(&file(
        Format::SingleTrack,
        &[&[(0, program(2, 1)), (0, cc(2, 0, 8)), (0, program(2, 7)), (5, on(2, 60, 9)), (5, program(2, 3))]],
    ))
    .project;
    let Some(SynthEngine::SoundFont(engine)) = &project.tracks[0].synth_engine else { panic!("an engine") };
    assert_eq!((engine.bank, engine.program), (8, 7));
}

#[test]
fn notes_without_a_note_off_end_with_their_item() {
    let imported_song = read(&file(
        Format::Parallel,
        &[
            &[(0, on(0, 60, 64)), (0, on(0, 60, 65)), (480, off(0, 60)), (480, cc(0, 1, 1))],
            &[(4800, cc(1, 1, 1))],
        ],
    ));
    assert_eq!(imported_song.warnings, ["1 note has no note-off; it lasts to the end of its clip."]);
    let item = item(&imported_song.project.tracks[0]);
    assert_eq!(item.notes, [note(0, 960, 60, 64), note(0, 9600, 60, 65)]);

    let imported_song = read(&file(Format::SingleTrack, &[&[(480, on(0, 60, 64))]]));
    assert_eq!(imported_song.project.tracks[0].items.len(), 1);
    let item = self::item(&imported_song.project.tracks[0]);
    assert_eq!((item.length_ticks, &item.notes[..]), (961, &[note(960, 1, 60, 64)][..]));
}

#[test]
fn controls_of_every_kind_are_imported() {
    let project = read(&file(
        Format::SingleTrack,
        &[&[
            (0, midi(1, MidiMessage::PitchBend { bend: PitchBend::from_int(-8192) })),
            (0, midi(1, MidiMessage::PitchBend { bend: PitchBend::from_int(8191) })),
            (0, midi(1, MidiMessage::ChannelAftertouch { vel: u7::new(5) })),
            (0, midi(1, MidiMessage::Aftertouch { key: u7::new(60), vel: u7::new(6) })),
            (0, cc(1, 123, 0)),
        ]],
    ))
    .project;
    let item = item(&project.tracks[0]);
    assert!(item.notes.is_empty(), "a channel without notes keeps its controls");
    let extra = Extra::default;
    assert_eq!(
        item.controls,
        [
            Control::Bend(BendControl { tick: 0, value: -8192, extra: extra() }),
            Control::Bend(BendControl { tick: 0, value: 8191, extra: extra() }),
            Control::Pressure(schemas::project::PressureControl { tick: 0, value: 5, extra: extra() }),
            Control::KeyPressure(schemas::project::KeyPressureControl {
                tick: 0,
                key: 60,
                value: 6,
                extra: extra()
            }),
            Control::Cc(CcControl { tick: 0, controller: 123, value: 0, extra: extra() }),
        ]
    );
}

#[test]
fn tempos_time_signatures_and_markers_are_imported() {
    let meta = |message| TrackEventKind::Meta(message);
    let imported_song = read(&file(
        Format::SingleTrack,
        &[&[
            (480, meta(MetaMessage::Tempo(u24::new(400_000)))),
            (0, meta(MetaMessage::Tempo(u24::new(600_000)))),
            (0, meta(MetaMessage::TimeSignature(6, 3, 24, 8))),
            (0, meta(MetaMessage::Marker(b"Chorus"))),
            (480, meta(MetaMessage::Tempo(u24::new(0)))),
            (0, meta(MetaMessage::TimeSignature(0, 3, 24, 8))),
            (0, on(0, 60, 1)),
            (1, off(0, 60)),
        ]],
    ));
    let project = imported_song.project;
    let tempos: Vec<(u32, f64)> = project.tempo_map.iter().map(|point| (point.tick, point.bpm)).collect();
    assert_eq!(tempos, [(0, 120.0), (960, 100.0)]);
    let signatures: Vec<_> =
        project.time_signatures.iter().map(|s| (s.tick, s.numerator, s.denominator)).collect();
    assert_eq!(signatures, [(0, 4, 4), (960, 6, 8)]);
    assert_eq!(project.markers, [Marker { tick: 960, name: "Chorus".into(), extra: Extra::default() }]);
    assert_eq!(
        imported_song.warnings,
        [
            "A tempo of 0 microseconds per quarter note is outside 1 to 100000 BPM and was ignored. 1 other value is out of range too."
        ]
    );
}

#[test]
fn the_same_channel_of_two_ports_becomes_two_tracks() {
    let port = |port| TrackEventKind::Meta(MetaMessage::MidiPort(u7::new(port)));
    let project = read(&file(
        Format::Parallel,
        &[
            &[(0, port(1)), (0, on(0, 60, 1)), (1, off(0, 60))],
            &[(0, on(0, 62, 1)), (1, off(0, 62)), (0, on(5, 64, 1))],
        ],
    ))
    .project;
    let ports_and_channels: Vec<_> = project
        .tracks
        .iter()
        .map(|track| (track.extra.get("midi_port").cloned(), track.extra.get("midi_channel").cloned()))
        .collect();
    assert_eq!(
        ports_and_channels,
        [(Some(1.into()), Some(0.into())), (None, Some(0.into())), (None, Some(5.into()))]
    );
}

#[test]
fn a_file_timed_in_seconds_is_imported_at_120_bpm() {
    let mut bytes = file(
        Format::SingleTrack,
        &[&[
            (0, TrackEventKind::Meta(MetaMessage::Tempo(u24::new(1)))),
            (1_000, on(0, 60, 1)),
            (500, off(0, 60)),
        ]],
    );
    // At 25 frames per second of 40 ticks each, a tick is a millisecond.
    bytes[12..14].copy_from_slice(&[0xe7, 0x28]);
    let imported_song = read(&bytes);
    assert_eq!(item(&imported_song.project.tracks[0]).notes, [note(1_920, 960, 60, 1)]);
    assert_eq!(
        imported_song.warnings,
        ["The file is timed in seconds instead of beats; its tempos are ignored."]
    );
}

#[test]
fn patterns_of_format_2_become_parallel_tracks() {
    let imported_song = read(&file(
        Format::Sequential,
        &[&[(0, on(0, 60, 1)), (1, off(0, 60))], &[(0, on(1, 62, 1)), (1, off(1, 62))]],
    ));
    assert_eq!(imported_song.project.tracks.len(), 2);
    assert_eq!(
        imported_song.warnings,
        ["The file has 2 independent patterns (format 2); they become parallel tracks."]
    );
}

#[test]
fn files_that_exceed_a_limit_of_a_project_are_refused() {
    let refusal_of = |bytes: &[u8]| import(bytes, ImportOptions::default()).unwrap_err().to_string();
    let far_events = [(0x0fff_ffff, on(0, 60, 1)), (0x0fff_ffff, off(0, 60))];
    let tracks: Vec<(u32, Kind)> = far_events.into_iter().cycle().take(6).collect();
    assert_eq!(
        refusal_of(&file(Format::SingleTrack, &[&tracks])),
        "the file is 3355443 quarter notes long, and a project can have at most 1041666"
    );

    assert_eq!(
        refusal_of(&one_track(&[0x90, 1, 0], &[0, 60, 1, 0, 60, 0].repeat(362_501))),
        "the first 362501 notes and 0 other channel messages of the file need 29000080 bytes of memory; a \
         project may use 29000000 for them"
    );
    assert_eq!(
        refusal_of(&one_track(&[0xb0, 11, 0], &[0, 11, 1].repeat(483_333))),
        "the first 0 notes and 483334 other channel messages of the file need 29000040 bytes of memory; a \
         project may use 29000000 for them"
    );
}

/// Makes a file of one track with an event and further events in its running status.
fn one_track(first_import: &[u8], more_events: &[u8]) -> Vec<u8> {
    let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk".to_vec();
    bytes.extend((1 + first_import.len() as u32 + more_events.len() as u32 + 4).to_be_bytes());
    bytes.push(0);
    bytes.extend(first_import);
    bytes.extend(more_events);
    bytes.extend([0, 0xff, 0x2f, 0]);
    bytes
}

#[test]
fn hundreds_of_thousands_of_controllers_are_imported() {
    let sweep: Vec<u8> = (0..400_000_u32).flat_map(|n| [0, 11, (n % 128) as u8]).collect();
    let imported_song = read(&one_track(&[0xb0, 11, 0], &sweep));
    let Item::Midi(item) = &imported_song.project.tracks[0].items[0] else { panic!("a MIDI item") };
    assert_eq!(item.controls.len(), 400_001);
}

#[test]
fn a_song_without_notes_gives_a_warning() {
    let imported_song = read(&file(Format::SingleTrack, &[&[(0, name("Silence"))]]));
    assert!(imported_song.project.tracks.is_empty());
    assert_eq!(imported_song.warnings, ["The file has no notes."]);
}

fn exclusive(data: &'static [u8]) -> Kind {
    TrackEventKind::SysEx(data)
}

const XG_ON: &[u8] = &[0x43, 0x10, 0x4c, 0x00, 0x00, 0x7e, 0x00, 0xf7];
const GM_ON: &[u8] = &[0x7e, 0x7f, 0x09, 0x01, 0xf7];
const GS_RESET: &[u8] = &[0x41, 0x10, 0x42, 0x12, 0x40, 0x00, 0x7f, 0x00, 0x41, 0xf7];
const GS_RHYTHM_ON_11: &[u8] = &[0x41, 0x10, 0x42, 0x12, 0x40, 0x1a, 0x15, 0x02, 0x0f, 0xf7];

/// Bank and program of a track, followed by those of each of its program changes.
type Presets = ((u8, u8), Vec<(u8, u8)>);

fn presets(project: &Project) -> Vec<Presets> {
    let of_track = |track: &Track| {
        let Some(SynthEngine::SoundFont(engine)) = &track.synth_engine else { panic!("an engine") };
        let programs = item(track).controls.iter().filter_map(|control| match control {
            Control::Program(program) => Some((program.bank.expect("a bank"), program.program)),
            _ => None,
        });
        ((engine.bank, engine.program), programs.collect())
    };
    project.tracks.iter().map(of_track).collect()
}

/// Checks the presets after an import of these events, and again after an export and a second
/// import.
#[track_caller]
fn check_presets(events: &[(u32, Kind)], expected: &[Presets]) {
    let project = read(&file(Format::SingleTrack, &[events])).project;
    assert_eq!(presets(&project), expected);
    let second_project = read(&super::super::exported(&project)).project;
    assert_eq!(presets(&second_project), expected, "after an export and a second import");
    assert_eq!(second_project.extra.get("midi_exclusives"), project.extra.get("midi_exclusives"));
    let controls = |project: &Project| -> Vec<Vec<Control>> {
        project.tracks.iter().map(|track| item(track).controls.clone()).collect()
    };
    assert_eq!(controls(&second_project), controls(&project));
}

#[test]
fn bank_numbers_are_read_by_the_standard_that_the_file_names() {
    let song: [(u32, Kind); 7] = [
        (0, cc(0, 0, 8)),
        (0, cc(0, 32, 3)),
        (0, program(0, 5)),
        (0, program(9, 16)),
        (0, on(0, 60, 1)),
        (0, on(9, 35, 1)),
        (9, program(0, 6)),
    ];
    let check = |reset: Option<&'static [u8]>, bank| {
        let reset = reset.map(|data| (0, exclusive(data)));
        let events: Vec<(u32, Kind)> = reset.into_iter().chain(song).collect();
        check_presets(&events, &[((bank, 5), vec![(bank, 5), (bank, 6)]), ((128, 16), vec![(128, 16)])]);
    };
    check(None, 8);
    check(Some(GS_RESET), 8);
    check(Some(XG_ON), 3);
    check(Some(GM_ON), 0);
}

#[test]
fn a_bank_takes_effect_with_the_next_program_change() {
    check_presets(
        &[(0, program(0, 5)), (0, cc(0, 0, 8)), (0, on(0, 60, 1)), (9, program(0, 6))],
        &[((0, 5), vec![(0, 5), (8, 6)])],
    );
}

#[test]
fn a_message_in_the_file_can_make_any_channel_a_drum_part() {
    check_presets(
        &[
            (0, exclusive(GS_RESET)),
            (0, program(10, 8)),
            (0, exclusive(GS_RHYTHM_ON_11)),
            (9, on(10, 35, 1)),
            (9, program(10, 0)),
        ],
        &[((128, 8), vec![(128, 8), (128, 0)])],
    );
    check_presets(
        &[
            (0, exclusive(XG_ON)),
            (0, cc(2, 0, 127)),
            (0, program(2, 8)),
            (0, on(2, 35, 1)),
            (0, cc(9, 0, 0)),
            (0, program(9, 40)),
            (0, on(9, 60, 1)),
        ],
        &[((128, 8), vec![(128, 8)]), ((0, 40), vec![(0, 40)])],
    );
}

#[test]
fn exclusive_messages_have_the_port_of_their_track() {
    let port = |port| TrackEventKind::Meta(MetaMessage::MidiPort(u7::new(port)));
    let notes = |channel| [(0, cc(channel, 32, 3)), (0, program(channel, 1)), (0, on(channel, 60, 1))];
    let with_port = |number, exclusives: &[(u32, Kind)], channel| -> Vec<(u32, Kind)> {
        [(0, port(number))].into_iter().chain(exclusives.iter().copied()).chain(notes(channel)).collect()
    };
    let first_import = with_port(0, &[], 0);
    let second = with_port(1, &[(0, exclusive(XG_ON)), (480, TrackEventKind::Escape(&[0xf3, 1]))], 0);
    let project = read(&file(Format::Parallel, &[&first_import, &second])).project;
    assert_eq!(presets(&project), [((0, 1), vec![(0, 1)]), ((3, 1), vec![(3, 1)])]);
    let second_project = read(&super::super::exported(&project)).project;
    assert_eq!(presets(&second_project), presets(&project));
    assert_eq!(
        second_project.extra.get("midi_exclusives"),
        Some(&serde_json::json!([{"tick": 0, "data": "43104c00007e00f7", "port": 1},
                                  {"tick": 960, "data": "f301", "port": 1, "escape": true}]))
    );
}

#[test]
fn exclusive_messages_beyond_the_limit_are_counted_in_a_warning() {
    let dump: &'static [u8] = &[0x43; 1_000];
    let many_events: Vec<(u32, Kind)> = (0..300).map(|_| (0, exclusive(dump))).collect();
    let imported_song = read(&file(Format::SingleTrack, &[&many_events]));
    let warning = "38 system exclusive messages are left out: a project can have at most 10000 messages and 262144 bytes.";
    assert!(imported_song.warnings.contains(&warning.into()));
}

//! Imports and exports real songs, and compares every note, tempo and control. Both files are read
//! with `midly`, which is independent of the reader of the import.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use midly::{MetaMessage, MidiMessage, Smf, Timing, TrackEventKind};
use serde_json::Value;

use super::{ImportOptions, exported, import};

/// Folder with the songs of Debian's package openttd-openmsx.
const SONGS: &str = "/usr/share/games/openttd/baseset/openmsx";
const SONG_COUNT: usize = 31;

fn songs() -> Vec<PathBuf> {
    let folder = fs::read_dir(Path::new(SONGS))
        .unwrap_or_else(|error| panic!("{SONGS}: {error}; install the package openttd-openmsx"));
    let mut songs: Vec<PathBuf> = folder
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mid"))
        .collect();
    songs.sort();
    assert_eq!(songs.len(), SONG_COUNT, "{SONGS} does not hold the songs of the package openttd-openmsx");
    songs
}

/// The events of a file, with ticks of a 960th of a quarter note.
struct Content {
    /// Notes by channel, sorted: start tick, end tick, key and velocity.
    notes: BTreeMap<u8, Vec<(u64, u64, u8, u8)>>,
    /// Messages other than notes by channel, in the order of the file, each with its tick.
    controls: BTreeMap<u8, Vec<(u64, MidiMessage)>>,
    /// Tempo in microseconds per quarter note, by the tick where it begins.
    tempos: BTreeMap<u64, u32>,
    /// End of the last track in ticks.
    end_tick: u64,
}

fn read(bytes: &[u8]) -> Content {
    let smf = Smf::parse(bytes).expect("a MIDI file");
    let Timing::Metrical(ppq) = smf.header.timing else { panic!("a file in beats") };
    let ppq = u64::from(ppq.as_int());
    let scale = |tick: u64| (tick * 960 + ppq / 2) / ppq;
    let mut events = Vec::new();
    let mut tempos = BTreeMap::from([(0, 500_000)]);
    let mut end_tick = 0;
    for track in &smf.tracks {
        let mut tick = 0;
        for event in track {
            tick += u64::from(event.delta.as_int());
            match event.kind {
                TrackEventKind::Midi { channel, message } => events.push((tick, channel.as_int(), message)),
                TrackEventKind::Meta(MetaMessage::Tempo(micros)) => {
                    tempos.insert(scale(tick), micros.as_int());
                }
                TrackEventKind::Meta(MetaMessage::MidiPort(port)) => assert_eq!(port.as_int(), 0),
                _ => {}
            }
        }
        end_tick = end_tick.max(scale(tick));
    }
    events.sort_by_key(|(tick, ..)| *tick);
    let mut notes: BTreeMap<u8, Vec<(u64, u64, u8, u8)>> = BTreeMap::new();
    let mut controls: BTreeMap<u8, Vec<(u64, MidiMessage)>> = BTreeMap::new();
    let mut active_notes: HashMap<(u8, u8), VecDeque<usize>> = HashMap::new();
    for (tick, channel, message) in events {
        let tick = scale(tick);
        let channel_notes = notes.entry(channel).or_default();
        match message {
            MidiMessage::NoteOn { key, vel } if vel > 0 => {
                active_notes.entry((channel, key.as_int())).or_default().push_back(channel_notes.len());
                channel_notes.push((tick, u64::MAX, key.as_int(), vel.as_int()));
            }
            MidiMessage::NoteOn { key, .. } | MidiMessage::NoteOff { key, .. } => {
                if let Some(index) =
                    active_notes.get_mut(&(channel, key.as_int())).and_then(VecDeque::pop_front)
                {
                    channel_notes[index].1 = tick;
                }
            }
            message => controls.entry(channel).or_default().push((tick, message)),
        }
    }
    notes.retain(|_, channel_notes| !channel_notes.is_empty());
    for note in notes.values_mut().flatten() {
        // A note without a note-off ends with the song.
        note.1 = note.1.min(end_tick);
    }
    notes.values_mut().for_each(|channel_notes| channel_notes.sort_unstable());
    Content { notes, controls, tempos, end_tick }
}

/// Removes the program change that an export adds to each channel that has none up to its first
/// note.
fn without_added_program(mut exported_content: Content, original: &Content) -> Content {
    for (channel, list) in &mut exported_content.controls {
        let Some(notes) = original.notes.get(channel) else { continue };
        let first_note = notes[0].0;
        let has_own_program = original.controls.get(channel).into_iter().flatten().any(|(tick, message)| {
            *tick <= first_note && matches!(message, MidiMessage::ProgramChange { .. })
        });
        if !has_own_program {
            assert!(
                matches!(list[0], (0, MidiMessage::ProgramChange { program }) if program == 0),
                "{list:?}"
            );
            list.remove(0);
        }
    }
    exported_content.controls.retain(|_, list| !list.is_empty());
    exported_content
}

/// Compares the parts one by one, to keep failure messages short.
fn check_same(exported_content: &Content, original: &Content, path: &Path) {
    let song = path.display();
    assert_eq!(exported_content.tempos, original.tempos, "{song}");
    assert_eq!(exported_content.end_tick, original.end_tick, "{song}");
    let channels = |content: &Content| content.notes.keys().copied().collect::<Vec<u8>>();
    assert_eq!(channels(exported_content), channels(original), "{song}");
    let channels_with_controls = |content: &Content| content.controls.keys().copied().collect::<Vec<u8>>();
    assert_eq!(channels_with_controls(exported_content), channels_with_controls(original), "{song}");
    for (channel, notes) in &original.notes {
        assert_eq!(exported_content.notes[channel].len(), notes.len(), "{song}, channel {channel}");
        for (exported_event, note) in exported_content.notes[channel].iter().zip(notes) {
            assert_eq!(exported_event, note, "{song}, channel {channel}");
        }
    }
    for (channel, controls) in &original.controls {
        assert_eq!(exported_content.controls[channel].len(), controls.len(), "{song}, channel {channel}");
        for (exported_event, control) in exported_content.controls[channel].iter().zip(controls) {
            assert_eq!(exported_event, control, "{song}, channel {channel}");
        }
    }
}

#[test]
fn every_song_survives_import_and_export() {
    let (mut tempo_changes, mut bends, mut programs) = (0, 0, 0);
    for path in songs() {
        let bytes = fs::read(&path).expect("a readable song");
        let imported_song =
            import(&bytes, ImportOptions { project_id: "song".into(), ..ImportOptions::default() })
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let document = serde_json::to_value(&imported_song.project).expect("JSON");
        assert_eq!(
            schemas::validate::validate(&schemas::json::JsonText::of_value(&document)),
            Ok(()),
            "{}",
            path.display()
        );

        let original = read(&bytes);
        let second_song = without_added_program(read(&exported(&imported_song.project)), &original);
        check_same(&second_song, &original, &path);

        tempo_changes += usize::from(original.tempos.len() > 1);
        let has = |is_match: fn(&MidiMessage) -> bool| {
            usize::from(original.controls.values().flatten().any(|(_, message)| is_match(message)))
        };
        bends += has(|message| matches!(message, MidiMessage::PitchBend { .. }));
        programs += usize::from(original.controls.iter().any(|(channel, list)| {
            let first_note = original.notes.get(channel).map_or(u64::MAX, |notes| notes[0].0);
            list.iter().any(|(tick, message)| {
                *tick > first_note && matches!(message, MidiMessage::ProgramChange { .. })
            })
        }));
    }
    // Fails if the songs no longer contain the events that this test is about.
    println!("{tempo_changes} songs change tempo, {bends} bend, {programs} change programs");
    assert!(tempo_changes >= 6 && bends >= 17 && programs >= 4, "{tempo_changes} {bends} {programs}");
}

#[test]
fn a_second_import_gives_the_same_project() {
    for path in songs() {
        let options = || ImportOptions { project_id: "song".into(), ..ImportOptions::default() };
        let bytes = fs::read(&path).expect("a readable song");
        let first_project = import(&bytes, options()).expect("a project").project;
        let second_project = import(&exported(&first_project), options()).expect("a project").project;
        let notes = |project: &schemas::Project| -> Value {
            let tracks: Vec<Value> = project
                .tracks
                .iter()
                .map(|track| serde_json::to_value(track).expect("JSON"))
                .filter(|track| track["items"][0]["notes"].as_array().is_some_and(|notes| !notes.is_empty()))
                .map(|track| {
                    let mut notes = track["items"][0]["notes"].as_array().cloned().unwrap_or_default();
                    notes.sort_by_cached_key(Value::to_string);
                    serde_json::json!([track["name"], track["midi_channel"], track["synth_engine"], notes])
                })
                .collect();
            tracks.into()
        };
        assert_eq!(notes(&second_project), notes(&first_project), "{}", path.display());
        assert_eq!(second_project.tempo_map, first_project.tempo_map, "{}", path.display());
        assert_eq!(second_project.time_signatures, first_project.time_signatures, "{}", path.display());
        assert_eq!(second_project.markers, first_project.markers, "{}", path.display());
    }
}

#[test]
fn damaged_songs_become_valid_projects_or_errors() {
    let bytes = fs::read(Path::new(SONGS).join("ultimate_run.mid")).expect("the songs of openttd-openmsx");
    // A fixed seed (of xorshift) makes the damage the same in every run.
    let mut state = 2_463_534_242_u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as usize
    };
    let (mut projects, mut errors) = (0, 0);
    for round in 0..300 {
        let mut damaged_file = bytes.clone();
        // Half of the rounds change bytes near the start, where the headers are.
        let damaged_range = if round % 2 == 0 { 60 } else { damaged_file.len() };
        for _ in 0..=(round % 8) {
            let offset = random() % damaged_range;
            damaged_file[offset] = random() as u8;
        }
        if round % 5 == 0 {
            damaged_file.truncate(random() % damaged_file.len());
        }
        match import(&damaged_file, ImportOptions { project_id: "song".into(), ..ImportOptions::default() }) {
            Err(_) => errors += 1,
            Ok(imported_song) => {
                projects += 1;
                let document = serde_json::to_value(&imported_song.project).expect("JSON");
                assert_eq!(
                    schemas::validate::validate(&schemas::json::JsonText::of_value(&document)),
                    Ok(()),
                    "round {round}"
                );
                assert!(Smf::parse(&exported(&imported_song.project)).is_ok(), "round {round}");
            }
        }
    }
    assert!(projects > 100 && errors > 20, "{projects} projects and {errors} errors");
}

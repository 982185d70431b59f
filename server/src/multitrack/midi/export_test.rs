use midly::Smf;
use schemas::Project;
use serde_json::{Value, json};

use super::*;

fn project(tracks: Value) -> Project {
    let document = json!({
        "schema_version": 1, "project_id": "p", "name": "Sóng", "tracks": tracks,
        "tempo_map": [{"tick": 0, "bpm": 100}, {"tick": 960, "bpm": 50}],
        "time_signatures": [{"tick": 0, "numerator": 6, "denominator": 8}],
        "markers": [{"tick": 480, "name": "Here"}],
    });
    assert_eq!(schemas::validate::validate(&schemas::json::JsonText::of_value(&document)), Ok(()));
    serde_json::from_value(document).expect("a project")
}

fn instrument(id: &str, bank: u8, program: u8, items: Value) -> Value {
    json!({"id": id, "name": id, "kind": "instrument", "items": items,
           "synth_engine": {"type": "soundfont", "bank": bank, "program": program}})
}

fn item(start_tick: u32, length_ticks: u32, notes: &[(u32, u32, u8, f64)], controls: Value) -> Value {
    let notes: Vec<Value> = notes
        .iter()
        .map(|(tick, length_ticks, pitch, velocity)| {
            json!({"tick": tick, "length_ticks": length_ticks, "pitch": pitch, "velocity": velocity})
        })
        .collect();
    json!({"type": "midi", "id": "i", "start_tick": start_tick, "length_ticks": length_ticks, "notes": notes,
           "controls": controls})
}

/// Exports a project and returns each track of the file as a list of texts of the form "tick
/// event".
fn exported(project: &Project) -> Vec<Vec<String>> {
    let bytes = super::super::exported(project);
    let smf = Smf::parse(&bytes).expect("a MIDI file");
    assert_eq!(smf.header, Header::new(Format::Parallel, Timing::Metrical(u15::new(960))));
    let line = |tick: &mut u64, event: &TrackEvent<'_>| {
        *tick += u64::from(event.delta.as_int());
        let event_text = match event.kind {
            TrackEventKind::Midi { channel, message } => {
                let channel = channel.as_int() + 1;
                match message {
                    MidiMessage::NoteOn { key, vel } => format!("{channel} on {key} {vel}"),
                    MidiMessage::NoteOff { key, .. } => format!("{channel} off {key}"),
                    MidiMessage::Controller { controller, value } => {
                        format!("{channel} cc {controller} {value}")
                    }
                    MidiMessage::ProgramChange { program } => format!("{channel} program {program}"),
                    MidiMessage::PitchBend { bend } => format!("{channel} bend {}", bend.as_int()),
                    MidiMessage::ChannelAftertouch { vel } => format!("{channel} pressure {vel}"),
                    MidiMessage::Aftertouch { key, vel } => format!("{channel} pressure {key} {vel}"),
                }
            }
            TrackEventKind::Meta(MetaMessage::TrackName(name)) => {
                format!("name {}", String::from_utf8_lossy(name))
            }
            TrackEventKind::Meta(MetaMessage::Marker(name)) => {
                format!("marker {}", String::from_utf8_lossy(name))
            }
            TrackEventKind::Meta(MetaMessage::Tempo(micros)) => format!("tempo {micros}"),
            TrackEventKind::Meta(MetaMessage::TimeSignature(n, d, c, t)) => {
                format!("signature {n} {d} {c} {t}")
            }
            TrackEventKind::Meta(MetaMessage::MidiPort(port)) => format!("port {port}"),
            TrackEventKind::Meta(MetaMessage::EndOfTrack) => "end".into(),
            other => format!("{other:?}"),
        };
        format!("{tick} {event_text}")
    };
    let track = |events: &Vec<TrackEvent<'_>>| {
        let mut tick = 0;
        events.iter().map(|event| line(&mut tick, event)).collect()
    };
    smf.tracks.iter().map(track).collect()
}

#[test]
fn tempos_signatures_and_markers_are_in_the_first_track() {
    let tracks = exported(&project(json!([{"id": "empty", "kind": "instrument"}])));
    assert_eq!(
        tracks,
        [[
            "0 name Sóng",
            "0 tempo 600000",
            "0 signature 6 3 12 8",
            "480 marker Here",
            "960 tempo 1200000",
            "960 end"
        ]]
    );
}

fn check(track: Value, expected: &[&str]) {
    let tracks = exported(&project(json!([track])));
    assert_eq!(tracks.len(), 2, "{tracks:?}");
    assert_eq!(tracks[1], expected);
}

#[test]
fn velocities_are_clamped_and_notes_end_with_their_item() {
    let notes = [(0, 10, 60, 0.0), (5, 0, 61, 1.0), (90, 50, 62, 0.5), (100, 1, 63, 0.5)];
    check(
        instrument("a", 0, 3, json!([item(10, 100, &notes, json!([]))])),
        &[
            "0 name a",
            "0 1 program 3",
            "10 1 on 60 1",
            "15 1 on 61 127",
            "15 1 off 61",
            "20 1 off 60",
            "100 1 on 62 64",
            "110 1 off 62",
            "110 end",
        ],
    );
}

#[test]
fn a_program_change_before_the_first_note_replaces_the_preset_of_the_track() {
    let program = |tick| json!([{"tick": tick, "type": "program", "program": 9}]);
    let note = [(50, 10, 60, 1.0)];
    check(
        instrument("a", 8, 3, json!([item(0, 100, &note, program(50))])),
        &["0 name a", "0 1 cc 0 8", "50 1 program 9", "50 1 on 60 127", "60 1 off 60", "100 end"],
    );
    check(
        instrument("a", 0, 3, json!([item(0, 100, &note, program(51))])),
        &["0 name a", "0 1 program 3", "50 1 on 60 127", "51 1 program 9", "60 1 off 60", "100 end"],
    );
}

#[test]
fn drums_use_channel_ten_and_items_select_their_presets() {
    let mut item_with_preset = item(0, 10, &[(0, 10, 35, 1.0)], json!([]));
    item_with_preset["soundfont_program"] = 25.into();
    check(
        instrument("a", 128, 0, json!([item_with_preset, item(10, 10, &[(0, 5, 35, 1.0)], json!([]))])),
        &[
            "0 name a",
            "0 10 program 0",
            "0 10 cc 0 0",
            "0 10 program 25",
            "0 10 on 35 127",
            "10 10 off 35",
            "10 10 cc 0 0",
            "10 10 program 0",
            "10 10 on 35 127",
            "15 10 off 35",
            "20 end",
        ],
    );
}

#[test]
fn parameters_become_controllers() {
    let controls = json!([
        {"tick": 0, "type": "rpn", "parameter": 0, "value": 1536},
        {"tick": 0, "type": "nrpn", "parameter": 257, "value": 1},
        {"tick": 1, "type": "bend", "value": -1},
        {"tick": 2, "type": "pressure", "value": 7},
        {"tick": 3, "type": "key_pressure", "key": 60, "value": 8},
        {"tick": 99, "type": "cc", "controller": 1, "value": 1}
    ]);
    check(
        instrument("a", 0, 0, json!([item(0, 9, &[(0, 1, 60, 1.0)], controls)])),
        &[
            "0 name a",
            "0 1 program 0",
            "0 1 cc 101 0",
            "0 1 cc 100 0",
            "0 1 cc 6 12",
            "0 1 cc 38 0",
            "0 1 cc 99 2",
            "0 1 cc 98 1",
            "0 1 cc 6 0",
            "0 1 cc 38 1",
            "0 1 on 60 127",
            "1 1 off 60",
            "1 1 bend -1",
            "2 1 pressure 7",
            "3 1 pressure 60 8",
            "9 end",
        ],
    );
}

#[test]
fn many_tracks_use_further_ports() {
    let tracks: Vec<Value> = (0..16)
        .map(|id| instrument(&id.to_string(), 0, 0, json!([item(0, 9, &[(0, 1, 60, 1.0)], json!([]))])))
        .collect();
    let tracks = exported(&project(tracks.into()));
    assert_eq!(tracks.len(), 17);
    assert_eq!(tracks[1][..3], ["0 name 0", "0 port 0", "0 1 program 0"]);
    assert_eq!(tracks[16][..3], ["0 name 15", "0 port 1", "0 1 program 0"]);
}

#[test]
fn a_long_delta_time_is_split() {
    let far_item = item(900_000_000, 1_000, &[(0, 1_000, 60, 1.0)], json!([]));
    let tracks = exported(&project(json!([instrument("a", 0, 0, json!([far_item]))])));
    assert!(tracks[1].contains(&"900000000 1 on 60 127".to_owned()), "{tracks:?}");
}

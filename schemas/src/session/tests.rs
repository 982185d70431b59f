mod item_chains;
mod mix;

use serde_json::{Value, json};

use super::*;

fn project(tracks: Value) -> Project {
    let document = json!({"schema_version": 1, "project_id": "p", "tracks": tracks});
    serde_json::from_value(document).expect("a project")
}

fn session(tracks: Value) -> Session {
    build(&project(tracks), 48_000, |id| match id {
        None => Some(0),
        Some("a") => Some(1),
        Some(_) => None,
    })
    .expect("a session")
}

fn with_settings(settings: Value) -> Session {
    let document = json!({"schema_version": 1, "project_id": "p", "tracks": [], "settings": settings});
    let project: Project = serde_json::from_value(document).expect("a project");
    build(&project, 48_000, |_| None).expect("a session")
}

/// Checks the events of a track. The expected positions are in ticks; at 120 BPM and 48 kHz a tick
/// has 25 frames.
fn check_items(engine: Value, items: Value, expected: &[(u64, Event)]) {
    let track = json!({"id": "t", "kind": "instrument", "synth_engine": engine, "items": items});
    let session = session(json!([track]));
    let events: Vec<(u64, Event)> =
        session.tracks[0].events.iter().map(|event| (event.frame / 25, event.event)).collect();
    assert_eq!(events, expected);
}

fn check(item: Value, expected: &[(u64, Event)]) {
    check_items(json!({"type": "soundfont", "bank": 0, "program": 4}), json!([item]), expected);
}

fn item(start_tick: u32, notes: Value, controls: Value) -> Value {
    json!({"type": "midi", "id": "i", "start_tick": start_tick, "length_ticks": 100, "notes": notes,
           "controls": controls})
}

fn note(tick: u32, length_ticks: u32, pitch: u8) -> Value {
    json!({"tick": tick, "length_ticks": length_ticks, "pitch": pitch, "velocity": 0.5})
}

fn on(key: u8) -> Event {
    Event::NoteOn { key, velocity: 64 }
}

fn off(key: u8) -> Event {
    Event::NoteOff { key }
}

fn cc(controller: u8, value: u8) -> Event {
    Event::Controller { controller, value }
}

#[test]
fn events_of_a_frame_are_ordered() {
    check(
        item(
            10,
            json!([note(5, 0, 50), note(5, 9, 40), note(0, 5, 40)]),
            json!([{"tick": 5, "type": "cc", "controller": 7, "value": 9},
                   {"tick": 5, "type": "bend", "value": -3}]),
        ),
        &[
            (10, on(40)),
            (15, off(40)),
            (15, cc(7, 9)),
            (15, Event::PitchBend { value: -3 }),
            (15, on(50)),
            (15, on(40)),
            (15, off(50)),
            (24, off(40)),
        ],
    );
}

#[test]
fn notes_are_clipped_to_their_item() {
    check(
        item(
            0,
            json!([note(90, 50, 40), note(100, 5, 41)]),
            json!([{"tick": 100, "type": "program", "program": 2},
                   {"tick": 101, "type": "program", "program": 3}]),
        ),
        &[(90, on(40)), (100, off(40)), (100, Event::Program { program: 2 })],
    );
}

#[test]
fn every_kind_of_control_is_compiled_to_events() {
    check(
        item(
            0,
            json!([]),
            json!([
                {"tick": 1, "type": "pressure", "value": 5},
                {"tick": 2, "type": "key_pressure", "key": 60, "value": 6},
                {"tick": 3, "type": "rpn", "parameter": 1, "value": 8193},
                {"tick": 4, "type": "nrpn", "parameter": 16383, "value": 127}
            ]),
        ),
        &[
            (1, Event::ChannelPressure { value: 5 }),
            (2, Event::KeyPressure { key: 60, value: 6 }),
            (3, cc(101, 0)),
            (3, cc(100, 1)),
            (3, cc(6, 64)),
            (3, cc(38, 1)),
            (4, cc(99, 127)),
            (4, cc(98, 127)),
            (4, cc(6, 0)),
            (4, cc(38, 127)),
        ],
    );
}

fn item_with_preset(start_tick: u32, bank: Option<u8>, program: Option<u8>) -> Value {
    let mut item = json!({"type": "midi", "id": "i", "start_tick": start_tick, "length_ticks": 10});
    if let Some(bank) = bank {
        item["soundfont_bank"] = bank.into();
    }
    if let Some(program) = program {
        item["soundfont_program"] = program.into();
    }
    item
}

#[test]
fn an_item_plays_its_preset_and_the_next_item_returns_to_that_of_the_track() {
    let preset = |bank, program| Event::Preset { bank, program };
    check_items(
        json!({"type": "soundfont", "bank": 8, "program": 4}),
        json!([
            item_with_preset(90, None, None),
            item_with_preset(0, None, None),
            item_with_preset(30, None, Some(7)),
            item_with_preset(60, Some(3), None),
            item_with_preset(120, None, None)
        ]),
        &[(30, preset(8, 7)), (60, preset(3, 4)), (90, preset(8, 4))],
    );
    check_items(
        json!({"type": "soundfont", "bank": 128, "program": 8}),
        json!([item_with_preset(30, Some(0), Some(25)), item_with_preset(60, None, Some(16))]),
        &[(30, preset(0, 25)), (60, preset(128, 16))],
    );
}

#[test]
fn an_instrument_has_the_slot_of_its_bank() {
    let track = |id: &str, kind: &str, engine: Value| json!({"id": id, "kind": kind, "synth_engine": engine});
    let session = session(json!([
        track("1", "instrument", json!({"type": "soundfont", "bank": 0, "program": 1})),
        track("2", "instrument", json!({"type": "soundfont", "soundfont_id": "a", "bank": 128, "program": 2})),
        track("3", "instrument", json!({"type": "soundfont", "soundfont_id": "gone", "bank": 0, "program": 3})),
        track("4", "instrument", json!({"type": "vst3", "plugin_id": "x"})),
        track("5", "bus", json!({"type": "soundfont", "bank": 0, "program": 5})),
        {"id": "6", "kind": "instrument"},
    ]));
    let instruments: Vec<Option<Instrument>> = session.tracks.iter().map(|track| track.instrument).collect();
    assert_eq!(
        instruments,
        [
            Some(Instrument { bank_slot: 0, bank: 0, program: 1 }),
            Some(Instrument { bank_slot: 1, bank: 128, program: 2 }),
            None,
            None,
            None,
            None
        ]
    );
}

#[test]
fn mute_solo_and_fader_reach_the_engine() {
    let session = session(json!([
        {"id": "1", "kind": "instrument", "mute": true, "volume_db": -6.0},
        {"id": "2", "kind": "group", "solo": true, "pan": -0.5},
    ]));
    let switches: Vec<(bool, bool)> = session.tracks.iter().map(|track| (track.mute, track.solo)).collect();
    assert_eq!(switches, [(true, false), (false, true)]);
    assert!((session.tracks[0].gain - 0.501_187).abs() < 1e-6);
    assert_eq!(session.tracks[1].pan, -0.5);
}

#[test]
fn the_session_ends_with_its_last_item() {
    let session = session(json!([
        {"id": "1", "kind": "instrument", "items": [item(0, json!([]), json!([])), item(200, json!([]), json!([]))]},
        {"id": "2", "kind": "audio", "items": [
            {"type": "audio", "id": "a", "start_tick": 0, "source": {}, "length_frames": 8000},
            {"type": "section", "sectionId": "s", "start_tick": 0, "length_ticks": 1_000_000}
        ]},
    ]));
    assert_eq!(session.length_frames, 8_000);
    assert_eq!(session.tracks.len(), 2);
}

#[test]
fn a_broken_tempo_map_is_an_error() {
    let mut project = project(json!([]));
    project.tempo_map[0].tick = 5;
    let error = build(&project, 48_000, |_| None).unwrap_err().to_string();
    assert_eq!(error, "the tempo map cannot be used: the first tempo must be at tick 0, not at tick 5");
}

#[test]
fn missing_settings_have_the_defaults_of_the_engine() {
    for settings in [json!({}), json!({"reverb": {}, "chorus": {}})] {
        let session = with_settings(settings);
        assert_eq!(session.polyphony, 256);
        assert_eq!(session.interpolation, session::Interpolation::default());
        assert_eq!(session.velocity_to_cutoff, session::VelocityToCutoff::AsStated);
        assert_eq!(session.reverb, session::ReverbSettings::default());
        assert_eq!(session.chorus, session::ChorusSettings::default());
    }
    let schema: Value = serde_json::from_str(crate::PROJECT_SCHEMA).expect("JSON");
    let default = |object: &str, field: &str| schema["$defs"][object]["properties"][field]["default"].clone();
    let written = serde_json::to_value(crate::project::Settings::default()).expect("JSON");
    for (object, fields) in [("ReverbSettings", &written["reverb"]), ("ChorusSettings", &written["chorus"])] {
        for (field, value) in fields.as_object().expect("an object") {
            assert_eq!(default(object, field).as_f64(), value.as_f64(), "{object}.{field}");
        }
    }
    for field in ["polyphony", "interpolation", "velocity_to_cutoff", "seed"] {
        assert_eq!(default("Settings", field), written[field], "{field}");
    }
}

#[test]
fn settings_reach_the_engine() {
    let session = with_settings(json!({
        "polyphony": 16, "interpolation": "sinc", "velocity_to_cutoff": "specification",
        "reverb": {"room": 0.25, "damping": 1, "width": 0, "level_db": -144},
        "chorus": {"delay_ms": 4, "depth_ms": 20, "rate_hz": 10, "level_db": 6},
    }));
    assert_eq!((session.polyphony, session.interpolation), (16, session::Interpolation::Sinc));
    assert_eq!(session.velocity_to_cutoff, session::VelocityToCutoff::Specification);
    let reverb = session::ReverbSettings { room: 0.25, damping: 1.0, width: 0.0, level: 0.0 };
    assert_eq!(session.reverb, reverb);
    let chorus = session.chorus;
    assert_eq!((chorus.delay_secs, chorus.depth_secs, chorus.rate_hz), (0.004, 0.004, 10.0));
    assert!((chorus.level - 1.995_262_3).abs() < 1e-6, "6 dB are {}", chorus.level);
}

#[test]
fn a_program_may_name_its_bank() {
    let controls = json!([{"tick": 1, "type": "program", "program": 2},
                          {"tick": 2, "type": "program", "program": 3, "bank": 128}]);
    check(
        item(0, json!([]), controls),
        &[(1, Event::Program { program: 2 }), (2, Event::Preset { bank: 128, program: 3 })],
    );
}

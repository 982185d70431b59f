//! Tests of compiling the effects, routes, automation and audio of a project.

use dsp_core::effects::{RECORDED_OUTPUT, effect_kind};
use dsp_core::session::{AutomationTarget, Clip, Curve, SendSettings, TempoChange};
use serde_json::json;

use super::*;

/// Resolves three files with a sample rate of 24 kHz. At the session's 48 kHz, `f` in slot 4 has
/// 96,000 frames. `half a minute` in slot 5 has 1,440,000, and `longer` in slot 6 has one more.
struct Files;

impl MediaResolver for Files {
    fn bank_slot(&mut self, _soundfont_id: Option<&str>) -> Option<u32> {
        None
    }

    fn audio(&mut self, server_file_id: &str) -> Option<ResolvedAudio> {
        let (slot, frames) = match server_file_id {
            "f" => (4, 96_000),
            "half a minute" => (5, 1_440_000),
            "longer" => (6, 1_440_001),
            _ => return None,
        };
        Some(ResolvedAudio { slot, frames, file_rate_hz: 24_000 })
    }

    fn plugin_output(&mut self, track_id: Option<&str>, effect_id: Option<&str>) -> Option<ResolvedAudio> {
        let slot = match (track_id, effect_id) {
            (Some("t"), Some("recorded")) => 7,
            (None, Some("recorded")) => 8,
            (Some("t"), None) => 9,
            _ => return None,
        };
        Some(ResolvedAudio { slot, frames: 96_000, file_rate_hz: 48_000 })
    }
}

fn compiled(document: Value) -> (Session, Vec<(String, String)>) {
    let mut complete = json!({"schema_version": 1, "project_id": "p", "tracks": []});
    complete.as_object_mut().expect("an object").extend(document.as_object().expect("an object").clone());
    let project: Project = serde_json::from_value(complete).expect("a project");
    let CompiledProject { session, left_out } = compile(&project, 48_000, &mut Files).expect("a session");
    (session, left_out.into_iter().map(|part| (part.pointer, part.reason.to_string())).collect())
}

fn utility(id: &str, params: Value) -> Value {
    json!({"id": id, "type": "builtin", "name": "utility", "params": params})
}

#[test]
fn effects_have_their_values_and_unknown_parts_are_reported() {
    let params = json!({"gain_db": -6, "invert_left": true, "invert_right": 1, "channels": "Mono",
                        "gone/by": 3, "balance": "left"});
    let (session, left_out) = compiled(json!({
        "tracks": [{"id": "t", "kind": "instrument", "bypass": true, "effects": [
            {"id": "v", "type": "vst3", "plugin_id": "x"},
            {"id": "n", "type": "builtin", "name": "no such effect"},
            utility("u", params),
            {"id": "s", "type": "builtin", "name": "utility", "bypass": true, "side_chain": "b", "impulse": "f",
             "params": {"gain_db": 1e9, "channels": "Quadrophonic"}},
        ]}, {"id": "b", "kind": "bus"}],
        "master": {"effects": [utility("m", json!({"channels": 2}))]},
    }));
    let track = &session.tracks[0];
    assert!(track.bypass);
    let values: Vec<(&str, &[f64])> =
        track.effects.iter().map(|effect| (&*effect.id, &*effect.values)).collect();
    let kind = effect_kind("utility").expect("the effect");
    let index = |id| kind.parameter_index(id).expect("the parameter");
    assert_eq!((values[0].0, values.len()), ("v", 3));
    let values = &values[1..];
    assert_eq!(values[0].0, "u");
    for (id, value) in
        [("gain_db", -6.0), ("invert_left", 1.0), ("invert_right", 1.0), ("channels", 4.0), ("balance", 0.0)]
    {
        assert_eq!(values[0].1[index(id)], value, "{id}");
    }
    assert_eq!(values[1].1[index("gain_db")], 36.0);
    let last_effect = &track.effects[2];
    assert_eq!(
        (last_effect.bypass, last_effect.side_chain, last_effect.audio_slot),
        (true, Some(1), Some(4))
    );
    assert_eq!(session.master_effects[0].values[index("channels")], 2.0);
    let expected = [
        ("/tracks/0/effects/0", "the engine cannot run plugins"),
        ("/tracks/0/effects/1", "there is no built-in effect \"no such effect\""),
        (
            "/tracks/0/effects/2/params/balance",
            "\"left\" is not a valid value of \"balance\", which must be a number",
        ),
        ("/tracks/0/effects/2/params/gone~1by", "the effect has no parameter \"gone/by\""),
        (
            "/tracks/0/effects/3/params/channels",
            "\"Quadrophonic\" is not a valid value of \"channels\", which must be a number or one of \
             \"Stereo\", \"Swapped\", \"Left\", \"Right\", \"Mono\"",
        ),
        (
            "/tracks/0/effects/3/params/gain_db",
            "1000000000.0 is outside the range -144 to 36; 36 is used instead",
        ),
    ];
    assert_eq!(left_out, expected.map(|(pointer, reason)| (pointer.to_owned(), reason.to_owned())));
}

#[test]
fn plugin_effects_play_their_recorded_output() {
    let lane = |target: &str| json!({"target": target, "points": [{"tick": 0, "value": 0.5}]});
    let plugin =
        |id: &str| json!({"id": id, "type": "vst2", "plugin_id": "x", "params": {"3": 0.1}, "bypass": true});
    let mut other_plugin = plugin("other");
    other_plugin["side_chain"] = "t".into();
    let (session, left_out) = compiled(json!({
        "tracks": [{"id": "t", "kind": "audio", "effects": [plugin("recorded"), other_plugin],
            "automation": [lane("recorded/3"), lane("other/4"), lane("gone/4")]}],
        "master": {"effects": [plugin("recorded")], "automation": [lane("recorded/9")]},
    }));
    let effects = session.tracks[0].effects.iter().chain(&session.master_effects);
    let compiled_effects: Vec<_> =
        effects.map(|effect| (&*effect.kind, effect.bypass, effect.audio_slot)).collect();
    let of_slot = |slot| (RECORDED_OUTPUT.id, true, slot);
    assert_eq!(compiled_effects, [of_slot(Some(7)), of_slot(None), of_slot(Some(8))]);
    let side_chains = session.tracks[0].effects.iter().map(|effect| effect.side_chain);
    assert_eq!(side_chains.collect::<Vec<_>>(), [None, Some(0)]);
    assert!(session.tracks[0].automation.is_empty() && session.master_automation.is_empty());
    let pointers: Vec<_> = left_out.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/tracks/0/effects/1", "/tracks/0/automation/2"]);
}

#[test]
fn plugin_instruments_play_their_recorded_output_instead_of_their_notes() {
    let track = |id: &str| {
        json!({"id": id, "kind": "instrument", "synth_engine": {"type": "vst3", "plugin_id": "x"}, "items": [
            {"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 100,
                "notes": [{"tick": 0, "length_ticks": 50, "pitch": 60, "velocity": 1}], "controls": []}]})
    };
    let (session, _) = compiled(json!({"tracks": [track("t"), track("other")]}));
    let [recorded, silent] = &session.tracks[..] else { panic!("{session:?}") };
    assert!(recorded.events.is_empty());
    let [Clip { frame: 0, length_frames: 96_000, audio_slot: 9, .. }] = recorded.clips[..] else {
        panic!("{recorded:?}")
    };
    assert!(silent.clips.is_empty() && silent.events.len() == 2);
}

#[test]
fn invalid_impulse_responses_are_reported() {
    let with = |id: &str, name: &str, impulse: &str| json!({"id": id, "type": "builtin", "name": name, "impulse": impulse});
    let (session, left_out) = compiled(json!({"tracks": [{"id": "t", "kind": "audio", "effects": [
        with("a", "convolution", "half a minute"), with("b", "convolution", "longer"),
        with("c", "convolution", "gone"), with("d", "utility", "longer"),
    ]}]}));
    let impulses: Vec<_> = session.tracks[0].effects.iter().map(|effect| effect.audio_slot).collect();
    assert_eq!(impulses, [Some(5), None, None, Some(6)]);
    let expected = [
        ("/tracks/0/effects/1/impulse", "the impulse response lasts 30.00002 s; the limit is 30 s"),
        ("/tracks/0/effects/2/impulse", "the audio file \"gone\" is missing"),
    ];
    assert_eq!(left_out, expected.map(|(pointer, reason)| (pointer.to_owned(), reason.to_owned())));
}

#[test]
fn routes_refer_to_track_indices() {
    let (session, left_out) = compiled(json!({"tracks": [
        {"id": "g", "kind": "group"},
        {"id": "t", "kind": "instrument", "output": "g", "sends": [
            {"to": "gone"}, {"to": "b", "level_db": -144, "pre_fader": true}, {"to": "b"}]},
        {"id": "b", "kind": "bus", "output": null},
    ]}));
    assert_eq!(session.tracks.iter().map(|track| track.output).collect::<Vec<_>>(), [None, Some(0), None]);
    let send = |gain, pre_fader| SendSettings { to: 2, gain, pre_fader };
    assert_eq!(session.tracks[1].sends, [send(0.0, true), send(1.0, false)]);
    let expected = ("/tracks/1/sends/0/to".to_owned(), "there is no track \"gone\"".to_owned());
    assert_eq!(left_out, [expected]);
}

#[test]
fn automation_targets_are_resolved() {
    let lane = |target: &str| json!({"target": target, "points": [{"tick": 960, "value": 1}]});
    let targets =
        ["volume_db", "pan", "send/b", "send/gain_db", "a/b/balance", "send/none", "x/gain_db", "mute"];
    let (session, left_out) = compiled(json!({
        "tracks": [
            {"id": "t", "kind": "instrument", "sends": [{"to": "gone"}, {"to": "b"}],
             "effects": [utility("send", json!({})), utility("a/b", json!({}))],
             "automation": targets.map(lane)},
            {"id": "b", "kind": "bus"},
        ],
        "master": {"automation": [{"target": "volume_db", "points": [
            {"tick": 0, "value": -6, "curve": "step"}, {"tick": 1, "value": 0, "curve": 0.5}, {"tick": 2, "value": 1}]}]},
    }));
    let compiled_targets: Vec<AutomationTarget> =
        session.tracks[0].automation.iter().map(|lane| lane.target).collect();
    let effect = |effect, parameter| AutomationTarget::Effect { effect, parameter };
    use AutomationTarget::{Pan, Send, Volume};
    assert_eq!(compiled_targets, [Volume, Pan, Send(0), effect(0, 0), effect(1, 1)]);
    assert_eq!(session.tracks[0].automation[0].points[0].frame, 24_000);
    let pointers: Vec<&str> = left_out.iter().map(|(pointer, _)| &**pointer).collect();
    let lanes = [5, 6, 7].map(|index| format!("/tracks/0/automation/{index}"));
    assert_eq!(pointers, ["/tracks/0/sends/0/to", &lanes[0], &lanes[1], &lanes[2]]);
    let curves: Vec<Curve> = session.master_automation[0].points.iter().map(|point| point.curve).collect();
    assert_eq!(curves, [Curve::Step, Curve::Arc(0.5), Curve::Linear]);
}

#[test]
fn values_out_of_range_are_clamped_and_reported() {
    let lane = |target: &str, values: &[f64]| {
        let points: Vec<Value> = values.iter().map(|value| json!({"tick": 0, "value": value})).collect();
        json!({"target": target, "points": points})
    };
    let (session, left_out) = compiled(json!({
        "tracks": [
            {"id": "t", "kind": "audio", "effects": [utility("u", json!({"gain_db": 36, "balance": -1}))], "sends": [{"to": "b"}],
             "automation": [lane("volume_db", &[-144.0, 24.0]), lane("pan", &[1.0, -7.0, 8.0]),
                            lane("send/b", &[-145.0]), lane("u/gain_db", &[1e300])]},
            {"id": "b", "kind": "bus"},
        ],
        "master": {"automation": [lane("volume_db", &[24.5])]},
    }));
    let values = |lane: &session::AutomationLane| -> Vec<f64> {
        lane.points.iter().map(|point| point.value).collect()
    };
    let lane_values: Vec<Vec<f64>> = session.tracks[0].automation.iter().map(values).collect();
    assert_eq!(lane_values, [vec![-144.0, 24.0], vec![1.0, -1.0, 1.0], vec![-144.0], vec![36.0]]);
    assert_eq!(values(&session.master_automation[0]), [24.0]);
    let expected = [
        ("/tracks/0/automation/1/points/1/value", "-7.0 is outside the range -1 to 1; -1 is used instead"),
        (
            "/tracks/0/automation/2/points/0/value",
            "-145.0 is outside the range -144 to 24; -144 is used instead",
        ),
        (
            "/tracks/0/automation/3/points/0/value",
            "1e300 is outside the range -144 to 36; 36 is used instead",
        ),
        ("/master/automation/0/points/0/value", "24.5 is outside the range -144 to 24; 24 is used instead"),
    ];
    assert_eq!(left_out, expected.map(|(pointer, reason)| (pointer.to_owned(), reason.to_owned())));
}

#[test]
fn a_second_effect_with_the_same_id_is_left_out() {
    let pair = || json!([utility("u", json!({"gain_db": -6})), utility("u", json!({"gain_db": -9}))]);
    let (session, left_out) = compiled(json!({
        "tracks": [{"id": "t", "kind": "audio", "effects": pair()}, {"id": "o", "kind": "audio", "effects": [pair()[0]]}],
        "master": {"effects": pair()},
    }));
    let chains = [&session.tracks[0].effects, &session.tracks[1].effects, &session.master_effects];
    assert_eq!(
        chains.map(|chain| chain.iter().map(|effect| effect.values[0]).collect::<Vec<_>>()),
        [[-6.0], [-6.0], [-6.0]]
    );
    let reason = "an earlier effect has the same id \"u\"; ids must be unique";
    let expected = ["/tracks/0/effects/1", "/master/effects/1"];
    assert_eq!(left_out, expected.map(|pointer| (pointer.to_owned(), reason.to_owned())));
}

#[test]
fn the_session_ends_where_its_audio_ends() {
    let with = |more: Value| {
        let mut item =
            json!({"type": "audio", "id": "i", "start_tick": 960, "source": {"server_file_id": "f"}});
        item.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        compiled(json!({"tracks": [{"id": "t", "kind": "audio", "items": [item]}]}))
    };
    let end = |more: Value| with(more).0.length_frames;
    // File `f` is two seconds long.
    assert_eq!(end(json!({"length_frames": 2_400_000})), 24_000 + 96_000);
    assert_eq!(end(json!({"length_frames": 2_400_000, "offset_frames": 47_999})), 24_000 + 2);
    assert_eq!(end(json!({"length_frames": 2_400_000, "loop": true})), 24_000 + 4_800_000);
    for looped in [false, true] {
        let (session, left_out) =
            with(json!({"length_frames": 100, "offset_frames": 48_000, "loop": looped}));
        assert_eq!((session.length_frames, session.tracks[0].clips.len()), (0, 0));
        let reason = "the item starts at frame 96000 of its audio file, which has only 96000 frames at the sample rate of \
                      the song"
            .to_owned();
        assert_eq!(left_out, [("/tracks/0/items/0".to_owned(), reason)]);
    }
}

#[test]
fn audio_items_become_clips_at_the_rate_of_the_session() {
    let item = |id: &str, more: Value| {
        let mut item = json!({"type": "audio", "id": id, "start_tick": 960, "source": {}});
        item.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        item
    };
    let (session, left_out) = compiled(json!({"tracks": [{"id": "t", "kind": "audio", "items": [
        item("1", json!({"source": {"server_file_id": "f"}, "offset_frames": 12_000, "gain_db": -144})),
        item("2", json!({"server_file_id": "f", "length_frames": 100_000, "loop": true,
                         "fades": {"in_frames": 10, "out_frames": 20}})),
        item("3", json!({"server_file_id": "gone", "length_frames": 1})),
    ]}]}));
    let clip = Clip {
        frame: 24_000,
        offset_frames: 24_000,
        length_frames: 72_000,
        gain: 0.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 4,
    };
    let looped = Clip {
        offset_frames: 0,
        length_frames: 200_000,
        gain: 1.0,
        fade_in_frames: 20,
        fade_out_frames: 40,
        looped: true,
        ..clip
    };
    assert_eq!(session.tracks[0].clips, [clip, looped]);
    assert_eq!(session.length_frames, 224_000);
    assert_eq!(left_out, [("/tracks/0/items/2".to_owned(), "the audio file \"gone\" is missing".to_owned())]);
}

#[test]
fn a_frozen_track_plays_its_recording_instead_of_its_items_and_effects() {
    let lane = |target: &str| json!({"target": target, "points": [{"tick": 0, "value": 0}]});
    let mut document = json!({"tracks": [
        {"id": "t", "kind": "instrument", "volume_db": -6, "pan": 0.5, "sends": [{"to": "b"}],
         "items": [{"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 960_000, "notes": [
             {"tick": 0, "length_ticks": 960, "pitch": 60, "velocity": 0.5}]},
             {"type": "audio", "id": "a", "start_tick": 0, "source": {"server_file_id": "longer"}}],
         "synth_engine": {"type": "vst3", "plugin_id": "x"},
         "effects": [utility("u", json!({})), {"id": "recorded", "type": "vst3", "plugin_id": "x"}],
         "automation": [lane("pan"), lane("u/gain_db"), lane("instrument/3"), lane("send/b"), lane("send/c")],
         "frozen": {"server_file_id": "f", "length_frames": 36_000}},
        {"id": "b", "kind": "bus"},
    ]});
    let (session, left_out) = compiled(document.clone());
    let track = &session.tracks[0];
    let clip = Clip {
        frame: 0,
        offset_frames: 0,
        length_frames: 96_000,
        gain: 1.0,
        fade_in_frames: 0,
        fade_out_frames: 0,
        looped: false,
        audio_slot: 4,
    };
    assert_eq!((track.clips.as_slice(), track.events.as_slice()), (&[clip][..], &[][..]));
    assert!(track.effects.is_empty() && track.instrument.is_none());
    assert_eq!((track.gain, track.pan, track.sends.len()), (gain::from_db(-6.0), 0.5, 1));
    let targets: Vec<AutomationTarget> = track.automation.iter().map(|lane| lane.target).collect();
    assert_eq!(targets, [AutomationTarget::Pan, AutomationTarget::Send(0)]);
    // 36,000 frames of the file; the tail does not make the song longer.
    assert_eq!(session.length_frames, 72_000);
    let unknown_send =
        ("/tracks/0/automation/4".to_owned(), "the automation target \"send/c\" does not exist".to_owned());
    assert_eq!(left_out, std::slice::from_ref(&unknown_send));
    document["tracks"][0]["frozen"]["server_file_id"] = json!("gone");
    // Without the file, its sample rate is that of the field, or else that of the song.
    assert_eq!(compiled(document.clone()).0.length_frames, 36_000);
    document["tracks"][0]["frozen"]["sample_rate_hz"] = json!(24_000);
    let (session, left_out) = compiled(document);
    assert_eq!(session.length_frames, 72_000);
    assert!(session.tracks[0].clips.is_empty());
    let missing = ("/tracks/0/frozen".to_owned(), "the audio file \"gone\" is missing".to_owned());
    assert_eq!(left_out, [unknown_send, missing]);
}

#[test]
fn the_files_of_a_project_are_listed_once() {
    let project = project(json!([
        {"id": "t", "kind": "audio", "items": [
            {"type": "audio", "id": "1", "start_tick": 0, "source": {"server_file_id": "a"}, "server_file_id": "x"},
            {"type": "audio", "id": "2", "start_tick": 0, "source": {}, "server_file_id": "b"},
            {"type": "audio", "id": "3", "start_tick": 0, "source": {},
             "processing": {"server_file_id": "e", "start_frame": 0, "length_frames": 1}},
        ], "effects": [{"id": "c", "type": "builtin", "name": "convolution", "impulse": "a"},
                       {"id": "d", "type": "builtin", "name": "convolution", "impulse": "d"}],
         "takes": [
             {"type": "audio", "id": "4", "start_tick": 0, "source": {"server_file_id": "a"}},
             {"type": "audio", "id": "5", "start_tick": 0, "source": {"server_file_id": "f"}},
             {"type": "midi", "id": "6", "start_tick": 0, "length_ticks": 1}],
         "frozen": {"server_file_id": "c", "length_frames": 1}},
    ]));
    assert_eq!(files_used(&project), ["a", "b", "c", "d"]);
    assert_eq!(files_named(&project), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(files_used(&without_frozen_parts(project)), ["c"]);
}

#[test]
fn tempo_changes_are_counted_in_frames_and_beats() {
    let (session, _) = compiled(json!({"tempo_map": [{"tick": 0, "bpm": 120}, {"tick": 1440, "bpm": 60}]}));
    let change = |frame, bpm, beat| TempoChange { frame, bpm, beat };
    assert_eq!(session.tempo, [change(0, 120.0, 0.0), change(36_000, 60.0, 1.5)]);
}

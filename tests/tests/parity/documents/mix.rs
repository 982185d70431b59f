//! A document with the song of a band: instruments, a group, buses, sends, side-chains, tempo
//! changes, and automation of all kinds.

use serde_json::{Value, json};

use super::{Document, QUARTER, effect, instrument, lane, track};

/// Number of beats in the song.
const BEATS: u32 = 14;

pub(super) fn document() -> Document {
    let tempo_map = json!([
        {"tick": 0, "bpm": 120}, {"tick": 5 * QUARTER + 100, "bpm": 92.5}, {"tick": 9 * QUARTER, "bpm": 174},
    ]);
    let tracks = vec![drums(), bass(), keys(), lead(), silenced(), band(), room(), echo()];
    let master = json!({
        "volume_db": -2,
        "effects": [
            effect("equalizer", json!({"params": {"low_cut_on": true, "bell_1_gain_db": -2.5}})),
            effect("compressor", json!({"side_chain": "drums", "params": {"detector": "RMS", "ratio": 1.5}})),
            effect("width", json!({"params": {"mono_below_on": true}})),
            effect("limiter", json!({"params": {"input_gain_db": 2}})),
        ],
        "automation": [
            lane("volume_db", &[(0, -12.0, json!(-0.4)), (QUARTER, -1.0, json!("linear")), (13 * QUARTER, -6.0, json!("linear"))]),
            lane("width/width", &[(0, 0.5, json!("linear")), (BEATS * QUARTER, 1.5, json!("linear"))]),
        ],
    });
    Document::new("a song with a band", 48_000, tempo_map, tracks, master)
}

/// Returns the starts and pitches of notes every `step_ticks` ticks. The pitches repeat in a cycle.
fn pattern(step_ticks: u32, pitches: &[u8]) -> Vec<(u32, u8)> {
    (0..BEATS * QUARTER / step_ticks)
        .map(|step| (step * step_ticks, pitches[step as usize % pitches.len()]))
        .collect()
}

fn drums() -> Value {
    let fields = json!({
        "output": "band", "volume_db": -3,
        "sends": [{"to": "room", "level_db": -14}],
        "effects": [
            effect("gate", json!({"params": {"threshold_db": -45}})),
            effect("compressor", json!({"params": {"attack_ms": 4, "auto_makeup": true}})),
        ],
    });
    instrument(
        "drums",
        [128, 0],
        &pattern(QUARTER / 2, &[36, 42, 38, 42, 36, 36, 38, 46]),
        QUARTER / 4,
        fields,
    )
}

fn bass() -> Value {
    let duck = json!({"side_chain": "drums", "params": {"threshold_db": -36, "ratio": 6}});
    let fields = json!({
        "output": "band",
        "effects": [effect("compressor", duck), effect("saturator", json!({"params": {"type": "Tube", "mix": 0.6}}))],
        "automation": [
            lane("compressor/threshold_db", &[(0, -36.0, json!("linear")), (8 * QUARTER, -18.0, json!(0.5)), (12 * QUARTER, -40.0, json!("linear"))]),
            lane("volume_db", &[(QUARTER, -2.0, json!("step")), (6 * QUARTER + 1, -8.0, json!("linear")), (9 * QUARTER, -2.0, json!("linear"))]),
        ],
    });
    instrument("bass", [0, 33], &pattern(QUARTER, &[36, 43, 41, 38]), QUARTER - 60, fields)
}

fn keys() -> Value {
    let fields = json!({
        "volume_db": -4, "pan": -0.25,
        "sends": [{"to": "room", "level_db": -10}, {"to": "echo", "level_db": -8, "pre_fader": true}],
        "effects": [
            effect("chorus", json!({"params": {"voices": "4"}})),
            effect("tremolo", json!({"params": {"sync": true, "note": "1/16T", "stereo_degrees": 90}})),
        ],
        "automation": [
            lane("pan", &[(0, -0.8, json!(0.7)), (7 * QUARTER, 0.8, json!(-0.7)), (BEATS * QUARTER, -0.5, json!("linear"))]),
            lane("send/room", &[(QUARTER, -30.0, json!("linear")), (10 * QUARTER, -4.0, json!("linear"))]),
            lane("send/echo", &[(0, -60.0, json!("step")), (4 * QUARTER, -6.0, json!("step")), (5 * QUARTER, -60.0, json!("step"))]),
            lane("tremolo/depth", &[(0, 0.1, json!(-0.9)), (11 * QUARTER, 0.9, json!("linear"))]),
        ],
    });
    instrument("keys", [0, 4], &pattern(QUARTER * 2 / 3, &[60, 64, 67, 72, 69, 65]), QUARTER, fields)
}

fn lead() -> Value {
    let fields = json!({
        "volume_db": -9, "pan": 0.3, "sends": [{"to": "echo", "level_db": -12}],
        "effects": [
            effect("phaser", json!({})), effect("flanger", json!({"bypass": true})),
            effect("delay", json!({"params": {"note": "1/8T", "mode": "Ping-pong"}})),
        ],
        "automation": [lane("delay/feedback", &[(0, 0.2, json!("linear")), (12 * QUARTER, 0.7, json!("linear"))])],
    });
    instrument("lead", [0, 81], &pattern(QUARTER * 3 / 2, &[76, 79, 74, 83]), QUARTER, fields)
}

/// Returns a muted track, whose sends are muted too.
fn silenced() -> Value {
    let fields = json!({"mute": true, "sends": [{"to": "room", "pre_fader": true}]});
    instrument("silenced", [0, 48], &pattern(2 * QUARTER, &[48, 55]), QUARTER, fields)
}

fn band() -> Value {
    let fields = json!({
        "effects": [effect("equalizer", json!({"params": {"high_shelf_gain_db": 3}})), effect("limiter", json!({}))],
        "automation": [
            lane("pan", &[(0, 0.0, json!("linear")), (6 * QUARTER, 0.4, json!("step")), (7 * QUARTER, -0.2, json!("linear"))]),
            lane("equalizer/high_shelf_gain_db", &[(0, 3.0, json!("linear")), (8 * QUARTER, -6.0, json!("linear"))]),
        ],
    });
    track("band", "group", fields)
}

fn room() -> Value {
    let fields = json!({
        "volume_db": -3,
        "effects": [
            effect("convolution", json!({"impulse": "room", "params": {"response": "Own", "mix": 1}})),
            effect("reverb", json!({"params": {"mix": 0.6, "decay_secs": 2.5}})),
        ],
        "automation": [lane("reverb/size", &[(0, 0.6, json!("linear")), (12 * QUARTER, 0.3, json!("linear"))])],
    });
    track("room", "bus", fields)
}

fn echo() -> Value {
    let fields = json!({
        "effects": [effect("delay", json!({"params": {"note": "1/4D", "mix": 1, "spread_ms": 8}})), effect("filter", json!({}))],
        "sends": [{"to": "room", "level_db": -6}],
        "automation": [lane("filter/cutoff_hz", &[(0, 400.0, json!(0.3)), (10 * QUARTER, 6_000.0, json!("linear"))])],
    });
    track("echo", "bus", fields)
}

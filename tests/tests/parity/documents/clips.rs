//! A document with recorded audio at 44.1 kHz: mono and stereo, files of other sample rates, gains,
//! fades, offsets, loops, overlaps and ends of files. The audio passes groups and effects with
//! latency.

use serde_json::{Value, json};

use super::{Document, QUARTER, audio, effect, lane, track};

pub(super) fn document() -> Document {
    let tempo_map = json!([{"tick": 0, "bpm": 100}, {"tick": 4 * QUARTER, "bpm": 133.3}]);
    let master = json!({"effects": [effect("reverb", json!({"params": {"mix": 0.1}}))]});
    Document::new("recorded audio", 44_100, tempo_map, vec![beat(), strings(), voices(), group()], master)
}

/// Returns a mono track whose items overlap.
fn beat() -> Value {
    let items = [
        audio(
            "drums",
            0,
            json!({"length_frames": 260_000, "loop": true, "gain_db": -4, "offset_frames": 1_003}),
        ),
        audio(
            "drums",
            QUARTER + 13,
            json!({"gain_db": 2.5, "fades": {"in_frames": 300, "out_frames": 20_000}}),
        ),
        // A short loop, which repeats many times in one block.
        audio(
            "taps",
            5 * QUARTER,
            json!({"offset_frames": 55_020, "length_frames": 9_000, "loop": true, "gain_db": -9}),
        ),
        audio("taps", 0, json!({"length_frames": 40_000, "fades": {"in_frames": 1, "out_frames": 1}})),
    ];
    track("beat", "audio", json!({"output": "group", "items": items}))
}

/// Returns a stereo track. Items end at the end of the file or after it, and fades overlap.
fn strings() -> Value {
    let items = [
        audio(
            "strings",
            100,
            json!({"length_frames": 90_000, "fades": {"in_frames": 70_000, "out_frames": 60_000}}),
        ),
        audio(
            "strings",
            3 * QUARTER,
            json!({"offset_frames": 120_000, "length_frames": 200_000, "fades": {"out_frames": 5_000}}),
        ),
        audio("strings", 7 * QUARTER + 1, json!({"offset_frames": 30_011, "gain_db": -1})),
        audio("strings", 9 * QUARTER, json!({"offset_frames": 60_000, "loop": true, "length_frames": 5_000})),
    ];
    let fields = json!({
        "output": "group", "pan": 0.4, "items": items,
        "effects": [effect("limiter", json!({"params": {"input_gain_db": 6}})), effect("saturator", json!({"bypass": true}))],
        "automation": [lane("volume_db", &[(0, 0.0, json!("linear")), (6 * QUARTER, -9.0, json!(0.8)), (10 * QUARTER, 0.0, json!("linear"))])],
    });
    track("strings", "audio", fields)
}

/// Returns a track with a file of 32 kHz. Its items count frames at that rate.
fn voices() -> Value {
    let items = [
        audio(
            "voice",
            QUARTER,
            json!({"offset_frames": 5_001, "length_frames": 64_003, "fades": {"in_frames": 2_000}}),
        ),
        audio(
            "voice",
            2 * QUARTER,
            json!({"offset_frames": 16_000, "length_frames": 150_000, "loop": true, "gain_db": -12}),
        ),
        audio("voice", 6 * QUARTER, json!({"gain_db": -7, "fades": {"in_frames": 32_000}})),
    ];
    let effects = [
        effect("bit_crusher", json!({"params": {"dither": true, "mix": 0.5}})),
        effect("de_esser", json!({})),
    ];
    track("voices", "audio", json!({"pan": -0.6, "items": items, "effects": effects}))
}

fn group() -> Value {
    track(
        "group",
        "group",
        json!({"volume_db": -2, "effects": [effect("utility", json!({"params": {"channels": "Swapped"}}))]}),
    )
}

//! A document with muted and soloed tracks, groups and buses, which are connected by sends and
//! side-chains.

use serde_json::{Value, json};

use super::{Document, QUARTER, audio, effect, instrument, lane, track};

pub(super) fn document() -> Document {
    let tempo_map = json!([{"tick": 0, "bpm": 150}]);
    let sends = json!([{"to": "room", "level_db": -6}, {"to": "plate", "level_db": -9, "pre_fader": true}]);
    let compressor =
        effect("compressor", json!({"side_chain": "unheard", "params": {"threshold_db": -40, "ratio": 8}}));
    let tracks = vec![
        // This track is soloed, and audible through its group and its buses.
        instrument(
            "solo",
            [0, 11],
            &notes(72),
            QUARTER,
            json!({
                "solo": true, "output": "group", "sends": sends, "effects": [compressor],
                "automation": [lane("pan", &[(0, -1.0, json!("linear")), (8 * QUARTER, 1.0, json!("linear"))])],
            }),
        ),
        // This track is not soloed. It is audible through the soloed bus that it feeds, and as a
        // side-chain.
        audio_track("unheard", "drums", json!({"output": "group", "sends": sends})),
        // This track is soloed and muted, so it is silent.
        audio_track("both", "strings", json!({"solo": true, "mute": true, "sends": sends})),
        // This track is muted, so it is silent although it feeds a soloed bus.
        audio_track("muted", "voice", json!({"mute": true, "sends": sends})),
        // This track feeds a soloed group, so it is audible.
        audio_track("fed", "strings", json!({"output": "chosen", "volume_db": -6})),
        track("group", "group", json!({"output": "outer", "effects": [effect("limiter", json!({}))]})),
        track("outer", "group", json!({"volume_db": -2})),
        track("chosen", "group", json!({"solo": true, "pan": 0.5, "effects": [effect("phaser", json!({}))]})),
        track(
            "room",
            "bus",
            json!({"solo": true, "effects": [effect("reverb", json!({"params": {"mix": 1}}))]}),
        ),
        track(
            "plate",
            "bus",
            json!({"effects": [effect("convolution", json!({"params": {"response": "Plate", "mix": 1}}))]}),
        ),
    ];
    Document::new(
        "mute and solo",
        48_000,
        tempo_map,
        tracks,
        json!({"effects": [effect("saturator", json!({"params": {"drive_db": 3}}))]}),
    )
}

fn notes(pitch: u8) -> Vec<(u32, u8)> {
    (0..11).map(|beat| (beat * QUARTER, pitch - (beat * 5 % 12) as u8)).collect()
}

fn audio_track(id: &str, file_id: &str, mut fields: Value) -> Value {
    fields["items"] = json!([audio(file_id, QUARTER, json!({"gain_db": -3}))]);
    track(id, "audio", fields)
}

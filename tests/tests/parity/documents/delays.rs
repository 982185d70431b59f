//! A document at 96 kHz with effects that have latency. Routes with different numbers of such
//! effects are summed in groups, buses, side-chains and the master.

use serde_json::{Value, json};

use super::{Document, QUARTER, audio, effect, instrument, lane, track, with};

pub(super) fn document() -> Document {
    let tempo_map = json!([{"tick": 0, "bpm": 140}, {"tick": 5 * QUARTER, "bpm": 95}]);
    let tracks = vec![
        recorded_track("plain", json!({"sends": [{"to": "bus", "level_db": -3, "pre_fader": true}]})),
        recorded_track("once", json!({"effects": [saturated(0)], "output": "group"})),
        recorded_track(
            "twice",
            json!({
                "effects": [saturated(0), limited(1)], "output": "group",
                "sends": [{"to": "bus", "level_db": -6}],
                "automation": [
                    lane("1/ceiling_dbtp", &[(0, -1.0, json!("linear")), (6 * QUARTER, -12.0, json!("step")), (7 * QUARTER, -3.0, json!("linear"))]),
                    lane("volume_db", &[(QUARTER, -12.0, json!("step")), (2 * QUARTER, -3.0, json!("linear")), (7 * QUARTER, -9.0, json!("linear"))]),
                    lane("send/bus", &[(0, -20.0, json!("linear")), (8 * QUARTER, -2.0, json!("linear"))]),
                ],
            }),
        ),
        recorded_track("around", json!({"bypass": true, "effects": [saturated(0), limited(1)]})),
        instrument(
            "side-chained",
            [0, 16],
            &[(0, 48), (QUARTER, 55), (2 * QUARTER, 60), (6 * QUARTER, 52)],
            QUARTER,
            json!({
                "effects": [
                    limited(0),
                    with(effect("compressor", json!({"side_chain": "twice", "params": {"threshold_db": -40}})), json!({"id": "late side-chain"})),
                    with(effect("gate", json!({"side_chain": "plain", "params": {"threshold_db": -30}})), json!({"id": "early side-chain"})),
                    saturated(3),
                ],
                "output": "inner",
            }),
        ),
        track(
            "inner",
            "group",
            json!({"output": "group", "effects": [with(limited(0), json!({"bypass": true}))]}),
        ),
        track(
            "group",
            "group",
            json!({"effects": [limited(0), effect("tremolo", json!({"params": {"sync": true}}))]}),
        ),
        track(
            "bus",
            "bus",
            json!({
                "effects": [saturated(0), effect("delay", json!({})), limited(2)], "output": "group", "volume_db": -6,
            }),
        ),
    ];
    let master = json!({
        "effects": [limited(0), with(effect("compressor", json!({"side_chain": "once"})), json!({"id": "side-chained"})), saturated(2)],
        "automation": [lane("2/drive_db", &[(0, 0.0, json!("linear")), (7 * QUARTER, 12.0, json!("linear"))])],
    });
    Document::new("latent effects", 96_000, tempo_map, tracks, master)
}

fn recorded_track(id: &str, fields: Value) -> Value {
    let items = [
        audio("drums", 0, json!({"gain_db": -6, "loop": true, "length_frames": 400_000})),
        audio("strings", QUARTER, json!({"gain_db": -6})),
    ];
    with(track(id, "audio", json!({"volume_db": -6, "items": items})), fields)
}

fn saturated(index: usize) -> Value {
    with(
        effect("saturator", json!({"params": {"drive_db": 6, "type": "Soft"}})),
        json!({"id": index.to_string()}),
    )
}

fn limited(index: usize) -> Value {
    with(effect("limiter", json!({"params": {"input_gain_db": 3}})), json!({"id": index.to_string()}))
}

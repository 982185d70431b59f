//! A document with all kinds of effects in series, on tracks, a group, a bus and the master.

use dsp_core::effects::{EFFECTS, EffectKind};
use serde_json::{Value, json};

use super::{Document, QUARTER, audio, effect, instrument, lane, track};

pub(super) fn document() -> Document {
    let tempo_map =
        json!([{"tick": 0, "bpm": 132}, {"tick": 3 * QUARTER, "bpm": 76}, {"tick": 5 * QUARTER, "bpm": 201}]);
    let send = json!([{"to": "bus", "level_db": -12}]);
    let notes = [(0, 57), (QUARTER, 64), (2 * QUARTER, 60), (5 * QUARTER, 67), (6 * QUARTER, 69)];
    let items = [
        audio("drums", 0, json!({"gain_db": -9, "loop": true, "length_frames": 200_000})),
        audio("voice", QUARTER, json!({"gain_db": -6})),
    ];
    let tracks = vec![
        instrument(
            "notes",
            [0, 25],
            &notes,
            QUARTER,
            json!({
                "effects": every_effect(None), "sends": send, "output": "group",
                "automation": [
                    lane("equalizer/bell_2_gain_db", &[(0, 0.0, json!("linear")), (6 * QUARTER, 12.0, json!("linear"))]),
                    lane("convolution/mix", &[(0, 0.1, json!(0.5)), (5 * QUARTER, 0.6, json!("linear"))]),
                ],
            }),
        ),
        track(
            "audio",
            "audio",
            json!({"items": items, "effects": every_effect(Some("notes")), "sends": send, "output": "group"}),
        ),
        track("group", "group", json!({"effects": every_effect(Some("audio")), "volume_db": -3})),
        track("bus", "bus", json!({"effects": every_effect(None), "volume_db": -6})),
    ];
    Document::new(
        "every effect everywhere",
        48_000,
        tempo_map,
        tracks,
        json!({"effects": every_effect(None), "volume_db": -3}),
    )
}

fn every_effect(side_chain: Option<&str>) -> Vec<Value> {
    let effect_of_kind = |kind: &&EffectKind| {
        let mut effect = effect(kind.id, json!({"impulse": "room"}));
        if let Some(source) = side_chain.filter(|_| kind.has_side_chain) {
            effect["side_chain"] = source.into();
        }
        effect
    };
    EFFECTS.iter().map(effect_of_kind).collect()
}

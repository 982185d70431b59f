//! Each kind of effect by itself: at its defaults on one track, and on another with every parameter
//! moving.

use dsp_core::effects::{EFFECTS, EffectKind, Parameter, Scale};
use serde_json::{Map, Value, json};

use super::{Document, QUARTER, audio, effect, lane, track, with};

pub(super) fn documents() -> Vec<Document> {
    EFFECTS.iter().map(|kind| document(kind)).collect()
}

/// Three seconds through three tempos.
fn document(kind: &EffectKind) -> Document {
    let tempo_map = json!([
        {"tick": 0, "bpm": 120}, {"tick": QUARTER + 7, "bpm": 87.5}, {"tick": 3 * QUARTER, "bpm": 171.25},
    ]);
    let key = audio("drums", 60, json!({"length_frames": 140_000, "loop": true}));
    let tracks = vec![
        track("key", "audio", json!({"volume_db": -24, "items": [key]})),
        heard("at its defaults", kind, Map::new(), json!([])),
        heard("moving", kind, other_choices(kind), lanes(kind)),
    ];
    Document::new(&format!("effect {}", kind.id), 48_000, tempo_map, tracks, json!({"volume_db": -3}))
}

fn heard(id: &str, kind: &EffectKind, params: Map<String, Value>, automation: Value) -> Value {
    let mut effect = effect(kind.id, json!({"params": params, "impulse": "room"}));
    if kind.has_side_chain {
        effect["side_chain"] = "key".into();
    }
    let items = [
        audio("drums", 0, json!({"gain_db": -6, "length_frames": 96_000})),
        audio("strings", QUARTER / 2, json!({"length_frames": 120_000})),
        audio(
            "voice",
            QUARTER,
            json!({"gain_db": -3, "length_frames": 80_000, "fades": {"out_frames": 4_000}}),
        ),
    ];
    with(
        track(id, "audio", json!({"volume_db": -6, "items": items, "effects": [effect]})),
        json!({"automation": automation}),
    )
}

/// Switches thrown, and the next of each choice, by its name.
fn other_choices(kind: &EffectKind) -> Map<String, Value> {
    let other = |parameter: &Parameter| {
        let value = match parameter.scale {
            Scale::Switch => (parameter.default == 0.0).into(),
            Scale::Choice(choices) => choices[(parameter.default as usize + 1) % choices.len()].into(),
            Scale::Linear | Scale::Logarithmic => return None,
        };
        Some((parameter.id.to_owned(), value))
    };
    kind.parameters.iter().filter_map(other).collect()
}

/// Lines for all parameters: there and back for those that glide, with other curves in turn; jumps
/// through the choices of those that do not.
fn lanes(kind: &EffectKind) -> Value {
    let lane_of = |(place, parameter): (usize, &Parameter)| {
        let late = 40 * place as u32;
        let ways = [json!("linear"), json!(0.6), json!(-0.6), json!("step")];
        let way = |step: usize| ways[(place + step) % ways.len()].clone();
        let points = if parameter.is_continuous() {
            vec![
                (333 + late, parameter.default, way(0)),
                (2 * QUARTER + late, towards(parameter, parameter.max, 0.35), way(1)),
                (3 * QUARTER + late, towards(parameter, parameter.min, 0.35), way(2)),
                (4 * QUARTER + 1 + late, parameter.default, json!("linear")),
            ]
        } else {
            let choice = |step: u32| (parameter.default + f64::from(step)) % (parameter.max + 1.0);
            (1..5).map(|step| (step * (QUARTER + 11) + late, choice(step), json!("step"))).collect()
        };
        lane(&format!("{}/{}", kind.id, parameter.id), &points)
    };
    kind.parameters.iter().enumerate().map(lane_of).collect()
}

/// A share of the way from the default to an end of the range, as a knob turns.
fn towards(parameter: &Parameter, end: f64, share: f64) -> f64 {
    let start = parameter.default;
    if parameter.scale == Scale::Logarithmic {
        start * (end / start).powf(share)
    } else {
        start + (end - start) * share
    }
}

//! A document for each kind of effect. One track has the effect at its defaults, and another one
//! has it with every parameter automated.

use dsp_core::effects::{EFFECTS, EffectKind, Parameter, Scale};
use serde_json::{Map, Value, json};

use super::{Document, QUARTER, audio, effect, lane, track, with};

pub(super) fn documents() -> Vec<Document> {
    EFFECTS.iter().map(|kind| document(kind)).collect()
}

/// Returns a document of three seconds with three tempos.
fn document(kind: &EffectKind) -> Document {
    let tempo_map = json!([
        {"tick": 0, "bpm": 120}, {"tick": QUARTER + 7, "bpm": 87.5}, {"tick": 3 * QUARTER, "bpm": 171.25},
    ]);
    let side_chain_audio = audio("drums", 60, json!({"length_frames": 140_000, "loop": true}));
    let tracks = vec![
        track("source", "audio", json!({"volume_db": -24, "items": [side_chain_audio]})),
        processed("at its defaults", kind, Map::new(), json!([])),
        processed("moving", kind, other_choices(kind), lanes(kind)),
    ];
    Document::new(&format!("effect {}", kind.id), 48_000, tempo_map, tracks, json!({"volume_db": -3}))
}

fn processed(id: &str, kind: &EffectKind, params: Map<String, Value>, automation: Value) -> Value {
    let mut effect = effect(kind.id, json!({"params": params, "impulse": "room"}));
    if kind.has_side_chain {
        effect["side_chain"] = "source".into();
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

/// Returns parameter values that differ from the defaults: inverted switches, and the name of the
/// next choice of each list.
fn other_choices(kind: &EffectKind) -> Map<String, Value> {
    let other_choice = |parameter: &Parameter| {
        let value = match parameter.scale {
            Scale::Switch => (parameter.default == 0.0).into(),
            Scale::Choice(choices) => choices[(parameter.default as usize + 1) % choices.len()].into(),
            Scale::Linear | Scale::Logarithmic => return None,
        };
        Some((parameter.id.to_owned(), value))
    };
    kind.parameters.iter().filter_map(other_choice).collect()
}

/// Returns automation lanes for all parameters. Continuous parameters move up and down with
/// different curves. Other parameters step through their choices.
fn lanes(kind: &EffectKind) -> Value {
    let lane_of = |(index, parameter): (usize, &Parameter)| {
        let delay_ticks = 40 * index as u32;
        let curves = [json!("linear"), json!(0.6), json!(-0.6), json!("step")];
        let curve = |step: usize| curves[(index + step) % curves.len()].clone();
        let points = if parameter.is_continuous() {
            vec![
                (333 + delay_ticks, parameter.default, curve(0)),
                (2 * QUARTER + delay_ticks, towards(parameter, parameter.max, 0.35), curve(1)),
                (3 * QUARTER + delay_ticks, towards(parameter, parameter.min, 0.35), curve(2)),
                (4 * QUARTER + 1 + delay_ticks, parameter.default, json!("linear")),
            ]
        } else {
            let choice = |step: u32| (parameter.default + f64::from(step)) % (parameter.max + 1.0);
            (1..5).map(|step| (step * (QUARTER + 11) + delay_ticks, choice(step), json!("step"))).collect()
        };
        lane(&format!("{}/{}", kind.id, parameter.id), &points)
    };
    kind.parameters.iter().enumerate().map(lane_of).collect()
}

/// Returns the value at a fraction of the way from the default to `end`, on the parameter's scale.
fn towards(parameter: &Parameter, end: f64, fraction: f64) -> f64 {
    let start = parameter.default;
    if parameter.scale == Scale::Logarithmic {
        start * (end / start).powf(fraction)
    } else {
        start + (end - start) * fraction
    }
}

//! Checks the `content` of presets.
//!
//! The content of a preset of an export is checked like a request for that export. Other content is
//! checked like a track of a project: first by the schema, then strictly by the engine's parameter
//! tables. Projects may contain effects, parameters and values that this version does not know. A
//! preset with such values is refused, because it could not be played.

use dsp_core::effects::{EffectKind, Parameter, Scale, effect_kind};
use schemas::json::JsonText;
use schemas::validate::validate;
use serde_json::{Map, Value, json};

use super::PresetKind;
use crate::error::{FieldError, pointer_part};
use crate::exports::check_preset_options;

/// Fields of an effect that have a meaning only within one project.
const PROJECT_FIELDS: [&str; 2] = ["id", "side_chain"];

/// Checks the content of a preset of this kind. Returns the content to store.
///
/// # Errors
/// All invalid values. Their pointers begin with `/content`.
pub(super) fn check_content(kind: PresetKind, content: &Value) -> Result<Value, Vec<FieldError>> {
    let Some(fields) = content.as_object() else { return Err(vec![fault("", "expected an object")]) };
    let allowed_fields: &[&str] = match kind {
        PresetKind::Instrument => &["synth_engine", "effects"],
        PresetKind::EffectChain => &["effects"],
        PresetKind::Export => {
            return match check_preset_options(content) {
                Ok(()) => Ok(content.clone()),
                Err(detail) => Err(vec![fault("", &detail)]),
            };
        }
    };
    let mut errors: Vec<FieldError> = fields
        .keys()
        .filter(|field_name| !allowed_fields.contains(&field_name.as_str()))
        .map(|field_name| {
            fault(
                &format!("/{}", pointer_part(field_name)),
                &format!(
                    "unknown field; the content of this kind of preset may have {}",
                    allowed_fields.join(" and ")
                ),
            )
        })
        .collect();
    for required_field in allowed_fields
        .iter()
        .filter(|field_name| kind == PresetKind::EffectChain || **field_name == "synth_engine")
    {
        if !fields.contains_key(*required_field) {
            errors.push(fault("", &format!("`{required_field}` is missing")));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut stored_fields = fields.clone();
    for effect in stored_fields.get_mut("effects").and_then(Value::as_array_mut).into_iter().flatten() {
        for field in PROJECT_FIELDS {
            effect.as_object_mut().map(|effect| effect.shift_remove(field));
        }
    }
    let faults = faults(kind, &stored_fields);
    if faults.is_empty() { Ok(Value::Object(stored_fields)) } else { Err(faults) }
}

fn faults(kind: PresetKind, fields: &Map<String, Value>) -> Vec<FieldError> {
    const TRACK_POINTER: &str = "/tracks/0";
    if let Err(violations) = validate(&JsonText::of_value(&project(fields))) {
        let in_content = |pointer: &str| pointer.strip_prefix(TRACK_POINTER).unwrap_or_default().to_owned();
        return violations
            .iter()
            .map(|violation| fault(&in_content(&violation.pointer), &violation.detail))
            .collect();
    }
    let effects = fields.get("effects").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if effects.is_empty() && kind == PresetKind::EffectChain {
        return vec![fault("/effects", "a chain must have at least one effect")];
    }
    let entry_faults = |(index, effect): (usize, &Value)| effect_faults(effect, &format!("/effects/{index}"));
    effects.iter().enumerate().flat_map(entry_faults).collect()
}

/// Returns the smallest project that has a track with these fields.
fn project(fields: &Map<String, Value>) -> Value {
    let mut track = fields.clone();
    track.insert("id".to_owned(), "preset".into());
    track.insert("kind".to_owned(), "instrument".into());
    for (index, effect) in
        track.get_mut("effects").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
    {
        if let Some(effect) = effect.as_object_mut() {
            effect.insert("id".to_owned(), format!("effect-{index}").into());
        }
    }
    json!({ "schema_version": 1, "project_id": "preset", "tracks": [track] })
}

/// Returns the faults of an effect. The effect is already valid by the schema.
fn effect_faults(effect: &Value, pointer: &str) -> Vec<FieldError> {
    if effect["type"] != "builtin" {
        return Vec::new();
    }
    let name = effect["name"].as_str().unwrap_or_default();
    let Some(kind) = effect_kind(name) else {
        let detail = format!("there is no effect `{name}`; GET /plugins/effects lists the effects");
        return vec![fault(&format!("{pointer}/name"), &detail)];
    };
    let params = effect["params"].as_object().into_iter().flatten();
    params
        .filter_map(|(id, value)| {
            let detail = parameter_fault(kind, id, value)?;
            Some(fault(&format!("{pointer}/params/{}", pointer_part(id)), &detail))
        })
        .collect()
}

fn parameter_fault(kind: &EffectKind, id: &str, value: &Value) -> Option<String> {
    let Some(index) = kind.parameter_index(id) else {
        return Some(format!("the effect `{}` has no parameter `{id}`", kind.id));
    };
    let parameter = &kind.parameters[index];
    let is_valid = match (value, parameter.scale) {
        (Value::Number(number), _) => number.as_f64().is_some_and(|number| parameter.clamp(number) == number),
        (Value::Bool(_), Scale::Switch) => true,
        (Value::String(name), Scale::Choice(choices)) => choices.contains(&name.as_str()),
        _ => false,
    };
    (!is_valid).then(|| format!("the value {value} is invalid; expected {}", describe_expected(parameter)))
}

fn describe_expected(parameter: &Parameter) -> String {
    match parameter.scale {
        Scale::Linear | Scale::Logarithmic => format!("a number from {} to {}", parameter.min, parameter.max),
        Scale::Choice(choices) => {
            format!("one of {}, or its index from 0 to {}", choices.join(", "), choices.len() - 1)
        }
        Scale::Switch => "true, false, 0 or 1".to_owned(),
    }
}

fn fault(pointer: &str, detail: &str) -> FieldError {
    FieldError { pointer: format!("/content{pointer}"), detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(kind: PresetKind, content: Value, pointers: &[&str]) {
        let errors = check_content(kind, &content).expect_err("the content is invalid");
        let error_pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(error_pointers, pointers, "{errors:?}");
    }

    #[test]
    fn ids_and_side_chains_are_removed() {
        let chain = json!({ "effects": [
            { "id": "e7", "type": "builtin", "name": "compressor", "side_chain": "kick",
              "params": { "detector": "RMS", "auto_makeup": true, "ratio": 4 } },
            { "id": "e8", "type": "vst3", "plugin_id": "x", "state": "AAAA" },
        ] });
        let stored_chain = check_content(PresetKind::EffectChain, &chain).expect("a valid preset");
        assert_eq!(stored_chain["effects"][0]["params"], chain["effects"][0]["params"]);
        assert_eq!(stored_chain["effects"][1], json!({ "type": "vst3", "plugin_id": "x", "state": "AAAA" }));
        assert!(
            !stored_chain.to_string().contains("side_chain") && !stored_chain.to_string().contains("e7"),
            "{stored_chain}"
        );
    }

    #[test]
    fn all_invalid_values_of_a_chain_are_reported() {
        let effect = |name: &str, params: Value| json!({ "type": "builtin", "name": name, "params": params });
        check_refused(PresetKind::EffectChain, json!([]), &["/content"]);
        check_refused(PresetKind::EffectChain, json!({}), &["/content"]);
        check_refused(PresetKind::EffectChain, json!({ "effects": [] }), &["/content/effects"]);
        check_refused(
            PresetKind::EffectChain,
            json!({ "effects": [], "synth_engine": {}, "a/b": 1 }),
            &["/content/synth_engine", "/content/a~1b"],
        );
        check_refused(
            PresetKind::EffectChain,
            json!({ "effects": [
                effect("vocoder", json!({})),
                effect("gate", json!({ "no/such": 1, "threshold_db": -81, "hold_ms": 10 })),
                effect("compressor", json!({ "detector": "Peak", "auto_makeup": 0.5 })),
                effect("filter", json!({ "type": 1.5, "slope": "6 dB/octave" })),
            ] }),
            &[
                "/content/effects/0/name",
                "/content/effects/1/params/no~1such",
                "/content/effects/1/params/threshold_db",
                "/content/effects/2/params/auto_makeup",
                "/content/effects/3/params/type",
                "/content/effects/3/params/slope",
            ],
        );
        check_refused(
            PresetKind::EffectChain,
            json!({ "effects": [{ "type": "builtin" }] }),
            &["/content/effects/0"],
        );
    }

    #[test]
    fn the_options_of_an_export_must_fit_its_format() {
        let podcast = json!({ "format": "mp3", "bit_rate_kbps": 192, "normalize": { "lufs": -16 } });
        assert_eq!(check_content(PresetKind::Export, &podcast).as_ref(), Ok(&podcast));
        for (content, expected) in [
            (json!({ "format": "mp3", "bit_depth": "pcm16" }), "has no bit depth"),
            (json!({ "format": "opus", "sample_rate_hz": 44_100 }), "44100 Hz is not supported"),
            (json!({ "normalize": { "lufs": 3 } }), "`normalize.lufs` is 3.0"),
            (json!({ "effects": [1] }), "cannot apply the option `effects`"),
            (json!({ "project_id": "song" }), "cannot apply the option `project_id`"),
            (json!({ "noise_shaping": "yes" }), "invalid type"),
        ] {
            let errors = check_content(PresetKind::Export, &content).expect_err("the content is invalid");
            assert!(errors[0].pointer == "/content" && errors[0].detail.contains(expected), "{errors:?}");
        }
    }

    #[test]
    fn an_instrument_needs_a_synth_engine() {
        let engine = json!({ "type": "soundfont", "bank": 0, "program": 4 });
        assert!(check_content(PresetKind::Instrument, &json!({ "synth_engine": engine })).is_ok());
        check_refused(PresetKind::Instrument, json!({ "effects": [] }), &["/content"]);
        check_refused(
            PresetKind::Instrument,
            json!({ "synth_engine": { "type": "soundfont", "bank": 0, "program": 128 } }),
            &["/content/synth_engine/program"],
        );
    }
}

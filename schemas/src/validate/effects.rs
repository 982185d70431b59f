//! What a JSON Schema cannot say of effects: the types of their parameters' values.

use dsp_core::effects::{EffectKind, Parameter, Scale, effect_kind};
use serde_json::Value;

use super::Violation;
use super::semantic::{list, text};

/// Violations in a list of effects.
///
/// Effects and parameters that this version does not know are none, nor are values outside a range: documents
/// of other versions have to load.
pub(super) fn violations(owner: &Value, pointer: &str, found: &mut Vec<Violation>) {
    for (place, effect) in list(owner, "effects").iter().enumerate() {
        if text(effect, "type") != Some("builtin") {
            continue;
        }
        let Some(kind) = text(effect, "name").and_then(effect_kind) else { continue };
        parameters(effect, kind, &format!("{pointer}/effects/{place}"), found);
    }
}

fn parameters(effect: &Value, kind: &EffectKind, pointer: &str, found: &mut Vec<Violation>) {
    let Some(params) = effect.get("params").and_then(Value::as_object) else { return };
    for (id, value) in params {
        let Some(place) = kind.parameter_place(id) else { continue };
        let parameter = &kind.parameters[place];
        if let Some(wanted) = wanted_instead(parameter, value) {
            let id = id.replace('~', "~0").replace('/', "~1");
            found.push(Violation {
                pointer: format!("{pointer}/params/{id}"),
                detail: format!("{value} is not {wanted}, as \"{}\" needs it", parameter.id),
            });
        }
    }
}

/// What a parameter takes, if that is not of the type of a value.
fn wanted_instead(parameter: &Parameter, value: &Value) -> Option<&'static str> {
    match (parameter.scale, value) {
        (_, Value::Number(_)) | (Scale::Switch, Value::Bool(_)) | (Scale::Choice(_), Value::String(_)) => {
            None
        }
        (Scale::Switch, _) => Some("true, false or a number"),
        (Scale::Choice(_), _) => Some("the name or the number of a choice"),
        (Scale::Linear | Scale::Logarithmic, _) => Some("a number"),
    }
}

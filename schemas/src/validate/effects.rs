//! Rules for effects that a JSON Schema cannot express: the types of their parameters' values.

use dsp_core::effects::{EffectKind, Parameter, Scale, effect_kind};

use super::{Violations, message, pointer_part};
use crate::json::{JsonKind, View};
use crate::session::expected_values;

/// Finds violations in the effects of `owner`, which is a track or the master.
///
/// Unknown effects, unknown parameters and values out of range are allowed, because documents of
/// other versions must load.
pub(super) fn find(owner: View<'_>, pointer: &str, violations: &mut Violations) {
    for (index, effect) in owner.list("effects").enumerate() {
        if !effect.get("type").is_some_and(|kind| kind.is_text("builtin")) {
            continue;
        }
        let Some(kind) = effect.text("name").and_then(|name| effect_kind(&name)) else { continue };
        parameters(effect, kind, &format!("{pointer}/effects/{index}"), violations);
    }
}

fn parameters(effect: View<'_>, kind: &EffectKind, pointer: &str, violations: &mut Violations) {
    let Some(params) = effect.get("params") else { return };
    for (field_name, value) in params.fields() {
        let Some(parameter_index) = kind.parameter_index(field_name.raw_name()) else { continue };
        let parameter = &kind.parameters[parameter_index];
        if !has_required_type(parameter, value) {
            let detail = format!(
                "{} is not a valid value of \"{}\", which must be {}",
                message::excerpt(value),
                parameter.id,
                expected_values(parameter)
            );
            violations.push(format!("{pointer}/params/{}", pointer_part(field_name)), detail);
        }
    }
}

/// Whether a value has the type that a parameter requires.
fn has_required_type(parameter: &Parameter, value: View<'_>) -> bool {
    matches!(
        (parameter.scale, value.kind()),
        (_, JsonKind::Number) | (Scale::Switch, JsonKind::Boolean) | (Scale::Choice(_), JsonKind::Text)
    )
}

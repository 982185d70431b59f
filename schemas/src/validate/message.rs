//! Messages of schema violations.

use serde_json::{Number, Value};

use crate::json::{JsonKind, View};
use crate::schema::Rule;

/// Maximum length of an excerpt of an offending value in a message, in characters.
const EXCERPT_CHARS: usize = 60;

pub(super) fn wrong_type(view: View<'_>, types: &[&str]) -> String {
    format!("{} is not of type {}", excerpt(view), types.join(" or "))
}

pub(super) fn not_allowed(view: View<'_>, choices: &[Value], is_const: bool) -> String {
    let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
    let one_of = if is_const { "" } else { "one of " };
    format!("{} is not {one_of}{}", excerpt(view), choices.join(", "))
}

pub(super) fn below_minimum(view: View<'_>, limit: &Number) -> String {
    format!("{} is less than the minimum {limit}", excerpt(view))
}

pub(super) fn above_maximum(view: View<'_>, limit: &Number) -> String {
    format!("{} is greater than the maximum {limit}", excerpt(view))
}

pub(super) fn too_short(view: View<'_>, limit: usize) -> String {
    format!("{} is shorter than the minimum of {limit} characters", excerpt(view))
}

pub(super) fn too_long(view: View<'_>, limit: usize) -> String {
    format!("{} is longer than the maximum of {limit} characters", excerpt(view))
}

pub(super) fn no_match(view: View<'_>, pattern: &str) -> String {
    format!("{} does not match the pattern {pattern}", excerpt(view))
}

pub(super) fn missing(name: &str) -> String {
    format!("the required field \"{name}\" is missing")
}

/// Returns the message for a value that matches none of the allowed forms.
pub(super) fn no_such_form<'r>(view: View<'_>, forms: impl Iterator<Item = &'r Rule>) -> String {
    let forms: Vec<String> = forms.map(description).collect();
    format!("{} is not {}", excerpt(view), forms.join(" or "))
}

/// Describes the values that a rule allows.
fn description(rule: &Rule) -> String {
    match (&rule.choices, &rule.minimum, &rule.maximum) {
        (Some((choices, _)), ..) => {
            let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
            format!("one of {}", choices.join(", "))
        }
        (None, Some(minimum), Some(maximum)) => format!("a number from {minimum} to {maximum}"),
        _ => format!("of type {}", rule.types.join(" or ")),
    }
}

/// Returns the message for a field `type` with none of the allowed `types`, which are JSON.
pub(super) fn no_such_type(kind: View<'_>, types: &[String]) -> String {
    format!("{} is not one of {}", excerpt(kind), types.join(", "))
}

/// Returns a number or a truth value, the start of a text, or the type of a list or an object.
pub fn excerpt(view: View<'_>) -> String {
    match view.kind() {
        JsonKind::List => "a list".into(),
        JsonKind::Object => "an object".into(),
        JsonKind::Text => {
            let text = view.as_text().unwrap_or_default();
            match text.char_indices().nth(EXCERPT_CHARS) {
                Some((end, _)) => format!("\"{}...\"", &text[..end]),
                None => view.as_json().to_owned(),
            }
        }
        _ => view.as_json().to_owned(),
    }
}

//! Schema errors in words.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::Violation;

/// Longest excerpt of an offending value in a message, in characters.
const EXCERPT_CHARS: usize = 60;

/// What is wrong with `instance`.
pub(super) fn for_kind(kind: &ValidationErrorKind, instance: &Value) -> String {
    let value = excerpt(instance);
    match kind {
        ValidationErrorKind::Type { kind } => format!("{value} is not {}", type_names(kind)),
        ValidationErrorKind::Enum { options } => format!("{value} is not one of {}", list(options)),
        ValidationErrorKind::Constant { expected_value } => {
            format!("{value} is not {}", excerpt(expected_value))
        }
        ValidationErrorKind::Minimum { limit } => format!("{value} is less than the minimum {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{value} is more than the maximum {limit}"),
        ValidationErrorKind::MinLength { limit } => {
            format!("{value} is shorter than the minimum of {limit} characters")
        }
        ValidationErrorKind::MaxLength { limit } => {
            format!("{value} is longer than the maximum of {limit} characters")
        }
        ValidationErrorKind::MinItems { limit } => format!("the list has fewer than {limit} entries"),
        ValidationErrorKind::MaxItems { limit } => {
            format!(
                "the list has {} entries, and the limit is {limit}",
                instance.as_array().map_or(0, Vec::len)
            )
        }
        ValidationErrorKind::Pattern { pattern } => format!("{value} does not match the pattern {pattern}"),
        other => format!("{value} does not follow the rule \"{}\"", other.keyword()),
    }
}

/// A value that is none of the forms that may stand in its place.
pub(super) fn no_such_choice(pointer: &str, instance: Option<&Value>) -> Violation {
    let Some(Value::Object(object)) = instance else {
        let value = instance.map_or_else(|| "the value".into(), excerpt);
        return Violation { pointer: pointer.into(), detail: format!("{value} is not allowed here") };
    };
    match object.get("type") {
        Some(kind) => Violation {
            pointer: format!("{pointer}/type"),
            detail: format!("{} is not a type that can stand here", excerpt(kind)),
        },
        None => {
            Violation { pointer: pointer.into(), detail: "the required field \"type\" is missing".into() }
        }
    }
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(name) => format!("of type {name}"),
        TypeKind::Multiple(names) => {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            format!("of type {}", names.join(" or "))
        }
    }
}

fn list(options: &Value) -> String {
    match options.as_array() {
        Some(options) => options.iter().map(excerpt).collect::<Vec<_>>().join(", "),
        None => excerpt(options),
    }
}

fn excerpt(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) if text.chars().count() > EXCERPT_CHARS => {
            let start: String = text.chars().take(EXCERPT_CHARS).collect();
            format!("\"{start}...\"")
        }
        other => other.to_string(),
    }
}

//! The kinds of settings and their accepted values.

use serde_json::{Value, json};

/// The kind of a setting, with its accepted values.
#[derive(Debug)]
pub(super) enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// True or false.
    Switch,
    /// A whole number from `min` to `max`, both included.
    Whole { min: i64, max: i64 },
    /// A number from `min` to `max`, both included.
    Number { min: f64, max: f64 },
    /// Text of at most `max_chars` characters without control characters, or null.
    OptionalText { max_chars: usize },
}

/// The default value of a setting, as written in the source code.
#[derive(Debug)]
pub(super) enum DefaultValue {
    Text(&'static str),
    Switch(bool),
    Whole(i64),
    Number(f64),
    Null,
}

impl DefaultValue {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Switch(is_on) => json!(is_on),
            Self::Whole(value) => json!(value),
            Self::Number(value) => json!(value),
            Self::Null => Value::Null,
        }
    }
}

impl Kind {
    /// Returns the name of the kind in the API.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Choice(_) => "choice",
            Self::Switch => "switch",
            Self::Whole { .. } => "whole",
            Self::Number { .. } => "number",
            Self::OptionalText { .. } => "text",
        }
    }

    /// Returns an error text with the expected values if `value` is invalid.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        let is_valid = match (self, value) {
            (Self::Choice(words), Value::String(text)) => words.contains(&text.as_str()),
            (Self::Switch, Value::Bool(_)) => true,
            (Self::Whole { min, max }, Value::Number(number)) => {
                number.as_i64().is_some_and(|number| (*min..=*max).contains(&number))
            }
            (Self::Number { min, max }, Value::Number(number)) => {
                number.as_f64().is_some_and(|number| (*min..=*max).contains(&number))
            }
            (Self::OptionalText { .. }, Value::Null) => true,
            (Self::OptionalText { max_chars }, Value::String(text)) => {
                text.chars().count() <= *max_chars && !text.chars().any(char::is_control)
            }
            _ => false,
        };
        if is_valid {
            Ok(())
        } else {
            Err(format!("expected {}; the value is {}", self.describe_expected(), json_excerpt(value)))
        }
    }

    fn describe_expected(&self) -> String {
        match self {
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Switch => "true or false".to_owned(),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::OptionalText { max_chars } => {
                format!("text of at most {max_chars} characters without control characters, or null")
            }
        }
    }
}

/// Returns a value as JSON for an error text; only the beginning if the JSON is long.
fn json_excerpt(value: &Value) -> String {
    const EXCERPT_CHARS_MAX: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= EXCERPT_CHARS_MAX {
        return format!("`{text}`");
    }
    let start: String = text.chars().take(EXCERPT_CHARS_MAX).collect();
    format!("`{start}...`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &Kind, valid: &[Value], invalid: &[Value]) {
        for value in valid {
            assert_eq!(kind.check(value), Ok(()), "{value}");
        }
        for value in invalid {
            let text = kind.check(value).expect_err(&value.to_string());
            assert!(text.contains(&kind.describe_expected()), "{text}");
        }
    }

    #[test]
    fn each_kind_accepts_only_its_own_values() {
        check(&Kind::Choice(&["a", "b"]), &[json!("a"), json!("b")], &[json!("c"), json!(1), json!(null)]);
        check(&Kind::Switch, &[json!(true), json!(false)], &[json!(0), json!("on"), json!(null)]);
        check(
            &Kind::Whole { min: 1, max: 3 },
            &[json!(1), json!(3)],
            &[json!(0), json!(4), json!(1.5), json!("2"), json!(u64::MAX)],
        );
        check(
            &Kind::Number { min: -1.0, max: 1.0 },
            &[json!(-1), json!(0.5)],
            &[json!(1.01), json!("0"), json!([])],
        );
        check(
            &Kind::OptionalText { max_chars: 3 },
            &[json!("äöü"), json!(""), json!(null)],
            &[json!("four"), json!("a\nb"), json!(7)],
        );
    }

    #[test]
    fn an_error_text_shows_only_the_beginning_of_a_long_value() {
        let text = Kind::Switch.check(&json!("x".repeat(5_000))).expect_err("a text is no valid switch");
        assert!(text.len() < 200, "{text}");
    }
}

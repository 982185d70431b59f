//! Accepted values of a setting.

use serde_json::{Value, json};

/// Accepted values of a setting.
#[derive(Debug)]
pub(super) enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// True or false.
    Switch,
    /// A whole number between the two, both included.
    Whole { min: i64, max: i64 },
    /// A number between the two, both included.
    Number { min: f64, max: f64 },
    /// Text of at most `max_chars` characters, without control characters; null for none.
    OptionalText { max_chars: usize },
}

/// A value in the source code.
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
            Self::Switch(on) => json!(on),
            Self::Whole(value) => json!(value),
            Self::Number(value) => json!(value),
            Self::Null => Value::Null,
        }
    }
}

impl Kind {
    /// The name of the kind in the API.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Choice(_) => "choice",
            Self::Switch => "switch",
            Self::Whole { .. } => "whole",
            Self::Number { .. } => "number",
            Self::OptionalText { .. } => "text",
        }
    }

    /// Returns the expected values if the value is invalid.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match (self, value) {
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
        if fits { Ok(()) } else { Err(format!("expected {}, and it is {}", self.expected(), shown(value))) }
    }

    fn expected(&self) -> String {
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

/// A value for a sentence: its beginning, if it is long.
fn shown(value: &Value) -> String {
    const SHOWN_CHARS: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= SHOWN_CHARS {
        return format!("`{text}`");
    }
    let start: String = text.chars().take(SHOWN_CHARS).collect();
    format!("`{start}...`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &Kind, good: &[Value], bad: &[Value]) {
        for value in good {
            assert_eq!(kind.check(value), Ok(()), "{value}");
        }
        for value in bad {
            let text = kind.check(value).expect_err(&value.to_string());
            assert!(text.contains(&kind.expected()), "{text}");
        }
    }

    #[test]
    fn each_kind_accepts_its_own_values_only() {
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
    fn a_long_value_is_cut_short_in_words() {
        let text = Kind::Switch.check(&json!("x".repeat(5_000))).expect_err("no switch");
        assert!(text.len() < 200, "{text}");
    }
}

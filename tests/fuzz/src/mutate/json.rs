//! Mutations of JSON as a tree of values, with words of the project schema.

use std::sync::LazyLock;

use dsp_core::effects::EFFECTS;
use serde_json::{Map, Number, Value};

use crate::choices::Choices;
use crate::mutate::any;

/// Field names and texts with a meaning in a project.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(schemas::PROJECT_SCHEMA).expect("the schema is JSON");
    let mut words = Vec::new();
    collect(&schema, &mut words);
    for effect in EFFECTS {
        words.push(effect.id.to_owned());
        words.extend(effect.parameters.iter().map(|parameter| parameter.id.to_owned()));
    }
    words.sort_unstable();
    words.dedup();
    words
});

fn collect(schema: &Value, words: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
                words.extend(properties.keys().cloned());
            }
            for name in ["enum", "const"] {
                let texts = fields.get(name).into_iter().flat_map(|value| match value {
                    Value::Array(list) => list.iter().collect(),
                    constant => vec![constant],
                });
                words.extend(texts.filter_map(Value::as_str).map(str::to_owned));
            }
            fields.values().for_each(|value| collect(value, words));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, words)),
        _ => {}
    }
}

/// Numbers at the limits of ranges, and just outside of them.
const NUMBERS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-300,
    1e300,
    2.0,
    7.0,
    16.0,
    127.0,
    128.0,
    8_192.0,
    -8_192.0,
    16_383.0,
    44_100.0,
    48_000.0,
    192_000.0,
    1e5,
    1e9,
    1_000_000_001.0,
    4_294_967_296.0,
    9_007_199_254_740_993.0,
    1.8446744073709552e19,
];

/// Maximum size of a value that is duplicated, in bytes.
const COPY_MAX_BYTES: usize = 4_096;

/// Mutates one to four values of a document.
pub(crate) fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let mut root: Value = serde_json::from_slice(bytes).ok()?;
    for _ in 0..=choices.below(4) {
        let count = count(&root);
        let other_value = nth(&mut root, &mut choices.below(count)).cloned().unwrap_or_default();
        let mut index = choices.below(count);
        if let Some(value) = nth(&mut root, &mut index) {
            change(value, other_value, choices);
        }
    }
    serde_json::to_vec(&root).ok()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(fields) => fields.values().map(count).sum(),
        Value::Array(list) => list.iter().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value with an index in the tree, where the root has index 0.
fn nth<'v>(value: &'v mut Value, index: &mut usize) -> Option<&'v mut Value> {
    if *index == 0 {
        return Some(value);
    }
    *index -= 1;
    match value {
        Value::Object(fields) => fields.values_mut().find_map(|value| nth(value, index)),
        Value::Array(list) => list.iter_mut().find_map(|value| nth(value, index)),
        _ => None,
    }
}

fn change(value: &mut Value, other_value: Value, choices: &mut Choices) {
    if choices.below(8) == 0 {
        *value = if choices.below(2) == 0 { other_value } else { simple(choices) };
        return;
    }
    match value {
        Value::Object(fields) => change_fields(fields, other_value, choices),
        Value::Array(list) => {
            let index = choices.below(list.len() + 1);
            match (choices.below(4), list.get(index).cloned()) {
                (0, Some(_)) => drop(list.remove(index)),
                (1, Some(_)) => {
                    let other_index = choices.below(list.len());
                    list.swap(index, other_index);
                }
                (2, Some(entry)) if entry.to_string().len() <= COPY_MAX_BYTES => list.insert(index, entry),
                _ if other_value.to_string().len() <= COPY_MAX_BYTES => list.insert(index, other_value),
                _ => {}
            }
        }
        Value::String(text) => match choices.below(3) {
            0 => {
                let mut bytes = text.clone().into_bytes();
                any(&mut bytes);
                *text = String::from_utf8_lossy(&bytes).into_owned();
            }
            1 => *text = choices.among(&WORDS).clone(),
            _ => {
                if let Value::String(other_value) = other_value {
                    *text = other_value;
                }
            }
        },
        Value::Number(number) => {
            let old_value = number.as_f64().unwrap_or(0.0);
            let new_value = match choices.below(6) {
                0 => old_value + 1.0,
                1 => old_value - 1.0,
                2 => -old_value,
                3 => old_value * [0.5, 2.0, 10.0, 1_000.0][choices.below(4)],
                _ => *choices.among(&NUMBERS),
            };
            *value = self::number(new_value);
        }
        Value::Bool(is_set) => *is_set = !*is_set,
        Value::Null => *value = other_value,
    }
}

fn change_fields(fields: &mut Map<String, Value>, other_value: Value, choices: &mut Choices) {
    let keys: Vec<String> = fields.keys().cloned().collect();
    let word = choices.among(&WORDS).clone();
    match choices.below(4) {
        0 if !keys.is_empty() => drop(fields.remove(choices.among(&keys))),
        1 if !keys.is_empty() => {
            if let Some(value) = fields.remove(choices.among(&keys)) {
                fields.insert(word, value);
            }
        }
        2 if other_value.to_string().len() <= COPY_MAX_BYTES => drop(fields.insert(word, other_value)),
        _ => drop(fields.insert(word, simple(choices))),
    }
}

fn simple(choices: &mut Choices) -> Value {
    match choices.below(8) {
        0 => Value::Null,
        1 => Value::Bool(choices.below(2) == 0),
        2 => Value::Array(Vec::new()),
        3 => Value::Object(Map::new()),
        4 | 5 => Value::String(choices.among(&WORDS).clone()),
        _ => number(*choices.among(&NUMBERS)),
    }
}

/// Returns a JSON number, which is an integer if possible, as in documents.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        Value::Number((value as i64).into())
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

//! The project's JSON Schema as rules for checking text.
//!
//! Only the keywords of `json/project.schema.json` are supported. Any other keyword panics when the
//! schema is read, which every test of a project does.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::json::{JsonKind, View};

/// Keywords that do not restrict values.
const ANNOTATIONS: [&str; 6] = ["$schema", "$id", "$defs", "title", "description", "default"];

/// Index of a rule in [`Schema`].
pub(crate) type RuleIndex = usize;

/// The rules of a schema. The first one is the rule of the whole document.
#[derive(Debug)]
pub(crate) struct Schema {
    rules: Vec<Rule>,
}

/// Constraints on a value. An absent constraint allows every value.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    pub(crate) types: Vec<&'static str>,
    /// Allowed values, and whether they are from the keyword `const` instead of `enum`.
    pub(crate) choices: Option<(Vec<Value>, bool)>,
    pub(crate) minimum: Option<serde_json::Number>,
    pub(crate) maximum: Option<serde_json::Number>,
    pub(crate) min_length: Option<usize>,
    pub(crate) max_length: Option<usize>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) min_items: Option<usize>,
    pub(crate) max_items: Option<usize>,
    pub(crate) required: Vec<String>,
    pub(crate) properties: Vec<(String, RuleIndex)>,
    pub(crate) additional: Option<RuleIndex>,
    pub(crate) items: Option<RuleIndex>,
    /// Forms of an object, distinguished by the field `type`.
    pub(crate) one_of: Vec<RuleIndex>,
    /// Forms of a single value.
    pub(crate) any_of: Vec<RuleIndex>,
    pub(crate) reference: Option<RuleIndex>,
}

/// A regular expression of the schema, with a function that matches the same texts.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) text: &'static str,
    pub(crate) matches: fn(&str) -> bool,
}

/// The patterns of the schema.
const KNOWN_PATTERNS: [Pattern; 2] = [
    Pattern {
        text: "^[A-Za-z0-9._-]{1,128}$",
        matches: |text| {
            (1..=128).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        },
    },
    Pattern {
        text: "^#[0-9a-fA-F]{6}$",
        matches: |text| {
            text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
        },
    },
];

impl Schema {
    /// Returns the schema of a project, which is read once.
    pub(crate) fn project() -> &'static Self {
        static SCHEMA: OnceLock<Schema> = OnceLock::new();
        SCHEMA.get_or_init(|| {
            let source: Value = serde_json::from_str(crate::PROJECT_SCHEMA).expect("the schema is JSON");
            Self::from_value(&source)
        })
    }

    fn from_value(source: &Value) -> Self {
        let definitions = source["$defs"].as_object().cloned().unwrap_or_default();
        let names: Vec<&String> = definitions.keys().collect();
        let mut reader = Reader { rules: Vec::new(), names: &names };
        reader.rules.resize_with(1 + names.len(), Rule::default);
        reader.rules[0] = reader.fields_of(source);
        for (type_index, definition) in definitions.values().enumerate() {
            reader.rules[1 + type_index] = reader.fields_of(definition);
        }
        Self { rules: reader.rules }
    }

    /// Returns the rule of the whole document.
    pub(crate) fn root(&self) -> &Rule {
        &self.rules[0]
    }

    /// Returns a rule, or the rule that it refers to.
    pub(crate) fn rule(&self, index: RuleIndex) -> &Rule {
        let rule = &self.rules[index];
        match rule.reference {
            Some(target) => self.rule(target),
            None => rule,
        }
    }

    /// Returns the form of an object that its field `type` selects; `None` for an unknown type.
    pub(crate) fn form(&self, rule: &Rule, kind: View<'_>) -> Option<&Rule> {
        rule.one_of.iter().map(|&form| self.rule(form)).find(|form| {
            let type_field = form.properties.iter().find(|(name, _)| name == "type");
            let choices = type_field.and_then(|(_, index)| self.rule(*index).choices.as_ref());
            choices.is_some_and(|(choices, _)| choices.iter().any(|choice| equals(kind, choice)))
        })
    }

    /// Returns the values of the field `type` that select a form of an object, as JSON.
    pub(crate) fn form_types(&self, rule: &Rule) -> Vec<String> {
        let fields = rule.one_of.iter().filter_map(|&form| self.rule(form).property("type"));
        let choices = fields.filter_map(|(_, index)| self.rule(index).choices.as_ref());
        choices.flat_map(|(choices, _)| choices.iter().map(Value::to_string)).collect()
    }
}

impl Rule {
    /// Returns the index of a field among the known fields, and the rule of the field. `None` for
    /// an unknown field.
    pub(crate) fn property(&self, raw_name: &str) -> Option<(usize, RuleIndex)> {
        let property_index = self.properties.iter().position(|(name, _)| name == raw_name)?;
        Some((property_index, self.properties[property_index].1))
    }
}

/// Whether a value of a document equals a value of the schema. Numbers are compared by value.
pub(crate) fn equals(view: View<'_>, value: &Value) -> bool {
    match value {
        Value::String(text) => view.is_text(text),
        Value::Number(number) => view.as_number() == number.as_f64(),
        other => {
            let text = other.to_string();
            view.as_json() == text
        }
    }
}

/// Whether a value has a type of JSON Schema.
pub(crate) fn has_type(view: View<'_>, name: &str) -> bool {
    match view.kind() {
        JsonKind::Null => name == "null",
        JsonKind::Boolean => name == "boolean",
        JsonKind::Text => name == "string",
        JsonKind::List => name == "array",
        JsonKind::Object => name == "object",
        JsonKind::Number => {
            name == "number"
                || name == "integer" && view.as_number().is_some_and(|number| number.fract() == 0.0)
        }
    }
}

struct Reader<'n> {
    rules: Vec<Rule>,
    names: &'n [&'n String],
}

impl Reader<'_> {
    fn rule(&mut self, source: &Value) -> RuleIndex {
        let rule = self.fields_of(source);
        self.rules.push(rule);
        self.rules.len() - 1
    }

    fn fields_of(&mut self, source: &Value) -> Rule {
        let mut rule = Rule::default();
        for (keyword, value) in source.as_object().unwrap_or(&Map::new()) {
            let count = || Some(value.as_u64().expect("a count") as usize);
            let number = || Some(value.as_number().expect("a number").clone());
            let values = || value.as_array().expect("a list").clone();
            match keyword.as_str() {
                "type" => {
                    let single_value = core::slice::from_ref(value);
                    rule.types =
                        value.as_array().map_or(single_value, Vec::as_slice).iter().map(type_name).collect();
                    // Messages list the names in this order.
                    rule.types.sort_unstable();
                }
                "const" => rule.choices = Some((vec![value.clone()], true)),
                "enum" => rule.choices = Some((values(), false)),
                "minimum" => rule.minimum = number(),
                "maximum" => rule.maximum = number(),
                "minLength" => rule.min_length = count(),
                "maxLength" => rule.max_length = count(),
                "minItems" => rule.min_items = count(),
                "maxItems" => rule.max_items = count(),
                "pattern" => {
                    let text = value.as_str().expect("a pattern");
                    rule.pattern = KNOWN_PATTERNS.into_iter().find(|pattern| pattern.text == text);
                    assert!(rule.pattern.is_some(), "unsupported pattern {text}");
                }
                "required" => {
                    rule.required = values().iter().filter_map(Value::as_str).map(str::to_owned).collect();
                }
                "properties" => {
                    let fields = value.as_object().expect("properties");
                    rule.properties =
                        fields.iter().map(|(name, field)| (name.clone(), self.rule(field))).collect();
                }
                "additionalProperties" => rule.additional = Some(self.rule(value)),
                "items" => rule.items = Some(self.rule(value)),
                "oneOf" => rule.one_of = values().iter().map(|form| self.rule(form)).collect(),
                "anyOf" => rule.any_of = values().iter().map(|form| self.rule(form)).collect(),
                "$ref" => {
                    let name = value.as_str().and_then(|path| path.strip_prefix("#/$defs/"));
                    let name_index =
                        self.names.iter().position(|known_name| Some(known_name.as_str()) == name);
                    rule.reference = Some(1 + name_index.expect("a definition"));
                }
                other => assert!(ANNOTATIONS.contains(&other), "unsupported keyword {other}"),
            }
        }
        rule
    }
}

fn type_name(value: &Value) -> &'static str {
    const NAMES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    NAMES.into_iter().find(|name| value == name).expect("a type")
}

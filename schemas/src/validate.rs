//! Validates a project document against the JSON Schema and against rules that a schema cannot
//! express.
//!
//! Both checks read the text in place, stop after [`MAX_VIOLATIONS`], and allocate only for ids and
//! references.

mod effects;
mod message;
mod outline;
mod semantic;

pub use message::excerpt;

use serde::Serialize;

use crate::json::{FieldName, JsonKind, JsonText, View};
use crate::schema::{Rule, Schema, equals, has_type};

/// Maximum number of reported violations.
pub const MAX_VIOLATIONS: usize = 50;

/// Maximum length of a field name in a pointer, in bytes.
const NAME_MAX_BYTES: usize = 128;

/// A violation of the project format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer (RFC 6901) to the offending value; empty for the document itself.
    pub pointer: String,
    /// Description of the violation.
    pub detail: String,
}

/// Validates a project document of the current version.
///
/// The tempo map, ids and references are checked only in a document that follows the schema.
///
/// # Errors
/// At most [`MAX_VIOLATIONS`] violations, in the order of the document.
pub fn validate(document: &JsonText) -> Result<(), Vec<Violation>> {
    let mut check =
        Check { schema: Schema::project(), pointer: String::new(), violations: Violations::default() };
    check.value(document.view(), check.schema.root());
    let mut violations = check.violations;
    if violations.is_empty() {
        semantic::find(document.view(), &mut violations);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations.0) }
}

/// The first violations of a document.
#[derive(Debug, Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn push(&mut self, pointer: impl Into<String>, detail: impl Into<String>) {
        if !self.is_full() {
            self.0.push(Violation { pointer: pointer.into(), detail: detail.into() });
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= MAX_VIOLATIONS
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The state of a check against the schema.
struct Check {
    schema: &'static Schema,
    /// Pointer to the value that is checked.
    pointer: String,
    violations: Violations,
}

impl Check {
    fn value(&mut self, view: View<'_>, rule: &Rule) {
        if self.violations.is_full() {
            return;
        }
        if !rule.one_of.is_empty() {
            return self.one_of(view, rule);
        }
        if !rule.any_of.is_empty() {
            let schema = self.schema;
            let forms = || rule.any_of.iter().map(|&form| schema.rule(form));
            if !forms().any(|form| Self::allows(view, form)) {
                self.report(message::no_such_form(view, forms()));
            }
            return;
        }
        if let Some(detail) = Self::violation(view, rule) {
            return self.report(detail);
        }
        match view.kind() {
            JsonKind::Object => self.object(view, rule),
            JsonKind::List => self.list(view, rule),
            _ => {}
        }
    }

    fn report(&mut self, detail: String) {
        self.violations.push(self.pointer.as_str(), detail);
    }

    fn allows(view: View<'_>, rule: &Rule) -> bool {
        Self::violation(view, rule).is_none()
    }

    /// Returns the first violation of the value itself. Its fields and entries are not checked.
    fn violation(view: View<'_>, rule: &Rule) -> Option<String> {
        if !rule.types.is_empty() && !rule.types.iter().any(|name| has_type(view, name)) {
            return Some(message::wrong_type(view, &rule.types));
        }
        if let Some((choices, is_const)) = &rule.choices
            && !choices.iter().any(|choice| equals(view, choice))
        {
            return Some(message::not_allowed(view, choices, *is_const));
        }
        if let Some(number) = view.as_number() {
            let violates_limit = |limit: &Option<serde_json::Number>, violates: fn(&f64, &f64) -> bool| {
                limit.clone().filter(|limit| limit.as_f64().is_some_and(|limit| violates(&number, &limit)))
            };
            if let Some(limit) = violates_limit(&rule.minimum, f64::lt) {
                return Some(message::below_minimum(view, &limit));
            }
            if let Some(limit) = violates_limit(&rule.maximum, f64::gt) {
                return Some(message::above_maximum(view, &limit));
            }
        }
        if rule.min_length.is_some() || rule.max_length.is_some() || rule.pattern.is_some() {
            let text = view.as_text()?;
            let chars = text.chars().count();
            if let Some(limit) = rule.min_length.filter(|limit| chars < *limit) {
                return Some(message::too_short(view, limit));
            }
            if let Some(limit) = rule.max_length.filter(|limit| chars > *limit) {
                return Some(message::too_long(view, limit));
            }
            if let Some(pattern) = rule.pattern.as_ref().filter(|pattern| !(pattern.matches)(&text)) {
                return Some(message::no_match(view, pattern.text));
            }
        }
        None
    }

    fn one_of(&mut self, view: View<'_>, rule: &Rule) {
        let schema = self.schema;
        match view.get("type") {
            _ if view.kind() != JsonKind::Object => self.report(message::wrong_type(view, &["object"])),
            None => self.report(message::missing("type")),
            Some(kind) => match schema.form(rule, kind) {
                Some(form) => self.value(view, form),
                None => {
                    let types = schema.form_types(rule);
                    self.within("type", |check| check.report(message::no_such_type(kind, &types)));
                }
            },
        }
    }

    fn list(&mut self, view: View<'_>, rule: &Rule) {
        if rule.min_items.is_some() || rule.max_items.is_some() {
            let count = view.entries().count();
            if let Some(limit) = rule.min_items.filter(|limit| count < *limit) {
                self.report(format!("the list has {count} entries, and the minimum is {limit}"));
            }
            if let Some(limit) = rule.max_items.filter(|limit| count > *limit) {
                return self.report(format!("the list has {count} entries, and the limit is {limit}"));
            }
        }
        let Some(items) = rule.items else { return };
        let items = self.schema.rule(items);
        for (index, entry) in view.entries().enumerate() {
            if self.violations.is_full() {
                return;
            }
            self.within(&index.to_string(), |check| check.value(entry, items));
        }
    }

    fn object(&mut self, view: View<'_>, rule: &Rule) {
        debug_assert!(rule.properties.len() <= 64, "each field of a rule needs a bit of a u64");
        let (mut present_fields, mut repeated_fields) = (0_u64, 0_u64);
        for (field_name, _) in view.fields() {
            if let Some((field_index, _)) = rule.property(field_name.raw_name()) {
                repeated_fields |= present_fields & 1 << field_index;
                present_fields |= 1 << field_index;
            }
        }
        for name in &rule.required {
            if rule.property(name).is_none_or(|(field_index, _)| present_fields & 1 << field_index == 0) {
                self.report(message::missing(name));
            }
        }
        for (field_index, (name, _)) in rule.properties.iter().enumerate() {
            if repeated_fields & 1 << field_index != 0 {
                let detail = format!("the field \"{name}\" occurs more than once");
                self.within(name, |check| check.report(detail));
            }
        }
        for (field_name, field) in view.fields() {
            if self.violations.is_full() {
                return;
            }
            let property_index = rule.property(field_name.raw_name()).map(|(_, index)| index);
            let Some(index) = property_index.or(rule.additional) else { continue };
            let field_rule = self.schema.rule(index);
            self.within(&pointer_part(field_name), |check| check.value(field, field_rule));
        }
    }

    fn within(&mut self, part: &str, check: impl FnOnce(&mut Self)) {
        let pointer_bytes = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(part);
        check(self);
        self.pointer.truncate(pointer_bytes);
    }
}

/// Returns a field's name, escaped for a pointer. Names longer than [`NAME_MAX_BYTES`] are
/// truncated.
fn pointer_part(field_name: FieldName<'_>) -> String {
    if field_name.raw_name().len() <= NAME_MAX_BYTES {
        return field_name.name().replace('~', "~0").replace('/', "~1");
    }
    let start = field_name.raw_name().floor_char_boundary(NAME_MAX_BYTES);
    format!("{}...", field_name.raw_name()[..start].replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;

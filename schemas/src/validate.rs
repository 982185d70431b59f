//! The check of a project document: the JSON Schema, and what a schema cannot say.

mod effects;
mod message;
mod semantic;

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::Value;

/// Most violations that one check reports.
pub const MAX_VIOLATIONS: usize = 50;

/// Something in a document that the contract does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer (RFC 6901) to the offending value; empty for the document itself.
    pub pointer: String,
    /// What is wrong, in words.
    pub detail: String,
}

/// Checks a project document of the current version.
///
/// The schema is checked first; tempo map, ids and references only in a document that
/// follows it.
///
/// # Errors
/// What is wrong, at most [`MAX_VIOLATIONS`] entries, in the order of the document.
pub fn validate(document: &Value) -> Result<(), Vec<Violation>> {
    let schema = validator();
    let violations = if schema.is_valid(document) {
        semantic::violations(document)
    } else {
        let mut found = Vec::new();
        for error in schema.iter_errors(document) {
            describe(&error, document, &mut found);
            if found.len() >= MAX_VIOLATIONS {
                break;
            }
        }
        found
    };
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

fn validator() -> &'static Validator {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| {
        let schema = serde_json::from_str(crate::PROJECT_SCHEMA).expect("the schema is JSON");
        jsonschema::validator_for(&schema).expect("the schema is a JSON Schema")
    })
}

/// Reports one error; for a choice of types, the errors of the type that the value names.
fn describe(error: &ValidationError<'_>, document: &Value, found: &mut Vec<Violation>) {
    let pointer = error.instance_path().as_str().to_owned();
    match error.kind() {
        ValidationErrorKind::OneOfNotValid { context } | ValidationErrorKind::AnyOf { context } => {
            let tag = format!("{pointer}/type");
            let names_another_type = |branch: &&Vec<ValidationError<'static>>| {
                branch.iter().any(|error| {
                    let path = error.instance_path().as_str();
                    path == tag
                        || (path == pointer && matches!(error.kind(), ValidationErrorKind::Type { .. }))
                })
            };
            let branch = context.iter().find(|branch| !names_another_type(branch));
            let tagged = document.pointer(&tag).is_some();
            match branch.filter(|branch| tagged && !branch.is_empty()) {
                Some(branch) => {
                    for error in branch {
                        describe(error, document, found);
                    }
                }
                None => found.push(message::no_such_choice(&pointer, document.pointer(&pointer))),
            }
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            found.push(Violation { pointer, detail: format!("the required field \"{name}\" is missing") });
        }
        kind => found.push(Violation { detail: message::for_kind(kind, error.instance()), pointer }),
    }
}

#[cfg(test)]
mod tests;

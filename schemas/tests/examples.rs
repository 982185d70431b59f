//! Validates every example document and reads it into the Rust types.

use std::fs;
use std::path::{Path, PathBuf};

use schemas::Project;
use schemas::json::JsonText;
use schemas::upgrade::upgrade;
use schemas::validate::validate;
use serde_json::Value;

fn examples(folder: &str) -> Vec<(PathBuf, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no examples in {}", folder.display());
    let read_json = |path: &Path| {
        let text = fs::read_to_string(path).expect("a readable example");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.into_iter().map(|path| (path.clone(), read_json(&path))).collect()
}

#[test]
fn valid_examples_are_accepted() {
    for (path, document) in examples("valid") {
        assert_eq!(validate(&JsonText::of_value(&document)), Ok(()), "{}", path.display());
    }
}

#[test]
fn invalid_examples_are_refused_at_the_offending_value() {
    for (path, example) in examples("invalid") {
        let pointer = example["pointer"].as_str().expect("the expected pointer");
        let violations =
            validate(&JsonText::of_value(&example["document"])).expect_err(&path.display().to_string());
        let pointers: Vec<&str> = violations.iter().map(|violation| violation.pointer.as_str()).collect();
        assert!(pointers.contains(&pointer), "{}: {violations:?}", path.display());
    }
}

#[test]
fn upgrading_an_example_changes_nothing() {
    for (path, document) in examples("valid") {
        let document = JsonText::of_value(&document);
        assert_eq!(upgrade(&document, "new").expect("an upgrade"), document, "{}", path.display());
    }
}

/// Whether `container` contains every value of `part`. Numbers are compared by value. Null and empty
/// collections count as missing.
fn contains(container: &Value, part: &Value) -> bool {
    match (container, part) {
        (Value::Null, Value::Array(part)) => part.is_empty(),
        (Value::Null, Value::Object(part)) => part.is_empty(),
        (Value::Object(container), Value::Object(part)) => {
            part.iter().all(|(name, value)| contains(container.get(name).unwrap_or(&Value::Null), value))
        }
        (Value::Array(container), Value::Array(part)) => {
            container.len() == part.len()
                && container.iter().zip(part).all(|(container, part)| contains(container, part))
        }
        (Value::Number(container), Value::Number(part)) => container.as_f64() == part.as_f64(),
        _ => container == part,
    }
}

#[test]
fn a_round_trip_through_the_types_keeps_every_field() {
    for (path, document) in examples("valid") {
        let project: Project = serde_json::from_value(document.clone())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let written = serde_json::to_value(&project).expect("JSON");
        assert!(contains(&written, &document), "{}: {written:#}", path.display());
        assert_eq!(validate(&JsonText::of_value(&written)), Ok(()), "{}", path.display());
        let read_again: Project = serde_json::from_value(written).expect("a project");
        assert_eq!(read_again, project, "{}", path.display());
    }
}

//! Fills in the variables of templates, written as `{{name}}`.
//!
//! A name has 1 to 64 ASCII letters, digits or `_`, and does not begin with a digit. Spaces and
//! tabs around the name are allowed. Anything else between braces is text. Values are text too:
//! braces in them have no meaning.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of a variable's name, in characters.
const NAME_MAX_CHARS: usize = 64;

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
enum Part<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Splits a template into its parts, from start to end.
fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut text_start = 0;
    let mut search_start = 0;
    while let Some(open_offset) = template[search_start..].find("{{").map(|offset| search_start + offset) {
        let name_start = open_offset + 2;
        let Some(close) = template[name_start..].find("}}").map(|offset| name_start + offset) else { break };
        let name = template[name_start..close].trim_matches([' ', '\t']);
        if is_name(name) {
            parts.push(Part::Text(&template[text_start..open_offset]));
            parts.push(Part::Variable(name));
            text_start = close + 2;
            search_start = text_start;
        } else {
            // A name may begin at the next brace.
            search_start = open_offset + 1;
        }
    }
    parts.push(Part::Text(&template[text_start..]));
    parts
}

fn is_name(text: &str) -> bool {
    let has_first_letter =
        text.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_');
    has_first_letter
        && text.len() <= NAME_MAX_CHARS
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the names of a template's variables, each once, in the order of their first use.
pub(super) fn variables(template: &str) -> Vec<String> {
    let mut seen_names = BTreeSet::new();
    let names = parts(template).into_iter().filter_map(|part| match part {
        Part::Variable(name) => Some(name),
        Part::Text(_) => None,
    });
    names.filter(|name| seen_names.insert(*name)).map(str::to_owned).collect()
}

/// Returns the length of a template in bytes with every variable filled in.
pub(super) fn rendered_bytes(template: &str, values: &BTreeMap<String, String>) -> usize {
    filled_parts(template, values).map(str::len).fold(0, usize::saturating_add)
}

/// Returns a template with every variable filled in.
///
/// # Errors
/// Names of the variables that have no value.
pub(super) fn render(template: &str, values: &BTreeMap<String, String>) -> Result<String, Vec<String>> {
    let missing: Vec<String> =
        variables(template).into_iter().filter(|name| !values.contains_key(name)).collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    Ok(filled_parts(template, values).collect())
}

/// Returns the texts of a template's parts. A variable without a value becomes an empty text.
fn filled_parts<'t>(
    template: &'t str,
    values: &'t BTreeMap<String, String>,
) -> impl Iterator<Item = &'t str> {
    parts(template).into_iter().map(|part| match part {
        Part::Text(text) => text,
        Part::Variable(name) => values.get(name).map(String::as_str).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, names: &[&str], filled_text: &str) {
        assert_eq!(variables(template), names, "{template}");
        let values = names.iter().map(|name| ((*name).to_owned(), format!("<{name}>"))).collect();
        assert_eq!(render(template, &values).as_deref(), Ok(filled_text), "{template}");
        assert_eq!(rendered_bytes(template, &values), filled_text.len(), "{template}");
    }

    #[test]
    fn names_between_braces_are_filled_in() {
        check("", &[], "");
        check("plain", &[], "plain");
        check("{{key}}", &["key"], "<key>");
        check("In {{ key }}, {{\tbpm}} bpm, {{key}}.", &["key", "bpm"], "In <key>, <bpm> bpm, <key>.");
        check("{{_a1}}{{B}}", &["_a1", "B"], "<_a1><B>");
        check("é{{ä}}{{b}}é", &["b"], "é{{ä}}<b>é");
    }

    #[test]
    fn invalid_names_are_text() {
        for text in
            ["{{", "}}", "{{}}", "{{ }}", "{{1a}}", "{{a b}}", "{{a-b}}", "{a}", "{{a}", "{{a\n}}", "{ {a}}"]
        {
            check(text, &[], text);
        }
        check("{{{a}}}", &["a"], "{<a>}");
        check("{{ {{a}} }}", &["a"], "{{ <a> }}");
        let long_name = format!("{{{{{}}}}}", "x".repeat(65));
        check(&long_name, &[], &long_name);
    }

    #[test]
    fn variables_in_values_are_text() {
        let values =
            BTreeMap::from([("a".to_owned(), "{{b}}".to_owned()), ("b".to_owned(), "no".to_owned())]);
        assert_eq!(render("{{a}}", &values).as_deref(), Ok("{{b}}"));
    }

    #[test]
    fn every_missing_value_is_named() {
        let values = BTreeMap::from([("b".to_owned(), String::new())]);
        assert_eq!(render("{{c}}{{a}}{{b}}{{c}}", &values), Err(vec!["c".to_owned(), "a".to_owned()]));
    }
}

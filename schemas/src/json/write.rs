//! Writes objects assembled from parts of checked JSON.

use core::fmt::Write as _;

use super::view::{FieldName, View};

/// Writes the fields of an object.
#[derive(Debug)]
pub struct ObjectWriter<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl<'o> ObjectWriter<'o> {
    /// Begins an object at the end of `out`.
    pub fn new(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, is_empty: true }
    }

    /// Writes a field with its name and value unchanged.
    pub fn copy(&mut self, field_name: FieldName<'_>, value: View<'_>) {
        self.begin(field_name).push_str(value.as_json());
    }

    /// Begins a field; the caller writes its value next.
    pub fn begin(&mut self, field_name: FieldName<'_>) -> &mut String {
        self.separate();
        self.out.push_str(field_name.quoted());
        self.out.push(':');
        self.out
    }

    /// Writes a field whose value is JSON without whitespace; `name` has no characters that JSON
    /// escapes.
    pub fn json(&mut self, name: &str, json: &str) {
        self.named(name).push_str(json);
    }

    /// Writes a field whose value is a string; `name` has no characters that JSON escapes.
    pub fn text(&mut self, name: &str, text: &str) {
        push_text(self.named(name), text);
    }

    /// Begins a field by name; the caller writes its value next.
    pub fn named(&mut self, name: &str) -> &mut String {
        self.separate();
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
        self.out
    }

    /// Ends the object.
    pub fn end(self) {
        self.out.push('}');
    }

    fn separate(&mut self) {
        if !core::mem::replace(&mut self.is_empty, false) {
            self.out.push(',');
        }
    }
}

/// Appends a string in quotes, escaped as in `serde_json`.
pub fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut remaining = text;
    while let Some(index) = remaining.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&remaining[..index]);
        match remaining.as_bytes()[index] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            character => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{character:04x}");
            }
        }
        remaining = &remaining[index + 1..];
    }
    out.push_str(remaining);
    out.push('"');
}

/// Appends a list with the output of `write` for each entry. Entries for which `write` returns
/// `false` are left out.
pub fn push_list<'t>(
    out: &mut String,
    entries: impl Iterator<Item = View<'t>>,
    mut write: impl FnMut(&mut String, View<'t>) -> bool,
) {
    out.push('[');
    let mut is_first = true;
    for entry in entries {
        let entry_start = out.len();
        if !is_first {
            out.push(',');
        }
        if write(out, entry) {
            is_first = false;
        } else {
            out.truncate(entry_start);
        }
    }
    out.push(']');
}

//! Objects put together from parts of checked JSON.

use core::fmt::Write as _;

use super::view::{Key, View};

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

    /// Copies a field.
    pub fn copy(&mut self, key: Key<'_>, value: View<'_>) {
        self.begin(key).push_str(value.as_json());
    }

    /// Begins a field; its value is to be written next.
    pub fn begin(&mut self, key: Key<'_>) -> &mut String {
        self.separate();
        self.out.push_str(key.quoted());
        self.out.push(':');
        self.out
    }

    /// A field whose value is JSON without whitespace; `name` has nothing that JSON escapes.
    pub fn json(&mut self, name: &str, json: &str) {
        self.named(name).push_str(json);
    }

    /// A field whose value is a string; `name` has nothing that JSON escapes.
    pub fn text(&mut self, name: &str, text: &str) {
        push_text(self.named(name), text);
    }

    /// Begins a field by name; its value is to be written next.
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

/// Appends a string in its quotes, escaped as `serde_json` does it.
pub fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(place) = rest.bytes().position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..place]);
        match rest.as_bytes()[place] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            other => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{other:04x}");
            }
        }
        rest = &rest[place + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Appends a list of what `write` appends for each entry; one for which it says `false` is left
/// out.
pub fn push_list<'t>(
    out: &mut String,
    entries: impl Iterator<Item = View<'t>>,
    mut write: impl FnMut(&mut String, View<'t>) -> bool,
) {
    out.push('[');
    let mut is_first = true;
    for entry in entries {
        let before = out.len();
        if !is_first {
            out.push(',');
        }
        if write(out, entry) {
            is_first = false;
        } else {
            out.truncate(before);
        }
    }
    out.push(']');
}

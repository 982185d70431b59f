//! Values of checked JSON, read in place.

use std::borrow::Cow;

use serde_json::Value;

use super::index::ContainerIndex;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A JSON number.
    Number,
    /// A JSON string.
    Text,
    /// A JSON array.
    List,
    /// A JSON object.
    Object,
}

/// A value in the text of a [`super::JsonText`].
#[derive(Debug, Clone, Copy)]
pub struct View<'t> {
    text: &'t str,
    index: &'t ContainerIndex,
}

/// The name of a field, with its quotes and escapes.
#[derive(Debug, Clone, Copy)]
pub struct FieldName<'t>(&'t str);

impl<'t> FieldName<'t> {
    /// Whether the name equals `name`, which has no characters that JSON escapes.
    #[must_use]
    pub fn has_name(self, name: &str) -> bool {
        self.raw_name() == name
    }

    /// Returns the name between the quotes, with its escapes.
    #[must_use]
    pub fn raw_name(self) -> &'t str {
        &self.0[1..self.0.len() - 1]
    }

    /// Returns the name with its escapes decoded.
    #[must_use]
    pub fn name(self) -> Cow<'t, str> {
        decode_string(self.0)
    }

    pub(super) fn quoted(self) -> &'t str {
        self.0
    }
}

impl<'t> View<'t> {
    /// Creates a view of `text`, which must be one value of checked JSON without whitespace.
    /// `index` is the index of this text.
    pub(super) fn of_checked(text: &'t str, index: &'t ContainerIndex) -> Self {
        Self { text, index }
    }

    /// Returns the text of the value.
    #[must_use]
    pub fn as_json(self) -> &'t str {
        self.text
    }

    /// Returns the type of the value.
    #[must_use]
    pub fn kind(self) -> JsonKind {
        match self.text.as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::List,
            Some(b'"') => JsonKind::Text,
            Some(b't' | b'f') => JsonKind::Boolean,
            Some(b'n') | None => JsonKind::Null,
            Some(_) => JsonKind::Number,
        }
    }

    /// Returns the value, if it is a string.
    #[must_use]
    pub fn as_text(self) -> Option<Cow<'t, str>> {
        (self.kind() == JsonKind::Text).then(|| decode_string(self.text))
    }

    /// Whether the value is the string `text`, which has no characters that JSON escapes.
    #[must_use]
    pub fn is_text(self, text: &str) -> bool {
        self.kind() == JsonKind::Text && &self.text[1..self.text.len() - 1] == text
    }

    /// Returns the value, if it is a number.
    #[must_use]
    pub fn as_number(self) -> Option<f64> {
        (self.kind() == JsonKind::Number).then(|| self.text.parse().ok()).flatten()
    }

    /// Iterates over the fields of an object in their order. A value of another type has no fields.
    pub fn fields(self) -> impl Iterator<Item = (FieldName<'t>, View<'t>)> {
        let mut parts = self.parts(JsonKind::Object);
        core::iter::from_fn(move || {
            let field_name = parts.next()?;
            Some((FieldName(field_name), View { text: parts.next()?, index: self.index }))
        })
    }

    /// Iterates over the entries of a list. A value of another type has no entries.
    pub fn entries(self) -> impl Iterator<Item = View<'t>> {
        self.parts(JsonKind::List).map(move |text| View { text, index: self.index })
    }

    /// Returns the value of a field of an object. If the name occurs several times, the last value
    /// is returned. `None` for a missing field, and for a value that is not an object.
    #[must_use]
    pub fn get(self, name: &str) -> Option<View<'t>> {
        self.fields().filter(|(field_name, _)| field_name.has_name(name)).map(|(_, value)| value).last()
    }

    /// Iterates over the entries of the list in a field. A field of another type has no entries.
    pub fn list(self, name: &str) -> impl Iterator<Item = View<'t>> + use<'t> {
        self.get(name).into_iter().flat_map(View::entries)
    }

    /// Returns the value of a field, if it is a string.
    #[must_use]
    pub fn text(self, name: &str) -> Option<Cow<'t, str>> {
        self.get(name)?.as_text()
    }

    /// Returns the value as a tree. Use it only for values that are known to be small.
    #[must_use]
    pub fn to_value(self) -> Value {
        serde_json::from_str(self.text).unwrap_or_default()
    }

    fn parts(self, kind: JsonKind) -> Parts<'t> {
        let text = if self.kind() == kind { &self.text[1..] } else { "]" };
        Parts { text, index: self.index }
    }
}

/// Iterates over the keys and values of an object, or the entries of a list.
struct Parts<'t> {
    text: &'t str,
    index: &'t ContainerIndex,
}

impl<'t> Iterator for Parts<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let start = usize::from(matches!(self.text.as_bytes().first(), Some(b',' | b':')));
        let text = &self.text[start..];
        if matches!(text.as_bytes().first(), None | Some(b']' | b'}')) {
            return None;
        }
        let (part, remaining) = text.split_at(self.index.value_bytes(text));
        self.text = remaining;
        Some(part)
    }
}

fn decode_string(quoted_text: &str) -> Cow<'_, str> {
    let content = &quoted_text[1..quoted_text.len() - 1];
    if content.contains('\\') {
        return Cow::Owned(serde_json::from_str(quoted_text).unwrap_or_default());
    }
    Cow::Borrowed(content)
}

//! JSON documents of clients, stored as checked text.
//!
//! A tree of [`Value`]s needs up to a hundred times the memory of its text. [`JsonText`] stores the
//! text instead, and [`View`] reads values in place without allocating.

mod compact;
mod index;
mod view;
mod write;

use core::fmt;
use std::sync::OnceLock;

use serde::de::{self, DeserializeSeed as _, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use compact::CompactWriter;
use index::ContainerIndex;
pub use view::{FieldName, JsonKind, View};
pub use write::{ObjectWriter, push_list, push_text};

/// Well-formed JSON without whitespace, nested at most 127 levels deep.
///
/// Numbers and strings have the form that `serde_json` writes, so equal documents have equal texts.
/// Inside another document, a `JsonText` is serialized as a string that contains the text.
#[derive(Debug)]
pub struct JsonText {
    text: String,
    /// Index of the text. The first call of [`Self::view`] builds it.
    index: OnceLock<ContainerIndex>,
}

impl JsonText {
    /// Checks JSON and removes its whitespace. Needs as much memory as the text.
    ///
    /// # Errors
    /// The bytes are not JSON, or the JSON is nested more than 127 levels deep.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let mut text = Vec::with_capacity(bytes.len());
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        CompactWriter(&mut text).deserialize(&mut reader)?;
        reader.end()?;
        Ok(Self::of_compact(text))
    }

    /// Converts a tree of values to its text.
    #[must_use]
    pub fn of_value(value: &Value) -> Self {
        Self::of_written(value.to_string())
    }

    /// Serializes `value` to JSON text without building a tree of values.
    ///
    /// # Errors
    /// The value cannot be written as JSON, such as a map whose keys are not strings.
    pub fn write(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self::of_written)
    }

    /// Returns the value as a view into the text.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View::of_checked(&self.text, self.index.get_or_init(|| ContainerIndex::from_text(&self.text)))
    }

    /// Returns the JSON text, without whitespace.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text as a string.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }

    /// Returns the object with the field `name` set to the string `value`. A missing field is
    /// appended. A value that is not an object is returned unchanged.
    #[must_use]
    pub fn with_text(&self, name: &str, value: &str) -> Self {
        let root = self.view();
        if root.kind() != JsonKind::Object {
            return self.clone();
        }
        let mut output = String::with_capacity(self.text.len() + name.len() + value.len() + 16);
        let mut object = ObjectWriter::new(&mut output);
        let mut is_set = false;
        for (field_name, field) in root.fields() {
            if field_name.has_name(name) {
                is_set = true;
                object.text(name, value);
            } else {
                object.copy(field_name, field);
            }
        }
        if !is_set {
            object.text(name, value);
        }
        object.end();
        Self::of_written(output)
    }

    fn of_compact(text: Vec<u8>) -> Self {
        Self::of_written(String::from_utf8(text).expect("JSON is written as UTF-8"))
    }

    /// Wraps text that this crate assembled from checked parts.
    pub(crate) fn of_written(text: String) -> Self {
        Self { text, index: OnceLock::new() }
    }
}

impl Clone for JsonText {
    fn clone(&self) -> Self {
        Self::of_written(self.text.clone())
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for JsonText {}

impl fmt::Display for JsonText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Reads the string that [`Serialize`] writes. An object or a list is read as JSON itself.
impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringOrJson;

        impl<'de> Visitor<'de> for StringOrJson {
            type Value = JsonText;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("JSON, or a string that holds JSON")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<JsonText, E> {
                JsonText::read(text.as_bytes()).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<JsonText, A::Error> {
                let mut text = Vec::new();
                CompactWriter(&mut text).visit_map(map)?;
                Ok(JsonText::of_compact(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<JsonText, A::Error> {
                let mut text = Vec::new();
                CompactWriter(&mut text).visit_seq(list)?;
                Ok(JsonText::of_compact(text))
            }
        }

        deserializer.deserialize_any(StringOrJson)
    }
}

#[cfg(test)]
mod tests;

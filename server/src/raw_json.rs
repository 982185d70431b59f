//! Serializes JSON texts into answers unchanged, without parsing them into a tree of values.

use schemas::json::JsonText;
use serde::ser::{Error as _, Serialize as _, Serializer};
use serde_json::value::RawValue;

/// Serializes a JSON text as JSON instead of as a string that contains it.
pub(crate) fn serialize<S: Serializer>(text: &JsonText, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &RawValue = serde_json::from_str(text.as_str()).map_err(S::Error::custom)?;
    raw.serialize(serializer)
}

/// Like [`serialize`], with null for `None`.
pub(crate) fn serialize_optional<S: Serializer>(
    text: &Option<JsonText>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => serialize(text, serializer),
        None => serializer.serialize_none(),
    }
}

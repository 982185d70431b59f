//! Reads words in any case: `WAV` means `wav`.

use serde::de::value::StringDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer as _};

/// Reads a value of `T` from text in any case. The words of `T` must be in lower case.
///
/// # Errors
/// Those of `T`'s deserializer.
pub(crate) fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?.to_ascii_lowercase();
    let deserializer: StringDeserializer<D::Error> = text.into_deserializer();
    T::deserialize(deserializer)
}

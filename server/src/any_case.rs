//! Words that are read in any case: `WAV` is `wav`.

use serde::de::value::StringDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer as _};

/// Reads one of the words of `T`, which are in lower case, whatever case it comes in.
///
/// # Errors
/// As `T`'s own reader.
pub(crate) fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?.to_ascii_lowercase();
    let deserializer: StringDeserializer<D::Error> = text.into_deserializer();
    T::deserialize(deserializer)
}

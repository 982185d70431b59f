//! Reads names without regard to upper and lower case: `WAV` means `wav`.

use serde::de::value::StringDeserializer;
use serde::de::{Deserialize, Deserializer, IntoDeserializer as _};

/// Deserializes a `T` from text, ignoring upper and lower case. The names of `T` must be in lower
/// case.
///
/// # Errors
/// Those of `T`'s deserializer.
pub(crate) fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?.to_ascii_lowercase();
    let deserializer: StringDeserializer<D::Error> = text.into_deserializer();
    T::deserialize(deserializer)
}

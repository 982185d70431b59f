//! Normalizes names and tags, so that they can be compared.

use unicode_normalization::UnicodeNormalization as _;

/// Returns a text in the form in which texts are compared: in lower case and composed (Unicode
/// Standard Annex 15, form C). Operating systems encode letters with accents differently.
pub(super) fn search_key(text: &str) -> String {
    text.nfc().collect::<String>().to_lowercase()
}

//! The form in which names and tags are compared.

use unicode_normalization::UnicodeNormalization as _;

/// A text in its form for comparison: in lower case, and composed (Unicode Standard Annex 15, form
/// C), because systems encode letters with marks differently.
pub(super) fn search_key(text: &str) -> String {
    text.nfc().collect::<String>().to_lowercase()
}

//! The form in which names and tags are compared.

use unicode_normalization::UnicodeNormalization as _;

/// A text as it is compared: in lower case, and composed (Unicode Standard Annex 15, form C), for
/// systems differ in how they write letters with marks.
pub(super) fn search_key(text: &str) -> String {
    text.nfc().collect::<String>().to_lowercase()
}

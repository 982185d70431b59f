//! Texts in the arrays of VST3's structures.

use std::ffi::c_char;

/// Returns the text of an array of bytes, up to the first zero or the end of the array.
pub(super) fn text(units: &[c_char]) -> String {
    let bytes: Vec<u8> =
        units.iter().map(|unit| unit.cast_unsigned()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// Returns the text of an array of UTF-16 units, up to the first zero or the end of the array.
pub(super) fn wide_text(units: &[u16]) -> String {
    let length = units.iter().position(|unit| *unit == 0).unwrap_or(units.len());
    String::from_utf16_lossy(&units[..length]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_the_first_zero_or_the_end_of_the_array() {
        assert_eq!(text(&[72, 105, 0, 33].map(|byte: u8| byte as c_char)), "Hi");
        assert_eq!(text(&[72; 4].map(|byte: u8| byte as c_char)), "HHHH");
        assert_eq!(wide_text(&[0xC4, 0x20, 0]), "Ä");
    }
}

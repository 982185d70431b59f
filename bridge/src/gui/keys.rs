//! Names of keys in the browser, and the key symbols of X11 that they stand for.

/// Key symbols from `X11/keysymdef.h`.
const NAMED: [(&str, u32); 36] = [
    ("Backspace", 0xff08),
    ("Tab", 0xff09),
    ("Enter", 0xff0d),
    ("Pause", 0xff13),
    ("ScrollLock", 0xff14),
    ("Escape", 0xff1b),
    ("Home", 0xff50),
    ("ArrowLeft", 0xff51),
    ("ArrowUp", 0xff52),
    ("ArrowRight", 0xff53),
    ("ArrowDown", 0xff54),
    ("PageUp", 0xff55),
    ("PageDown", 0xff56),
    ("End", 0xff57),
    ("PrintScreen", 0xff61),
    ("Insert", 0xff63),
    ("ContextMenu", 0xff67),
    ("NumLock", 0xff7f),
    ("F1", 0xffbe),
    ("F2", 0xffbf),
    ("F3", 0xffc0),
    ("F4", 0xffc1),
    ("F5", 0xffc2),
    ("F6", 0xffc3),
    ("F7", 0xffc4),
    ("F8", 0xffc5),
    ("F9", 0xffc6),
    ("F10", 0xffc7),
    ("F11", 0xffc8),
    ("F12", 0xffc9),
    ("Shift", 0xffe1),
    ("Control", 0xffe3),
    ("CapsLock", 0xffe5),
    ("Meta", 0xffeb),
    ("Alt", 0xffe9),
    ("Delete", 0xffff),
];

/// Key symbol of a character of Unicode outside Latin-1 is its code plus this. Source: X Window
/// System Protocol, appendix A, "KEYSYM Encoding".
const UNICODE: u32 = 0x0100_0000;

/// Returns the key symbol of a character; `None` for control characters.
pub(super) fn symbol_of_character(character: char) -> Option<u32> {
    let code = u32::from(character);
    match code {
        0x0a | 0x0d => Some(0xff0d),
        0x20..=0x7e | 0xa0..=0xff => Some(code),
        _ if character.is_control() => None,
        _ => Some(UNICODE + code),
    }
}

/// Returns the key symbol of a key, as `KeyboardEvent.key` names it; `None` if X11 has no such key.
pub(super) fn symbol_of_key(key: &str) -> Option<u32> {
    let mut characters = key.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => symbol_of_character(character),
        _ => NAMED.iter().find(|(name, _)| *name == key).map(|(_, symbol)| *symbol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_symbols() {
        let cases = [("a", Some(0x61)), ("ä", Some(0xe4)), ("€", Some(0x0100_20ac)), (" ", Some(0x20))];
        let named_keys =
            [("Enter", Some(0xff0d)), ("ArrowUp", Some(0xff52)), ("Dead", None), ("\u{7}", None)];
        for (key, symbol) in cases.into_iter().chain(named_keys).chain([("", None)]) {
            assert_eq!(symbol_of_key(key), symbol, "{key:?}");
        }
    }
}

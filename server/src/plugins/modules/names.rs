//! Normalizes the names of plugins to recognize the same plugin in two formats.

/// Suffixes of names that do not tell plugins apart.
const SUFFIXES: [&str; 4] = ["vst3", "vst2", "vst", "x64"];

/// Returns a name in lower case with only its letters and digits. Removes the suffixes `vst`,
/// `vst2`, `vst3` and `x64`, and a version: `v` with a number, or a number with a point in it.
/// Other numbers belong to the name. A name that consists only of such a suffix keeps the suffix.
pub(super) fn normalized(name: &str) -> String {
    let lower = name.to_lowercase();
    let mut remaining = lower.as_str();
    while let Some(shorter) =
        without_suffix(remaining).filter(|shorter| shorter.contains(char::is_alphanumeric))
    {
        remaining = shorter;
    }
    remaining.chars().filter(|character| character.is_alphanumeric()).collect()
}

fn without_suffix(name: &str) -> Option<&str> {
    let name = name.trim_end_matches(|character: char| !character.is_alphanumeric());
    SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).or_else(|| without_version(name))
}

fn without_version(name: &str) -> Option<&str> {
    let head = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    let number = name[head.len()..].trim_start_matches('.');
    if number.is_empty() {
        return None;
    }
    let ends_a_word = |head: &str| !head.ends_with(char::is_alphanumeric);
    match head.strip_suffix('v') {
        Some(before) if ends_a_word(before) => Some(before),
        _ => (number.contains('.') && ends_a_word(head)).then_some(head),
    }
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn suffixes_and_versions_are_removed() {
        for (name, expected) in [
            ("ZamComp-vst", "zamcomp"),
            ("ZamComp", "zamcomp"),
            ("Dragonfly Room Reverb", "dragonflyroomreverb"),
            ("Foo_x64", "foo"),
            ("FooVST", "foo"),
            ("Foo (VST2) x64", "foo"),
            ("Foo VST3 v1.2.3", "foo"),
            ("foo_v2", "foo"),
            ("Foo-1.0.4", "foo"),
            ("Foo-1.0.4_x64-vst2", "foo"),
            ("Pro-Q 3", "proq3"),
            ("Juno 106", "juno106"),
            ("TX81Z", "tx81z"),
            ("Env2", "env2"),
            ("Größe 2.5", "größe"),
            ("VST", "vst"),
            ("v1.0", "v10"),
            ("...", ""),
            ("", ""),
        ] {
            assert_eq!(normalized(name), expected, "{name}");
        }
    }
}

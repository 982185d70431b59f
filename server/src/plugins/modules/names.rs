//! Names of plugins, so that one plugin in two formats is known as one.

/// What stands at the end of a name and says nothing about the plugin.
const TRAILERS: [&str; 4] = ["vst3", "vst2", "vst", "x64"];

/// A name in lower case with everything but letters and digits removed, without a trailing `vst`,
/// `vst2`, `vst3`, `x64` or version. A version is `v` with a number, or a number with a point in
/// it; a plain number belongs to the name. A name that is nothing else stays.
pub(super) fn normalized(name: &str) -> String {
    let lower = name.to_lowercase();
    let mut rest = lower.as_str();
    while let Some(shorter) = without_trailer(rest).filter(|shorter| shorter.contains(char::is_alphanumeric))
    {
        rest = shorter;
    }
    rest.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

fn without_trailer(name: &str) -> Option<&str> {
    let name = name.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    TRAILERS.iter().find_map(|trailer| name.strip_suffix(trailer)).or_else(|| without_version(name))
}

fn without_version(name: &str) -> Option<&str> {
    let head = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
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
    fn trailers_and_versions_are_left_out() {
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

//! Converts names that users choose to names of files.

/// Returns a name as a file name without an extension. Control characters and `/\:*?"<>|`, which
/// some systems refuse, are replaced by `_`. A name has at most 100 characters; an empty one
/// becomes `Untitled`.
pub(crate) fn file_stem(name: &str) -> String {
    const MAX_CHARS: usize = 100;
    let is_allowed = |character: char| !character.is_control() && !"/\\:*?\"<>|".contains(character);
    let safe_stem: String = name
        .chars()
        .take(MAX_CHARS)
        .map(|character| if is_allowed(character) { character } else { '_' })
        .collect();
    let safe_stem = safe_stem.trim_matches([' ', '.']);
    if safe_stem.is_empty() { "Untitled".to_owned() } else { safe_stem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::file_stem;

    #[test]
    fn any_name_becomes_a_valid_file_name() {
        for (name, expected) in [
            ("Bass", "Bass"),
            ("../../etc", "_.._etc"),
            ("a/b\\c:d", "a_b_c_d"),
            (" .. ", "Untitled"),
            ("", "Untitled"),
            ("Ünï\n", "Ünï_"),
        ] {
            assert_eq!(file_stem(name), expected, "{name:?}");
        }
        assert_eq!(file_stem(&"é".repeat(500)).chars().count(), 100);
    }
}

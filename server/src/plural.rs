//! Counts with nouns, for messages.

/// Returns a count and its noun, such as "1 file" or "2 files".
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_one_is_singular() {
        let texts = [0, 1, 2].map(|count| counted(count, "stored file"));
        assert_eq!(texts, ["0 stored files", "1 stored file", "2 stored files"]);
    }
}

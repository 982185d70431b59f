//! Counts the data that an import leaves out or changes, and reports it in a few sentences.

/// Maximum number of names that a sentence lists; further ones are counted.
const NAMES_MAX: usize = 3;

/// Maximum number of characters of a name in a sentence.
const NAME_MAX_CHARS: usize = 60;

/// Names of the data that was left out or changed, by the sentence about it.
#[derive(Debug, Default)]
pub(super) struct Warnings(Vec<Warning>);

#[derive(Debug)]
struct Warning {
    sentence: &'static str,
    names: Vec<String>,
    count: usize,
}

impl Warnings {
    /// Adds one object to the sentence about its kind. An empty `name` is only counted.
    pub(super) fn add(&mut self, sentence: &'static str, name: &str) {
        let index = self.0.iter().position(|warning| warning.sentence == sentence).unwrap_or_else(|| {
            self.0.push(Warning { sentence, names: Vec::new(), count: 0 });
            self.0.len() - 1
        });
        let warning = &mut self.0[index];
        warning.count += 1;
        let name: String =
            name.chars().filter(|character| !character.is_control()).take(NAME_MAX_CHARS).collect();
        if warning.names.len() < NAMES_MAX && !name.is_empty() && !warning.names.contains(&name) {
            warning.names.push(name);
        }
    }

    /// Returns one sentence for each kind, in the order in which the kinds were found.
    pub(super) fn into_sentences(self) -> Vec<String> {
        let sentence = |Warning { sentence, names, count }: Warning| {
            let quoted_names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            match (quoted_names.is_empty(), count.saturating_sub(quoted_names.len())) {
                (true, _) => format!("{sentence} ({count})."),
                (false, 0) => format!("{sentence}: {}.", quoted_names.join(", ")),
                (false, further_names) => {
                    format!("{sentence}: {} and {further_names} more.", quoted_names.join(", "))
                }
            }
        };
        self.0.into_iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Warnings;

    #[test]
    fn a_kind_is_one_sentence_with_at_most_three_names() {
        let mut warnings = Warnings::default();
        for name in ["Surge\n", "Surge", "Vital", "Diva", "Zebra"] {
            warnings.add("Plugins were left out", name);
        }
        warnings.add("Videos were left out", "");
        assert_eq!(
            warnings.into_sentences(),
            ["Plugins were left out: `Surge`, `Vital`, `Diva` and 2 more.", "Videos were left out (1)."]
        );
    }
}

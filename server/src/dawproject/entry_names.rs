//! Names of audio files in an exported archive.

use std::collections::HashSet;

use super::archive::AUDIO_FOLDER;

/// Maximum length of the part of a name that is taken from the file name, in characters.
const STEM_MAX_CHARS: usize = 60;

/// Gives each audio file a different name.
#[derive(Debug, Default)]
pub(super) struct EntryNames(HashSet<String>);

impl EntryNames {
    /// Returns a name for the audio file `name`, with this extension. The name is similar, and it
    /// has only letters and digits of ASCII, spaces, `-` and `_`.
    pub(super) fn add(&mut self, name: &str, extension: &str) -> String {
        let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let to_plain_letter = |character: char| match character {
            character if character.is_ascii_alphanumeric() || " -_".contains(character) => character,
            _ => '_',
        };
        let stem: String = stem.chars().take(STEM_MAX_CHARS).map(to_plain_letter).collect();
        let stem = match stem.trim() {
            "" => "audio",
            stem => stem,
        };
        let mut entry = format!("{AUDIO_FOLDER}{stem}.{extension}");
        let mut number = 2;
        // Some systems do not distinguish upper and lower case.
        while !self.0.insert(entry.to_ascii_lowercase()) {
            entry = format!("{AUDIO_FOLDER}{stem} {number}.{extension}");
            number += 1;
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::EntryNames;

    #[test]
    fn names_are_plain_and_different() {
        let mut names = EntryNames::default();
        for (name, entry) in [
            ("Kick 1.wav", "audio/Kick 1.wav"),
            ("kick 1.WAV", "audio/kick 1 2.wav"),
            ("../../etc/passwd", "audio/passwd.wav"),
            ("..\\..\\x\0\"<.wav", "audio/x___.wav"),
            ("", "audio/audio.wav"),
            (".wav", "audio/audio 2.wav"),
            ("Äther.wav", "audio/_ther.wav"),
        ] {
            assert_eq!(names.add(name, "wav"), entry);
        }
        assert!(names.add(&"x".repeat(500), "flac").len() < 80);
    }
}

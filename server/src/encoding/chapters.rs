//! Chapters: named positions in a file. Players list them and can seek to them.

use serde::{Deserialize, Serialize};

/// Maximum number of chapters: the table of contents of an MP3 file counts them in one byte (ID3v2
/// Chapter Frame Addendum 1.0, section 3.2).
pub(crate) const CHAPTERS_MAX: usize = 255;

/// Maximum length of a name in bytes.
pub(crate) const NAME_MAX_BYTES: usize = 256;

/// A chapter, which lasts until the next one or the end of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chapter {
    /// First frame, at the sample rate of the file.
    pub(crate) frame: u64,
    /// Name without control characters.
    pub(crate) name: String,
}

/// Returns the time of a frame in milliseconds.
pub(super) fn ms_of(frame: u64, sample_rate_hz: u32) -> u64 {
    let rate_hz = u64::from(sample_rate_hz.max(1));
    (frame.saturating_mul(1_000) + rate_hz / 2) / rate_hz
}

/// Returns the Vorbis comments of chapters, with the names that Xiph's chapter extension gives
/// them: for each chapter its time and its name.
pub(super) fn vorbis_comments(
    chapters: &[Chapter],
    sample_rate_hz: u32,
) -> impl Iterator<Item = (String, String)> {
    chapters.iter().zip(1..).flat_map(move |(chapter, number)| {
        let ms = ms_of(chapter.frame, sample_rate_hz);
        let (secs, ms) = (ms / 1_000, ms % 1_000);
        let time = format!("{:02}:{:02}:{:02}.{ms:03}", secs / 3_600, secs / 60 % 60, secs % 60);
        let id = format!("CHAPTER{number:03}");
        [(id.clone(), time), (format!("{id}NAME"), chapter.name.clone())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vorbis_comments_have_times_and_names() {
        let chapters = [(0, "Intro"), (44_100 * 3_725 + 22, "Ende")]
            .map(|(frame, name)| Chapter { frame, name: name.to_owned() });
        let comments: Vec<_> = vorbis_comments(&chapters, 44_100).collect();
        let expected = [
            ("CHAPTER001", "00:00:00.000"),
            ("CHAPTER001NAME", "Intro"),
            ("CHAPTER002", "01:02:05.000"),
            ("CHAPTER002NAME", "Ende"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(comments, expected);
    }
}

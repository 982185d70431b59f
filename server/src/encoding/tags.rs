//! The tags of a file, such as its title and its artist, and its chapters.

use serde::{Deserialize, Serialize};

use super::chapters::{self, Chapter};
use super::cover::Cover;

/// The tags of a file. Every one is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tags {
    /// Title of the song.
    pub title: Option<String>,
    /// Artist.
    pub artist: Option<String>,
    /// Album.
    pub album: Option<String>,
    /// Genre.
    pub genre: Option<String>,
    /// Year of the recording, 1 to 9999.
    pub year: Option<u16>,
    /// Comment.
    pub comment: Option<String>,
    /// International Standard Recording Code (ISO 3901) without hyphens.
    pub isrc: Option<String>,
    /// Cover picture.
    pub(crate) cover: Option<Cover>,
    /// Chapters in ascending order.
    pub(crate) chapters: Vec<Chapter>,
}

/// Maximum length of the text of a tag except the comment, in bytes.
pub(crate) const TEXT_MAX_BYTES: usize = 1_024;

/// Maximum length of a comment in bytes.
pub(crate) const COMMENT_MAX_BYTES: usize = 64 << 10;

/// Tags as a user wrote them.
#[derive(Debug, Default)]
pub(crate) struct UncheckedTags {
    pub(crate) title: Option<String>,
    pub(crate) artist: Option<String>,
    pub(crate) album: Option<String>,
    pub(crate) genre: Option<String>,
    pub(crate) year: Option<u32>,
    pub(crate) comment: Option<String>,
    pub(crate) isrc: Option<String>,
    /// The cover picture in base64.
    pub(crate) cover: Option<String>,
}

/// A tag that cannot be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadTag {
    /// Name of the tag.
    pub(crate) name: &'static str,
    /// The problem, as a sentence without its subject.
    pub(crate) problem: String,
}

impl UncheckedTags {
    /// Checks the tags. Texts lose the spaces around them, and empty ones are left out.
    ///
    /// # Errors
    /// The first tag that cannot be written.
    pub(crate) fn check(self) -> Result<Tags, BadTag> {
        let Self { title, artist, album, genre, year, comment, isrc, cover } = self;
        let text = |name, value| checked_text(name, value, TEXT_MAX_BYTES, false);
        Ok(Tags {
            title: text("title", title)?,
            artist: text("artist", artist)?,
            album: text("album", album)?,
            genre: text("genre", genre)?,
            year: year.map(checked_year).transpose()?,
            comment: checked_text("comment", comment, COMMENT_MAX_BYTES, true)?,
            isrc: isrc.filter(|isrc| !isrc.is_empty()).map(|isrc| checked_isrc(&isrc)).transpose()?,
            cover: cover.map(checked_cover).transpose()?,
            chapters: Vec::new(),
        })
    }
}

fn checked_text(
    name: &'static str,
    value: Option<String>,
    max_bytes: usize,
    may_have_lines: bool,
) -> Result<Option<String>, BadTag> {
    let Some(value) = value else { return Ok(None) };
    let is_refused =
        |character: &char| character.is_control() && !(may_have_lines && "\n\r\t".contains(*character));
    if value.len() > max_bytes {
        let problem = format!("has {} bytes; at most {max_bytes} are allowed.", value.len());
        return Err(BadTag { name, problem });
    }
    if let Some(character) = value.chars().find(is_refused) {
        let problem = format!("contains the control character U+{:04X}; leave it out.", u32::from(character));
        return Err(BadTag { name, problem });
    }
    Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty()))
}

fn checked_cover(base64: String) -> Result<Cover, BadTag> {
    Cover::from_base64(base64).map_err(|problem| BadTag { name: "cover", problem })
}

fn checked_year(year: u32) -> Result<u16, BadTag> {
    match u16::try_from(year) {
        Ok(valid_year @ 1..=9_999) => Ok(valid_year),
        _ => Err(BadTag { name: "year", problem: format!("is {year}; expected 1 to 9999.") }),
    }
}

/// Returns an ISRC without hyphens: a country of two letters, a registrant of three letters or
/// digits, and seven digits (ISO 3901, section 4).
fn checked_isrc(isrc: &str) -> Result<String, BadTag> {
    let code: String = isrc
        .chars()
        .filter(|character| *character != '-')
        .map(|character| character.to_ascii_uppercase())
        .collect();
    let bytes = code.as_bytes();
    let is_valid = bytes.len() == 12
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..5].iter().all(u8::is_ascii_alphanumeric)
        && bytes[5..].iter().all(u8::is_ascii_digit);
    if is_valid {
        return Ok(code);
    }
    let start: String = isrc.chars().take(40).collect();
    let problem = format!(
        "is `{start}`; expected two letters, three letters or digits, and seven digits, such as `GB-A1B-23-00001`."
    );
    Err(BadTag { name: "isrc", problem })
}

/// Name of the program in the tag for the encoder.
pub(crate) const ENCODED_BY: &str = concat!("Songfoundry ", env!("CARGO_PKG_VERSION"));

impl Tags {
    /// Returns the tags with their names in Vorbis comments.
    pub(crate) fn vorbis_comments(&self, sample_rate_hz: u32) -> Vec<(String, String)> {
        let year = self.year.map(|year| format!("{year:04}"));
        [
            ("TITLE", self.title.as_ref()),
            ("ARTIST", self.artist.as_ref()),
            ("ALBUM", self.album.as_ref()),
            ("GENRE", self.genre.as_ref()),
            ("DATE", year.as_ref()),
            ("COMMENT", self.comment.as_ref()),
            ("ISRC", self.isrc.as_ref()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.clone())))
        .chain(chapters::vorbis_comments(&self.chapters, sample_rate_hz))
        .collect()
    }

    /// Returns the tags and the cover picture as comments of an Ogg file.
    pub(crate) fn ogg_comments(&self, sample_rate_hz: u32) -> Vec<(String, String)> {
        let mut comments = self.vorbis_comments(sample_rate_hz);
        comments.extend(self.cover.as_ref().map(Cover::vorbis_comment));
        comments
    }
}

/// Returns comments as the block that FLAC and Opus files contain (Vorbis I specification, section
/// 5.2.1, without the framing bit).
pub(crate) fn comment_block(comments: &[(String, String)]) -> Vec<u8> {
    let mut block = Vec::new();
    let push = |block: &mut Vec<u8>, text: &str| {
        block.extend((text.len() as u32).to_le_bytes());
        block.extend(text.as_bytes());
    };
    push(&mut block, ENCODED_BY);
    block.extend((comments.len() as u32).to_le_bytes());
    for (name, value) in comments {
        push(&mut block, &format!("{name}={value}"));
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isrcs_are_accepted_with_and_without_hyphens() {
        for text in ["GB-A1B-23-00001", "gba1b2300001", "GBA1B-2300001"] {
            assert_eq!(checked_isrc(text).expect("is valid"), "GBA1B2300001");
        }
        for text in ["", "GBA1B230000", "GBA1B23000011", "1BA1B2300001", "GBA1B23O0001", "GB A1B2300001"] {
            assert!(checked_isrc(text).is_err(), "{text}");
        }
    }

    #[test]
    fn texts_are_bounded_and_have_no_control_characters() {
        let check =
            |text: &str, may_have_lines| checked_text("title", Some(text.to_owned()), 10, may_have_lines);
        assert_eq!(check(" Song ", false), Ok(Some("Song".to_owned())));
        assert_eq!(check("  ", false), Ok(None));
        assert_eq!(check("a\nb\tc", true), Ok(Some("a\nb\tc".to_owned())));
        for (text, may_have_lines) in
            [("a\nb", false), ("a\0b", true), ("\u{1b}[0m", true), ("12345678901", true)]
        {
            assert!(check(text, may_have_lines).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_comment_block_has_a_length_before_each_text() {
        let tags = Tags { title: Some("Ä=\n".into()), year: Some(7), ..Tags::default() };
        let vendor = (ENCODED_BY.len() as u32).to_le_bytes();
        let expected = [
            &vendor[..],
            ENCODED_BY.as_bytes(),
            &[2, 0, 0, 0, 10, 0, 0, 0],
            "TITLE=Ä=\n".as_bytes(),
            &[9, 0, 0, 0],
            b"DATE=0007",
        ]
        .concat();
        assert_eq!(comment_block(&tags.vorbis_comments(48_000)), expected);
    }
}

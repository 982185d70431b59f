//! Reads a song for `songfoundry render`: a MIDI file or a project, which may be compressed.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use anyhow::{Context as _, bail};
use flate2::read::MultiGzDecoder;
use schemas::Project;
use schemas::json::JsonText;
use schemas::session::without_frozen_parts;
use schemas::upgrade::upgrade;
use schemas::validate::validate;

use super::sound_args::SoundArgs;
use crate::bounded_read::{self, read_all};
use crate::cli::output::STANDARD_STREAM;
use crate::multitrack::midi::{ImportOptions, import};

/// Maximum size of a song file, in bytes, even after decompression. Real projects and MIDI files
/// are far smaller.
const SONG_MAX_BYTES: u64 = 1 << 30;

/// First bytes of a file that gzip has compressed (RFC 1952, section 2.3.1).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// A song that was read from a file, as a project.
pub(super) struct Song {
    pub(super) document: JsonText,
    pub(super) project: Project,
    pub(super) warnings: Vec<String>,
}

/// Returns the name of a song for messages.
pub(super) fn name_of(path: &Path) -> Cow<'_, str> {
    match path.as_os_str() == STANDARD_STREAM {
        true => "standard input".into(),
        false => path.to_string_lossy(),
    }
}

/// Returns the name of a song's file without its extensions, such as `song` for `song.mid.gz`.
pub(super) fn stem_of(path: &Path) -> String {
    if path.as_os_str() == STANDARD_STREAM {
        return "song".to_owned();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let uncompressed_name = name.strip_suffix(".gz").unwrap_or(&name);
    Path::new(uncompressed_name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl Song {
    /// Reads a song, or standard input if the path is `-`.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let name = name_of(path);
        let bytes = match path.as_os_str() == STANDARD_STREAM {
            true => read_all(io::stdin().lock(), SONG_MAX_BYTES),
            false => bounded_read::read(path, SONG_MAX_BYTES),
        };
        let bytes = bytes.with_context(|| format!("cannot read {name}"))?;
        let bytes = match bytes.starts_with(GZIP_MAGIC) {
            true => read_all(MultiGzDecoder::new(&*bytes), SONG_MAX_BYTES)
                .with_context(|| format!("cannot decompress {name}"))?,
            false => bytes,
        };
        let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if is_json { Self::from_json(&bytes) } else { Self::from_midi(&bytes, stem_of(path)) }
            .with_context(|| name.into_owned())
    }

    /// Applies the options of the command line that change the sound.
    pub(super) fn with_sound(mut self, sound: &SoundArgs) -> anyhow::Result<Self> {
        if sound.apply(&mut self.project)? {
            self.document = JsonText::read(&serde_json::to_vec(&self.project)?)?;
        }
        Ok(self)
    }

    fn from_midi(bytes: &[u8], stem: String) -> anyhow::Result<Self> {
        let options = ImportOptions { project_id: "render".into(), name: Some(stem), soundfont_id: None };
        let imported_project = import(bytes, options)?;
        let document = JsonText::read(&serde_json::to_vec(&imported_project.project)?)?;
        Ok(Self { document, project: imported_project.project, warnings: imported_project.warnings })
    }

    fn from_json(bytes: &[u8]) -> anyhow::Result<Self> {
        let document = JsonText::read(bytes).context("this is not a JSON document")?;
        let document = upgrade(&document, "render")?;
        if let Err(violations) = validate(&document) {
            let violation_lines: Vec<String> = violations
                .iter()
                .map(|violation| {
                    format!(
                        "\n  at {}: {}",
                        if violation.pointer.is_empty() { "/" } else { &violation.pointer },
                        violation.detail
                    )
                })
                .collect();
            bail!("this is not a valid project:{}", violation_lines.concat());
        }
        let project = without_frozen_parts(schemas::read::project(&document)?);
        Ok(Self { document, project, warnings: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stem_of_a_song_has_no_extension() {
        for (path, expected) in
            [("a/b.mid", "b"), ("b.mid.gz", "b"), ("b.c.json", "b.c"), ("-", "song"), ("b", "b")]
        {
            assert_eq!(stem_of(Path::new(path)), expected, "{path}");
        }
    }
}

//! Reads the archive of an uploaded file. Names of entries are never used as paths on the disk.

use std::fs::File;
use std::io::{BufReader, Read as _};

use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use super::refusal::Refusal;
use crate::bundles::{LimitedReader, open_zip, shown_name};

/// Names of the entries with the project and with its title. The entry with the title may be
/// missing.
pub(super) const PROJECT_PATH: &str = "project.xml";
pub(super) const METADATA_PATH: &str = "metadata.xml";

/// Folder of audio files in archives that this program writes.
pub(super) const AUDIO_FOLDER: &str = "audio/";

/// An uploaded archive.
pub(super) struct Archive(ZipArchive<LimitedReader<BufReader<File>>>);

/// Content of an entry.
pub(super) type Entry<'a> = ZipFile<'a, LimitedReader<BufReader<File>>>;

impl Archive {
    /// Opens an archive.
    ///
    /// # Errors
    /// The file is not an archive, or has too many entries.
    pub(super) fn open(file: File) -> Result<Self, Refusal> {
        open_zip(BufReader::new(file)).map(Self).map_err(Refusal::Bad)
    }

    /// Reads an entry of at most `max_bytes` bytes. `subject` names the entry in errors. Returns
    /// `None` if there is no such entry.
    ///
    /// # Errors
    /// The entry is damaged or larger.
    pub(super) fn text(
        &mut self,
        name: &str,
        max_bytes: u64,
        subject: &'static str,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(entry) = self.entry(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        entry
            .take(max_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Refusal::from_reason(format!("`{name}` is damaged: {error}")))?;
        if bytes.len() as u64 > max_bytes {
            return Err(Refusal::TooLarge { subject, limit_bytes: max_bytes });
        }
        Ok(Some(bytes))
    }

    /// Opens an entry for reading. Returns `None` if there is no such entry.
    ///
    /// # Errors
    /// The entry is encrypted, or compressed by a method other than deflate.
    pub(super) fn entry(&mut self, name: &str) -> Result<Option<Entry<'_>>, Refusal> {
        match self.0.by_name(name) {
            Ok(entry) => Ok(Some(entry)),
            Err(ZipError::FileNotFound) => Ok(None),
            Err(error) => {
                Err(Refusal::from_reason(format!("`{}` cannot be read: {error}", shown_name(name))))
            }
        }
    }
}

/// Returns the name of the entry that a path in a project refers to; `None` for a path outside of
/// the archive.
pub(super) fn entry_name(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let is_inside = !path.is_empty()
        && !path.starts_with('/')
        && !path.contains(':')
        && !path.contains('\0')
        && path.split('/').all(|part| part != "..");
    is_inside.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::entry_name;

    #[test]
    fn paths_outside_of_the_archive_have_no_entry() {
        for (path, name) in [
            ("audio/Drum loop 1.wav", "audio/Drum loop 1.wav"),
            ("./samples\\a.wav", "samples/a.wav"),
            ("é..wav", "é..wav"),
        ] {
            assert_eq!(entry_name(path).as_deref(), Some(name));
        }
        for path in ["", "../a.wav", "a/../../b", "/etc/passwd", "C:\\a.wav", "\\\\server\\a", "a\0", "..\\a"]
        {
            assert_eq!(entry_name(path), None, "{path:?}");
        }
    }
}

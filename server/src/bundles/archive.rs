//! Reads the archive of an uploaded bundle.
//!
//! Entries are found by the names in the manifest. Names are never used as paths on the disk. The
//! size in an entry's header is ignored. Each entry is read up to a limit; an entry that exceeds
//! the limit is refused.

use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom};

use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

/// Names of entries within the archive.
pub(super) const MANIFEST_PATH: &str = "bundle.json";
pub(super) const PROJECT_PATH: &str = "project.json";
pub(super) const AUDIO_FOLDER: &str = "audio/";

/// Maximum number of bytes that are read to list the entries of an archive. It is enough for the
/// maximum number of entries with names of 150 bytes.
const DIRECTORY_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum number of entries of an archive.
pub(super) const ENTRIES_MAX: usize = 20_000;

/// Reason why an archive cannot be imported.
#[derive(Debug, thiserror::Error)]
pub(super) enum BundleError {
    /// The archive is not a bundle, or is damaged. The text is the reason, without a full stop.
    #[error("The file is not a bundle of a project: {0}.")]
    Bad(String),
    /// An entry is larger than its limit.
    #[error("{subject} may have at most {limit_bytes} bytes")]
    TooLarge {
        /// Name of the entry, with its article.
        subject: &'static str,
        /// Its limit in bytes.
        limit_bytes: u64,
    },
    /// The disk failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl BundleError {
    /// Returns the error for an archive that is not a bundle.
    pub(super) fn from_reason(reason: impl Into<String>) -> Self {
        Self::Bad(reason.into())
    }

    /// Returns the error for an entry that cannot be read.
    fn damaged(name: &str, error: &io::Error) -> Self {
        Self::Bad(format!("`{name}` is damaged: {error}"))
    }
}

/// The archive of a bundle whose entries were checked.
pub(super) struct Archive<R: Read + Seek>(ZipArchive<LimitedReader<R>>);

impl<R: Read + Seek> Archive<R> {
    /// Opens an archive and checks that it has only entries of a bundle.
    ///
    /// # Errors
    /// [`BundleError::Bad`] with the reason.
    pub(super) fn open(reader: R) -> Result<Self, BundleError> {
        let mut zip = open_zip(reader).map_err(BundleError::Bad)?;
        for number in 0..zip.len() {
            let entry_error = |error: &dyn std::fmt::Display| {
                BundleError::from_reason(format!(
                    "entry {} of the archive cannot be read: {error}",
                    number + 1
                ))
            };
            let entry = zip.by_index_raw(number).map_err(|error| entry_error(&error))?;
            let name = entry.name().map_err(|error| entry_error(&error))?;
            if entry.is_symlink() || entry.encrypted() || !(is_bundle_entry(&name) || name == AUDIO_FOLDER) {
                return Err(BundleError::from_reason(format!(
                    "`{}` does not belong in a bundle",
                    shown_name(&name)
                )));
            }
        }
        Ok(Self(zip))
    }

    /// Reads an entry of at most `max_bytes` bytes. `subject` names the entry in errors.
    ///
    /// # Errors
    /// [`BundleError::Bad`] if there is no such entry, or if it is damaged;
    /// [`BundleError::TooLarge`] if it is larger than `max_bytes`.
    pub(super) fn read_entry(
        &mut self,
        name: &str,
        max_bytes: u64,
        subject: &'static str,
    ) -> Result<Vec<u8>, BundleError> {
        let mut bytes = Vec::new();
        let entry = self.entry(name)?;
        entry
            .take(max_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| BundleError::damaged(name, &error))?;
        if bytes.len() as u64 > max_bytes {
            return Err(BundleError::TooLarge { subject, limit_bytes: max_bytes });
        }
        Ok(bytes)
    }

    /// Opens an entry for reading.
    ///
    /// # Errors
    /// [`BundleError::Bad`] if there is no such entry.
    pub(super) fn entry(&mut self, name: &str) -> Result<ZipFile<'_, impl Read + use<'_, R>>, BundleError> {
        self.0.by_name(name).map_err(|error| match error {
            ZipError::FileNotFound => BundleError::from_reason(format!("`{name}` is missing")),
            error => BundleError::from_reason(format!("`{name}` cannot be read: {error}")),
        })
    }
}

/// Opens a zip archive. Limits the size of its directory and the number of its entries, and refuses
/// two entries with the same name.
///
/// # Errors
/// The reason why the archive is refused, without a full stop.
pub(crate) fn open_zip<R: Read + Seek>(reader: R) -> Result<ZipArchive<LimitedReader<R>>, String> {
    let limited_reader = LimitedReader { reader, remaining_bytes: Some(DIRECTORY_MAX_BYTES) };
    let zip = ZipArchive::new(limited_reader).map_err(|error| format!("it cannot be opened: {error}"))?;
    if zip.has_duplicate_names() {
        let entries = match repeated_name(zip) {
            Some(name) => format!("more than one entry named `{}`", shown_name(&name)),
            None => "several entries with the same name".to_owned(),
        };
        return Err(format!("it has {entries}; every name must be unique"));
    }
    if zip.len() > ENTRIES_MAX {
        return Err(format!("it has {} entries, and at most {ENTRIES_MAX} are allowed", zip.len()));
    }
    let mut reader = zip.into_inner();
    reader.remaining_bytes = None;
    // The central directory was checked, so it is read again without the limit.
    reader.seek(SeekFrom::Start(0)).map_err(|error| format!("it cannot be opened: {error}"))?;
    ZipArchive::new(reader).map_err(|error| format!("it cannot be opened: {error}"))
}

/// Returns the first name that the central directory of an archive contains twice. [`ZipArchive`]
/// keeps only one entry for each name, so this function reads the records itself. Returns `None` if
/// names are equal only after they are decoded.
fn repeated_name<R: Read + Seek>(zip: ZipArchive<LimitedReader<R>>) -> Option<String> {
    /// Signature and length of a record before its name (APPNOTE.TXT, section 4.3.12).
    const SIGNATURE: &[u8] = b"PK\x01\x02";
    const HEADER_BYTES: usize = 46;
    let start = zip.central_directory_start();
    let mut reader = zip.into_inner();
    reader.remaining_bytes = Some(DIRECTORY_MAX_BYTES);
    reader.seek(SeekFrom::Start(start)).ok()?;
    let mut names = HashSet::new();
    loop {
        let mut header = [0; HEADER_BYTES];
        reader.read_exact(&mut header).ok()?;
        let length = |offset| usize::from(u16::from_le_bytes([header[offset], header[offset + 1]]));
        let (name_bytes, extra_bytes, comment_bytes) = (length(28), length(30), length(32));
        let mut content = vec![0; name_bytes + extra_bytes + comment_bytes];
        reader.read_exact(&mut content).ok()?;
        content.truncate(name_bytes);
        if !header.starts_with(SIGNATURE) {
            return None;
        }
        if let Some(name) = names.replace(content) {
            return Some(String::from_utf8_lossy(&name).into_owned());
        }
    }
}

/// Returns the name of an entry for an error text: without control characters, and shortened.
pub(crate) fn shown_name(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(100).collect()
}

/// Whether a bundle may contain an entry with this name.
pub(super) fn is_bundle_entry(name: &str) -> bool {
    let is_plain = |file: &str| {
        !file.starts_with('.')
            && file.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let audio = name.strip_prefix(AUDIO_FOLDER).filter(|file| (1..=128).contains(&file.len()));
    name == MANIFEST_PATH || name == PROJECT_PATH || audio.is_some_and(is_plain)
}

/// A reader that fails after `remaining_bytes`, if this limit is set.
pub(crate) struct LimitedReader<R> {
    reader: R,
    remaining_bytes: Option<u64>,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some(remaining_bytes) = &mut self.remaining_bytes {
            *remaining_bytes = remaining_bytes.checked_sub(count as u64).ok_or_else(|| {
                let text = format!("the archive's directory is larger than {DIRECTORY_MAX_BYTES} bytes");
                io::Error::other(text)
            })?;
        }
        Ok(count)
    }
}

impl<R: Seek> Seek for LimitedReader<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.reader.seek(position)
    }
}

#[cfg(test)]
mod tests {
    use super::is_bundle_entry;

    #[test]
    fn a_bundle_has_plain_names_only() {
        for name in ["bundle.json", "project.json", "audio/0a.wav", "audio/x", "audio/a-b_c.d"] {
            assert!(is_bundle_entry(name), "{name}");
        }
        for name in [
            "",
            "audio/",
            "audio/..",
            "audio/../x",
            "audio/a/b",
            "audio/.x",
            "../bundle.json",
            "/etc/passwd",
            "audio\\x",
            "audio/\0",
            "audio/é",
            "C:x",
            "Project.json",
            "audio//x",
        ] {
            assert!(!is_bundle_entry(name), "{name:?}");
        }
    }
}

//! Reading an archive that somebody sent.
//!
//! Entries are found by the names that the manifest gives, and no name ever becomes a path on the disk. What an entry says of
//! its size counts for nothing: each is read up to a limit, and one byte more is a refusal.

use std::io::{self, Read, Seek, SeekFrom};

use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use super::{AUDIO_FOLDER, MANIFEST, PROJECT};
use crate::error::{ApiError, ApiResult};

/// Most bytes that are read to find out what is in an archive: some 100,000 entries.
const DIRECTORY_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Most entries of an archive.
const ENTRIES_MAX: usize = 20_000;

/// A bundle's archive, opened and looked through.
pub(super) struct Archive<R: Read + Seek>(ZipArchive<Budgeted<R>>);

impl<R: Read + Seek> Archive<R> {
    /// Opens an archive in which there is nothing but what a bundle has.
    ///
    /// # Errors
    /// 400 `bad_bundle`, naming what is wrong with it.
    pub(super) fn open(reader: R) -> ApiResult<Self> {
        let budgeted = Budgeted { reader, left_bytes: Some(DIRECTORY_MAX_BYTES) };
        let mut zip =
            ZipArchive::new(budgeted).map_err(|error| bad(&format!("it cannot be opened: {error}")))?;
        if zip.has_duplicate_names() {
            return Err(bad("it has two entries of one name"));
        }
        if zip.len() > ENTRIES_MAX {
            return Err(bad(&format!("it has {} entries, and at most {ENTRIES_MAX} are taken", zip.len())));
        }
        for number in 0..zip.len() {
            let entry = zip.by_index_raw(number).map_err(|error| bad(&error.to_string()))?;
            let name = entry.name().map_err(|error| bad(&error.to_string()))?;
            let shown: String = name.chars().filter(|letter| !letter.is_control()).take(100).collect();
            if entry.is_symlink() || entry.encrypted() || !(is_ours(&name) || name == AUDIO_FOLDER) {
                return Err(bad(&format!("`{shown}` is nothing that a bundle has")));
            }
        }
        let mut reader = zip.into_inner();
        reader.left_bytes = None;
        // What has been looked through is read again without the limit: it is the same bytes.
        reader.seek(SeekFrom::Start(0))?;
        ZipArchive::new(reader).map(Self).map_err(|error| bad(&format!("it cannot be opened: {error}")))
    }

    /// The text of an entry of at most so many bytes.
    ///
    /// # Errors
    /// 400 `bad_bundle` if there is no such entry, or it is damaged; 413 if it is larger.
    pub(super) fn text(&mut self, name: &str, max_bytes: u64, what: &'static str) -> ApiResult<Vec<u8>> {
        let mut bytes = Vec::new();
        let entry = self.entry(name)?;
        entry.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| damaged(name, &error))?;
        if bytes.len() as u64 > max_bytes {
            return Err(ApiError::TooLarge { what, limit_bytes: max_bytes });
        }
        Ok(bytes)
    }

    /// An entry to read.
    ///
    /// # Errors
    /// 400 `bad_bundle` if there is none.
    pub(super) fn entry(&mut self, name: &str) -> ApiResult<ZipFile<'_, impl Read + use<'_, R>>> {
        self.0.by_name(name).map_err(|error| match error {
            ZipError::FileNotFound => bad(&format!("`{name}` is missing")),
            other => bad(&format!("`{name}` cannot be read: {other}")),
        })
    }
}

/// Whether a bundle has entries of this name.
pub(super) fn is_ours(name: &str) -> bool {
    let is_plain = |rest: &str| {
        !rest.starts_with('.')
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let audio = name.strip_prefix(AUDIO_FOLDER).filter(|rest| (1..=128).contains(&rest.len()));
    name == MANIFEST || name == PROJECT || audio.is_some_and(is_plain)
}

/// 400 for an archive that is no bundle.
pub(super) fn bad(why: &str) -> ApiError {
    ApiError::bad_request("bad_bundle", format!("The file is no bundle of a project: {why}."))
}

/// 400 for an entry that does not give what it promises.
pub(super) fn damaged(name: &str, error: &io::Error) -> ApiError {
    bad(&format!("`{name}` is damaged: {error}"))
}

/// Reads at most so many bytes, as long as there is a limit.
struct Budgeted<R> {
    reader: R,
    left_bytes: Option<u64>,
}

impl<R: Read> Read for Budgeted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some(left_bytes) = &mut self.left_bytes {
            *left_bytes = left_bytes
                .checked_sub(count as u64)
                .ok_or_else(|| io::Error::other("its directory is too large"))?;
        }
        Ok(count)
    }
}

impl<R: Seek> Seek for Budgeted<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.reader.seek(position)
    }
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn a_bundle_has_plain_names_only() {
        for name in ["bundle.json", "project.json", "audio/0a.wav", "audio/x", "audio/a-b_c.d"] {
            assert!(is_ours(name), "{name}");
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
            assert!(!is_ours(name), "{name:?}");
        }
    }
}

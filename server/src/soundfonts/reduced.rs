//! Makes banks that are reduced to some presets, and caches them on the disk within a size limit.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dsp_core::soundfont::BankError;
use sha2::{Digest as _, Sha256};

use super::{SoundFont, preset_list};
use crate::disk::remove_if_there;
use crate::error::{ApiError, ApiResult};
use crate::permits::{Caller, Permits};
use crate::rendering::{ENGINE_VERSION, RenderError};
use crate::state::AppState;
use crate::storage::{BlobKey, Blobs};

/// Storage folder of the reduced banks.
const FOLDER: &str = "reduced-soundfonts";

/// Makes and caches reduced banks.
#[derive(Debug)]
pub(crate) struct ReducedBanks {
    limit_bytes: u64,
    /// Permits to make a bank. Only one is made at a time, because this takes twice the size of the
    /// reduced bank in memory.
    permits: Permits,
}

impl ReducedBanks {
    /// Makes a cache whose files have at most `limit_bytes` in total. At most `waiting_max`
    /// requests may wait.
    pub(crate) fn new(limit_bytes: u64, waiting_max: u64) -> Self {
        Self { limit_bytes, permits: Permits::counted("reduced SoundFonts", 1, waiting_max) }
    }

    /// Returns the file of a bank that is reduced to some presets. Makes the file if it is not
    /// cached. `tag` is the result of [`etag_of`].
    ///
    /// # Errors
    /// 422 if the bank cannot be used; 500 if the file cannot be stored.
    pub(super) async fn open(
        &self,
        state: &AppState,
        soundfont: SoundFont,
        presets: Vec<(u16, u8)>,
        tag: &str,
    ) -> ApiResult<File> {
        let blob_key = BlobKey::new(FOLDER, tag, "sf2").map_err(ApiError::internal)?;
        let (blobs, cache_key) = (state.blobs.local(), blob_key.clone());
        if let Some(file) = tokio::task::spawn_blocking(move || open_cached(&blobs, &cache_key)).await?? {
            return Ok(file);
        }
        let (state, limit_bytes) = (state.clone(), self.limit_bytes);
        let make = move |caller: &Caller| -> ApiResult<File> {
            let blobs = &state.blobs.local();
            // Another request may have made the file while this one waited.
            if let Some(file) = open_cached(blobs, &blob_key)? {
                return Ok(file);
            }
            blobs.put(&blob_key, &reduce(&state, &soundfont, &presets, caller)?)?;
            let file = blobs.read(&blob_key)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            if let Some(folder) = blobs.path(&blob_key).parent() {
                evict_to_limit(folder, limit_bytes)?;
            }
            Ok(file)
        };
        self.permits.run(make).await
    }
}

/// Opens the cached file of a key, if there is one, and marks it as recently used.
fn open_cached(blobs: &Blobs, blob_key: &BlobKey) -> io::Result<Option<File>> {
    let file = blobs.read(blob_key)?;
    if let Some(file) = &file {
        file.set_modified(SystemTime::now())?;
    }
    Ok(file)
}

/// Returns a tag that identifies a reduced bank by the bank's content, the presets and the version
/// of the engine.
pub(super) fn etag_of(content_hash: &str, presets: &[(u16, u8)]) -> String {
    let text = format!("{ENGINE_VERSION} {content_hash} {}", preset_list::to_text(presets));
    format!("{:x}", Sha256::digest(text))
}

fn reduce(
    state: &AppState,
    soundfont: &SoundFont,
    presets: &[(u16, u8)],
    caller: &Caller,
) -> ApiResult<Vec<u8>> {
    let (banks, name) = (&state.soundfonts.banks, &soundfont.summary.soundfont_id);
    let bank = soundfont.open(state)?;
    banks.prepare(&bank, name, presets, &mut || !caller.has_disconnected())?;
    // This memory is for the samples, and then for the file that is made from them.
    let _memory = banks.reserve(name, 2 * bank.reduced_bytes(presets))?;
    let unusable = |error: BankError| RenderError::Bank { name: name.clone(), reason: error.into() };
    Ok(bank.write_reduced(presets).map_err(unusable)?)
}

/// Deletes the least recently used files until the remaining ones are within the limit.
fn evict_to_limit(folder: &Path, limit_bytes: u64) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "sf2") {
            // Another process may have removed the file.
            if let Ok(metadata) = entry.metadata() {
                files.push((metadata.modified()?, entry.path(), metadata.len()));
            }
        }
    }
    files.sort();
    let mut total_bytes: u64 = files.iter().map(|(.., size_bytes)| size_bytes).sum();
    for (_, path, size_bytes) in files {
        if total_bytes <= limit_bytes {
            break;
        }
        remove_if_there(&path)?;
        total_bytes -= size_bytes;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_least_recently_used_files_are_deleted_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let file_of_age = |name: &str, secs: u64| {
            let path = folder.path().join(name);
            fs::write(&path, [0; 10]).expect("writes");
            let file = File::options().write(true).open(&path).expect("opens");
            file.set_modified(SystemTime::now() - Duration::from_secs(secs)).expect("sets the time");
            path
        };
        let (new, old, middle) =
            (file_of_age("a.sf2", 1), file_of_age("b.sf2", 30), file_of_age("c.sf2", 20));
        let other_file = file_of_age("other.txt", 99);
        evict_to_limit(folder.path(), 30).expect("the files are deleted");
        assert!(new.exists() && old.exists() && middle.exists());
        evict_to_limit(folder.path(), 29).expect("the files are deleted");
        assert!(new.exists() && !old.exists() && middle.exists());
        evict_to_limit(folder.path(), 0).expect("the files are deleted");
        assert!(!new.exists() && !middle.exists() && other_file.exists());
    }

    #[test]
    fn tags_differ_between_banks_and_between_lists_of_presets() {
        let tags = [etag_of("a", &[(0, 1)]), etag_of("b", &[(0, 1)]), etag_of("a", &[(0, 1), (0, 2)])];
        assert!(tags[0] != tags[1] && tags[0] != tags[2], "{tags:?}");
        assert_eq!(tags[0], etag_of("a", &[(0, 1)]));
    }
}

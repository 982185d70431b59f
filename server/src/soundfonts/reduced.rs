//! Banks reduced to some presets, made once and kept on the disk within a limit.

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

/// Folder of the store that reduced banks are in.
const FOLDER: &str = "reduced-soundfonts";

/// Makes and keeps reduced banks.
#[derive(Debug)]
pub(crate) struct ReducedBanks {
    limit_bytes: u64,
    /// One is made at a time: each takes twice as much memory as it is large.
    making: Permits,
}

impl ReducedBanks {
    /// Keeps files of at most `limit_bytes` together. At most `waiting_max` requests wait for one.
    pub(crate) fn new(limit_bytes: u64, waiting_max: u64) -> Self {
        Self { limit_bytes, making: Permits::counted("reduced SoundFonts", 1, waiting_max) }
    }

    /// The file of a bank reduced to some presets, made now or earlier. `tag` is its [`tag`].
    ///
    /// # Errors
    /// 422 where the bank cannot be used, 500 where the file cannot be kept.
    pub(super) async fn open(
        &self,
        state: &AppState,
        soundfont: SoundFont,
        presets: Vec<(u16, u8)>,
        tag: &str,
    ) -> ApiResult<File> {
        let key = BlobKey::new(FOLDER, tag, "sf2").map_err(ApiError::internal)?;
        let (blobs, known) = (state.blobs.local(), key.clone());
        if let Some(file) = tokio::task::spawn_blocking(move || kept(&blobs, &known)).await?? {
            return Ok(file);
        }
        let (state, limit_bytes) = (state.clone(), self.limit_bytes);
        let make = move |caller: &Caller| -> ApiResult<File> {
            let blobs = &state.blobs.local();
            // Somebody else's may have been made while this one waited for its turn.
            if let Some(file) = kept(blobs, &key)? {
                return Ok(file);
            }
            blobs.put(&key, &reduce(&state, &soundfont, &presets, caller)?)?;
            let file = blobs.read(&key)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            if let Some(folder) = blobs.path(&key).parent() {
                make_room(folder, limit_bytes)?;
            }
            Ok(file)
        };
        self.making.run(make).await
    }
}

/// The file of a key, if there is one. Its age is from now on the time since now.
fn kept(blobs: &Blobs, key: &BlobKey) -> io::Result<Option<File>> {
    let file = blobs.read(key)?;
    if let Some(file) = &file {
        file.set_modified(SystemTime::now())?;
    }
    Ok(file)
}

/// Tells a reduced bank: it changes with the bank's content, the presets, and what makes it.
pub(super) fn tag(content_hash: &str, presets: &[(u16, u8)]) -> String {
    let text = format!("{ENGINE_VERSION} {content_hash} {}", preset_list::text(presets));
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
    banks.prepare(&bank, name, presets, &mut || !caller.has_gone())?;
    // The samples are gathered first, and then the file is put together.
    let _memory = banks.reserve(name, 2 * bank.reduced_bytes(presets))?;
    let unusable = |error: BankError| RenderError::Bank { name: name.clone(), reason: error.into() };
    Ok(bank.reduced(presets).map_err(unusable)?)
}

/// Deletes the files that were not asked for for longest until the rest is within the limit.
fn make_room(folder: &Path, limit_bytes: u64) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "sf2") {
            // Another process may just have removed it.
            if let Ok(facts) = entry.metadata() {
                files.push((facts.modified()?, entry.path(), facts.len()));
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
    fn the_longest_unused_make_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let age = |name: &str, secs: u64| {
            let path = folder.path().join(name);
            fs::write(&path, [0; 10]).expect("writes");
            let file = File::options().write(true).open(&path).expect("opens");
            file.set_modified(SystemTime::now() - Duration::from_secs(secs)).expect("sets");
            path
        };
        let (new, old, middle) = (age("a.sf2", 1), age("b.sf2", 30), age("c.sf2", 20));
        let other = age("other.txt", 99);
        make_room(folder.path(), 30).expect("room");
        assert!(new.exists() && old.exists() && middle.exists());
        make_room(folder.path(), 29).expect("room");
        assert!(new.exists() && !old.exists() && middle.exists());
        make_room(folder.path(), 0).expect("room");
        assert!(!new.exists() && !middle.exists() && other.exists());
    }

    #[test]
    fn a_tag_tells_banks_and_presets_apart() {
        let tags = [tag("a", &[(0, 1)]), tag("b", &[(0, 1)]), tag("a", &[(0, 1), (0, 2)])];
        assert!(tags[0] != tags[1] && tags[0] != tags[2], "{tags:?}");
        assert_eq!(tags[0], tag("a", &[(0, 1)]));
    }
}

//! Stores the sounds of plugins as WAV files, so that playback and exports use the same samples. A
//! JSON file beside each sound has its warnings.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::encoding::audio_format::AudioFormat;
use crate::error::ApiResult;
use crate::rendering::plugin_track::PluginWarning;
use crate::state::AppState;
use crate::storage::{BadBlobId, BlobKey, BlobWriter, Blobs, Entry, FileKind, Orphan};

/// Folder of the sounds in the blob storage.
pub(crate) const FOLDER: &str = "plugin-sounds";

/// The files of the sounds.
const FILES: FileKind = FileKind { folder: FOLDER, extensions: &["wav", WARNINGS_EXTENSION] };

/// Extension of the files with warnings.
const WARNINGS_EXTENSION: &str = "json";

/// Age from which warnings without a sound are deleted. Warnings are stored before their sound.
const LONE_WARNINGS_AGE: Duration = Duration::from_secs(86_400);

/// Returns the sounds of users who are not in `owner_ids` that are at least `age` old. Blocks.
///
/// # Errors
/// If the storage fails.
pub(crate) fn orphans(blobs: &Blobs, owner_ids: &HashSet<String>, age: Duration) -> ApiResult<Vec<Orphan>> {
    let is_owned = |id: &str| id.split_once('_').is_some_and(|(owner_id, _)| owner_ids.contains(owner_id));
    let entries = blobs.entries(FOLDER)?.into_iter();
    let orphans = entries.filter(|entry| entry.age() >= age && !is_owned(&entry.id));
    Ok(orphans
        .filter_map(|entry| {
            let key = FILES.key(&entry.file_name())?;
            Some(Orphan { key, size_bytes: entry.size_bytes, stored_at: entry.stored_at })
        })
        .collect())
}

/// Returns the key of a user's sound. Its name begins with the owner's id, so that no other user
/// can find it.
pub(super) fn key(owner_id: &str, sound_id: &str) -> Result<BlobKey, BadBlobId> {
    BlobKey::new(FOLDER, &format!("{owner_id}_{sound_id}"), AudioFormat::Wav.extension())
}

/// Opens a stored sound, and marks it as recently used.
pub(super) fn find(blobs: &Blobs, key: &BlobKey) -> io::Result<Option<File>> {
    let stored_bytes = blobs.read_stored(key)?;
    if let Some(file) = &stored_bytes {
        file.set_modified(SystemTime::now())?;
    }
    Ok(stored_bytes)
}

/// Returns the warnings about a stored sound; none if they cannot be read.
pub(super) fn warnings(blobs: &Blobs, sound: &BlobKey) -> io::Result<Vec<PluginWarning>> {
    let stored_text = match warnings_key(sound.id()) {
        Ok(key) => blobs.read_stored(&key)?,
        Err(_) => None,
    };
    let Some(mut file) = stored_text else { return Ok(Vec::new()) };
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(sound = sound.id(), %error, "the stored warnings about a plugin's sound cannot be read");
        Vec::new()
    }))
}

/// Locks that are held while a sound is stored. The last character of the sound's id selects the
/// lock, so that different sounds rarely wait for each other.
static STORING: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

/// Stores a sound and the warnings about it, unless another request has stored one with this key. A
/// plugin may sound different each time, and playback and exports must have the same samples.
/// Returns the stored sound.
pub(super) fn store(
    blobs: &Blobs,
    key: &BlobKey,
    sound: BlobWriter,
    warnings: &[PluginWarning],
) -> io::Result<File> {
    let last_character = key.id().bytes().last().unwrap_or_default();
    let lock = &STORING[usize::from(last_character) % STORING.len()];
    let _storing = lock.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stored_text) = find(blobs, key)? {
        return Ok(stored_text);
    }
    store_warnings(blobs, key, warnings)?;
    File::open(sound.finish_as(key)?)
}

/// Stores the warnings about a sound, even an empty list. Otherwise, every request would search
/// object storage for a missing file.
fn store_warnings(blobs: &Blobs, sound: &BlobKey, warnings: &[PluginWarning]) -> io::Result<()> {
    let key = warnings_key(sound.id()).map_err(io::Error::other)?;
    blobs.put(&key, &serde_json::to_vec(warnings)?)
}

fn warnings_key(id: &str) -> Result<BlobKey, BadBlobId> {
    BlobKey::new(FOLDER, id, WARNINGS_EXTENSION)
}

/// Deletes the sounds of a user that were used least recently, if together they exceed the quota,
/// and old warnings without a sound. The sound of `new` and those used since `since` are kept. With
/// object storage, the time of use is not known, and sounds are deleted in the order in which they
/// were stored. Renders that play a deleted sound keep its file until they end.
pub(super) fn keep_newest(
    state: &AppState,
    owner_id: &str,
    new: &BlobKey,
    since: SystemTime,
) -> io::Result<()> {
    let quota_bytes = state.config.limits.plugin_sounds_quota_bytes;
    let prefix = format!("{owner_id}_");
    let entries = state.blobs.entries(FOLDER)?.into_iter();
    let of_user = entries.filter(|entry| entry.id.starts_with(&prefix) && entry.id != new.id());
    let is_sound = |entry: &Entry| entry.extension == AudioFormat::Wav.extension();
    let (mut entries, warnings): (Vec<_>, Vec<_>) = of_user.partition(is_sound);
    let sound_ids: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    for entry in warnings {
        if !sound_ids.contains(entry.id.as_str())
            && entry.age() > LONE_WARNINGS_AGE
            && let Ok(key) = warnings_key(&entry.id)
        {
            state.blobs.remove(&key)?;
        }
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.stored_at));
    let mut kept_bytes =
        state.blobs.read_stored(new)?.map_or(Ok(0), |file| Ok::<_, io::Error>(file.metadata()?.len()))?;
    for entry in entries {
        kept_bytes = kept_bytes.saturating_add(entry.size_bytes);
        if kept_bytes > quota_bytes
            && entry.stored_at < since
            && let Ok(key) = BlobKey::new(FOLDER, &entry.id, AudioFormat::Wav.extension())
        {
            state.blobs.remove(&key)?;
            if let Ok(key) = warnings_key(&entry.id) {
                state.blobs.remove(&key)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::rendering::plugin_track::PluginFault;
    use crate::test_app::TestApp;

    #[tokio::test(flavor = "multi_thread")]
    async fn warnings_are_stored_and_deleted_with_their_sounds() {
        let app = TestApp::with(&[("SF_PLUGIN_SOUNDS_QUOTA_BYTES", "1000000")]).await;
        let blobs = &app.state.blobs;
        let warning = PluginWarning {
            plugin_name: "Echo".to_owned(),
            fault: PluginFault::UnknownValues(vec!["7".to_owned()]),
        };
        let [old, new] = ["old", "new"].map(|id| key("ada", id).expect("a key"));
        assert_eq!(warnings(blobs, &old).expect("reads"), []);
        for sound in [&old, &new] {
            store_warnings(blobs, sound, std::slice::from_ref(&warning)).expect("stores");
            blobs.put(sound, &[0; 600_000]).expect("stores");
            assert_eq!(warnings(blobs, sound).expect("reads"), std::slice::from_ref(&warning));
        }
        let ids = |owner_ids: &[&str]| {
            let owner_ids = owner_ids.iter().map(|id| (*id).to_owned()).collect();
            orphans(blobs, &owner_ids, Duration::ZERO).expect("lists").len()
        };
        assert_eq!((ids(&["ada"]), ids(&[])), (0, 4));
        let since = SystemTime::now() + Duration::from_secs(1);
        keep_newest(&app.state, "ada", &new, since).expect("deletes");
        let entries = blobs.entries(FOLDER).expect("lists");
        let mut names: Vec<_> = entries.iter().map(Entry::file_name).collect();
        names.sort();
        assert_eq!(names, ["ada_new.json", "ada_new.wav"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_first_sound_with_a_key_stays() {
        let app = TestApp::start().await;
        let blobs = &app.state.blobs;
        let key = key("ada", "sound").expect("a key");
        for content in [&b"first"[..], b"second"] {
            let mut writer = blobs.unnamed_writer(FOLDER).expect("starts");
            writer.write_all(content).expect("writes");
            let mut stored_text = String::new();
            store(blobs, &key, writer, &[]).expect("stores").read_to_string(&mut stored_text).expect("reads");
            assert_eq!(stored_text, "first");
        }
        assert_eq!(blobs.entries(FOLDER).expect("lists").len(), 2);
    }
}

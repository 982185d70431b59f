//! Stores finished renders, and handles `GET /plugins/renders/{render_id}/file` and `DELETE
//! /plugins/renders/{render_id}`.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::rendered_file::RenderedFile;
use crate::auth::CurrentUser;
use crate::encoding::audio_format::AudioFormat;
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::file_answer::FileAnswer;
use crate::rendering::wav_pcm_sha256;
use crate::state::AppState;
use crate::storage::{BadBlobId, BlobKey, Blobs, Entry, FileKind, Orphan, sha256_of};

/// Folder of renders in the blob storage.
pub(crate) const FOLDER: &str = "renders";

/// Maximum number of finished renders that a user keeps. Older ones are deleted.
const RENDERS_KEPT: usize = 50;

/// Largest size of a description in bytes. A receipt lists all parts of a song that are left out.
const DESCRIPTION_MAX_BYTES: u64 = 64 << 20;

/// Extension of the file with a render's description.
const DESCRIPTION_EXTENSION: &str = "json";

/// The files of renders: audio files and their descriptions.
pub(crate) const FILES: FileKind = FileKind { folder: FOLDER, extensions: &EXTENSIONS };

const EXTENSIONS: [&str; AudioFormat::EXTENSIONS.len() + 1] = {
    let mut extensions = [DESCRIPTION_EXTENSION; AudioFormat::EXTENSIONS.len() + 1];
    extensions.split_at_mut(AudioFormat::EXTENSIONS.len()).0.copy_from_slice(&AudioFormat::EXTENSIONS);
    extensions
};

/// The two files of a render. Their names begin with the owner's id, so that no other user can find
/// them.
pub(super) struct RenderKeys {
    pub(super) audio: BlobKey,
    description: BlobKey,
}

/// The description of a render, which is stored next to its audio.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RenderDescription {
    pub(super) title: String,
    /// SHA-256 of the samples in hexadecimal.
    pub(super) pcm_sha256: String,
    /// SHA-256 of the whole file; missing for WAV files, whose samples are checked.
    #[serde(default)]
    pub(super) file_sha256: Option<String>,
    /// Size of the file in bytes; missing in descriptions that earlier versions stored.
    #[serde(default)]
    pub(super) size_bytes: Option<u64>,
    /// Missing in descriptions that earlier versions stored.
    #[serde(default)]
    pub(super) format: AudioFormat,
    /// Missing in descriptions that earlier versions stored.
    #[serde(default)]
    pub(super) record: Option<RenderRecord>,
    /// The answer to the request, with the receipt; missing in descriptions that earlier versions
    /// stored.
    #[serde(default)]
    pub(super) answer: Option<Box<RawValue>>,
}

/// The properties of a render in the list of renders.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RenderRecord {
    pub(super) file: RenderedFile,
    /// Id of the rendered project; `None` for a converted file.
    pub(super) project_id: Option<String>,
    /// Time of the render, RFC 3339.
    pub(super) created_at: String,
}

impl RenderDescription {
    /// Returns the hash that identifies the file.
    fn file_hash(&self) -> &str {
        self.file_sha256.as_ref().unwrap_or(&self.pcm_sha256)
    }
}

impl RenderKeys {
    pub(super) fn new(owner_id: &str, render_id: &str, format: AudioFormat) -> ApiResult<Self> {
        Self::named(&format!("{owner_id}_{render_id}"), format)
            .map_err(|_| ApiError::not_found("render", render_id))
    }

    fn named(name: &str, format: AudioFormat) -> Result<Self, BadBlobId> {
        Ok(Self {
            audio: BlobKey::new(FOLDER, name, format.extension())?,
            description: BlobKey::new(FOLDER, name, DESCRIPTION_EXTENSION)?,
        })
    }
}

/// Returns the path to download the file of a render.
pub(super) fn audio_url(render_id: &str) -> String {
    format!("/api/v1/plugins/renders/{render_id}/file")
}

/// Stores the description of a render next to its audio.
pub(super) fn store_description(
    blobs: &Blobs,
    file: &RenderKeys,
    description: &RenderDescription,
) -> ApiResult<()> {
    let text = serde_json::to_vec(description).map_err(ApiError::internal)?;
    Ok(blobs.put(&file.description, &text)?)
}

/// Returns the descriptions of a user's renders, the newest first. Leaves out unreadable ones,
/// which [`faults`] reports. Blocks.
pub(super) fn descriptions(blobs: &Blobs, owner_id: &str) -> ApiResult<Vec<RenderDescription>> {
    let prefix = format!("{owner_id}_");
    let mut entries = blobs.entries(FOLDER)?;
    entries.retain(|entry| entry.extension == DESCRIPTION_EXTENSION && entry.id.starts_with(&prefix));
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.stored_at));
    let ids = entries.iter().filter_map(|entry| entry.id.strip_prefix(&prefix));
    let found_file = ids.filter_map(|render_id| match read_description(blobs, owner_id, render_id) {
        Ok(description) => description.map(Ok),
        Err(error) if is_damaged(&error) => {
            tracing::warn!(render_id, "the description of a render is damaged");
            None
        }
        Err(error) => Some(Err(error)),
    });
    found_file.collect()
}

/// Code of the error about a damaged description.
const DAMAGED: &str = "render_damaged";

fn is_damaged(error: &ApiError) -> bool {
    matches!(error, ApiError::Unprocessable { code: DAMAGED, .. })
}

/// Reads the description of a render. Returns `None` if there is no such render. Blocks.
///
/// # Errors
/// 422 `render_damaged` if the description is damaged.
pub(super) fn read_description(
    blobs: &Blobs,
    owner_id: &str,
    render_id: &str,
) -> ApiResult<Option<RenderDescription>> {
    // The key of the description is the same for every format.
    let file = RenderKeys::new(owner_id, render_id, AudioFormat::default())?;
    let Some(stored_bytes) = blobs.read_stored(&file.description)? else { return Ok(None) };
    let mut text = Vec::new();
    stored_bytes.take(DESCRIPTION_MAX_BYTES).read_to_end(&mut text)?;
    serde_json::from_slice(&text).map(Some).map_err(|_| ApiError::Unprocessable {
        code: DAMAGED,
        detail: format!("The description of the render `{render_id}` is damaged; delete the render."),
    })
}

/// Deletes the oldest renders of a user if there are more than [`RENDERS_KEPT`], or if together
/// they exceed the quota. The newest `new` ones are always kept, because their caller waits for
/// them.
pub(super) fn keep_newest(state: &AppState, owner_id: &str, new: usize) -> ApiResult<()> {
    let (blobs, quota_bytes) = (&state.blobs, state.config.limits.renders_quota_bytes);
    let prefix = format!("{owner_id}_");
    let mut audio: Vec<(AudioFormat, Entry)> = blobs
        .entries(FOLDER)?
        .into_iter()
        .filter(|entry| entry.id.starts_with(&prefix))
        .filter_map(|entry| Some((AudioFormat::of_extension(&entry.extension)?, entry)))
        .collect();
    audio.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.stored_at));
    let mut kept_bytes = 0_u64;
    for (index, (format, entry)) in audio.iter().enumerate() {
        kept_bytes = kept_bytes.saturating_add(entry.size_bytes);
        if index >= RENDERS_KEPT || (index >= new && kept_bytes > quota_bytes) {
            remove(blobs, &RenderKeys::named(&entry.id, *format).map_err(ApiError::internal)?)?;
        }
    }
    Ok(())
}

/// Removes both files of a render. It is not an error if one is missing. Audio without a
/// description is an orphan, so a crash in between leaves no damaged render.
fn remove(blobs: &Blobs, file: &RenderKeys) -> ApiResult<()> {
    blobs.remove(&file.description)?;
    Ok(blobs.remove_from_readers(&file.audio)?)
}

/// Returns the number of finished renders, and sentences about missing and damaged ones. If
/// `hashes` is true, the samples are also compared with the stored hash. Blocks.
///
/// # Errors
/// If the storage cannot be read.
pub(crate) fn faults(blobs: &Blobs, hashes: bool) -> ApiResult<(usize, Vec<String>)> {
    let (mut count, mut faults) = (0, Vec::new());
    // Audio without a description is an orphan, or its render is still running.
    for entry in blobs.durable_entries(FOLDER)? {
        if entry.extension != DESCRIPTION_EXTENSION {
            continue;
        }
        let Ok(key) = BlobKey::new(FOLDER, &entry.id, DESCRIPTION_EXTENSION) else { continue };
        let Some(mut stored_bytes) = blobs.read(&key)? else { continue };
        count += 1;
        let mut bytes = Vec::new();
        stored_bytes.read_to_end(&mut bytes)?;
        let Ok(known) = serde_json::from_slice::<RenderDescription>(&bytes) else {
            faults.push(format!("{} is damaged: it is not the description of a render", key.path()));
            continue;
        };
        let audio = BlobKey::new(FOLDER, &entry.id, known.format.extension()).map_err(ApiError::internal)?;
        match blobs.read(&audio)? {
            Some(file) => faults.extend(fault(file, &audio, &known, hashes)?),
            // The render may have been deleted since its description was read.
            None if !blobs.contains(&key)? => count -= 1,
            None => faults.push(format!("{} is missing", audio.path())),
        }
    }
    Ok((count, faults))
}

/// Returns a sentence about a file that differs from its description.
fn fault(
    file: File,
    key: &BlobKey,
    known: &RenderDescription,
    compare_hashes: bool,
) -> ApiResult<Option<String>> {
    let size_bytes = file.metadata()?.len();
    if let Some(known_bytes) = known.size_bytes
        && size_bytes != known_bytes
    {
        return Ok(Some(format!(
            "{} is damaged: it has {size_bytes} bytes instead of {known_bytes}",
            key.path()
        )));
    }
    if !compare_hashes {
        return Ok(None);
    }
    let found_file = match known.file_sha256 {
        Some(_) => Some(sha256_of(file)?),
        None => wav_pcm_sha256(file)?,
    };
    Ok(match found_file {
        Some(found_file) if found_file == known.file_hash() => None,
        Some(found_file) => Some(format!(
            "{} is damaged: the SHA-256 of its content is {found_file} instead of {}",
            key.path(),
            known.file_hash()
        )),
        None => {
            let format = known.format.extension().to_uppercase();
            Some(format!("{} is damaged: it is not a complete {format} file", key.path()))
        }
    })
}

/// Returns files of renders that are at least `age` old, and that lack their second file or whose
/// owner is not in `owner_ids`. Blocks.
///
/// # Errors
/// If the storage fails.
pub(crate) fn orphans(blobs: &Blobs, owner_ids: &HashSet<String>, age: Duration) -> ApiResult<Vec<Orphan>> {
    let entries = blobs.entries(FILES.folder)?;
    let mut file_counts: HashMap<&str, usize> = HashMap::new();
    for entry in entries.iter().filter(|entry| FILES.extensions.contains(&entry.extension.as_str())) {
        *file_counts.entry(&entry.id).or_default() += 1;
    }
    let is_complete = |id: &str| file_counts.get(id) == Some(&2);
    let is_owned = |id: &str| id.split_once('_').is_some_and(|(owner_id, _)| owner_ids.contains(owner_id));
    let orphans =
        entries.iter().filter(|entry| entry.age() >= age && !(is_complete(&entry.id) && is_owned(&entry.id)));
    Ok(orphans
        .filter_map(|entry| {
            let key = FILES.key(&entry.file_name())?;
            Some(Orphan { key, size_bytes: entry.size_bytes, stored_at: entry.stored_at })
        })
        .collect())
}

/// Returns the sizes in bytes of the files in a folder, summed by owner. The file names begin with
/// the owner's id. Blocks.
pub(crate) fn usage_of_all(blobs: &Blobs, folder: &'static str) -> ApiResult<HashMap<String, u64>> {
    let mut usage = HashMap::new();
    for (id, size_bytes) in blobs.sizes(folder)? {
        if let Some((owner_id, _)) = id.split_once('_') {
            *usage.entry(owner_id.to_owned()).or_default() += size_bytes;
        }
    }
    Ok(usage)
}

/// Sends the file of a finished render.
#[utoipa::path(get, path = "/plugins/renders/{render_id}/file", tag = "plugins",
    params(("render_id", description = "Id of the render")),
    responses((status = 200, description = "The file", content_type = AudioFormat::Wav.media_type(), headers(("ETag" = String))),
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the file"),
        (status = 416, description = "The range is outside the file")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(render_id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    send(&state, user.id, render_id, &headers).await
}

/// Sends the file of a render of `owner_id`.
///
/// # Errors
/// 404 if there is no such render.
pub(super) async fn send(
    state: &AppState,
    owner_id: String,
    render_id: String,
    headers: &HeaderMap,
) -> ApiResult<Response> {
    let (blobs, id) = (state.blobs.clone(), render_id.clone());
    let opened_files = tokio::task::spawn_blocking(move || -> ApiResult<_> {
        let Some(description) = read_description(&blobs, &owner_id, &id)? else { return Ok(None) };
        let audio = blobs.read_stored(&RenderKeys::new(&owner_id, &id, description.format)?.audio)?;
        Ok(audio.map(|audio| (audio, description)))
    });
    let (audio, description) =
        opened_files.await??.ok_or_else(|| ApiError::not_found("render", &render_id))?;
    let answer = FileAnswer {
        file: audio,
        etag: format!("\"{}\"", description.file_hash()),
        media_type: description.format.media_type(),
        save_as: Some(description.format.file_name(&description.title)),
    };
    answer.respond(headers)
}

/// Deletes a finished render and its file.
#[utoipa::path(delete, path = "/plugins/renders/{render_id}", tag = "plugins",
    params(("render_id", description = "Id of the render")),
    responses((status = 204, description = "Deleted")))]
pub(super) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(render_id): Path<String>,
) -> ApiResult<StatusCode> {
    let (blobs, owner_id, id) = (state.blobs.clone(), user.id.clone(), render_id.clone());
    let removal = tokio::task::spawn_blocking(move || -> ApiResult<bool> {
        let formats = match read_description(&blobs, &owner_id, &id) {
            Ok(None) => return Ok(false),
            Ok(Some(description)) => vec![description.format],
            // The format is unknown.
            Err(error) if is_damaged(&error) => AudioFormat::ALL.to_vec(),
            Err(error) => return Err(error),
        };
        for format in formats {
            remove(&blobs, &RenderKeys::new(&owner_id, &id, format)?)?;
        }
        Ok(true)
    });
    if !removal.await?? {
        return Err(ApiError::not_found("render", &render_id));
    }
    Ok(StatusCode::NO_CONTENT)
}

//! `GET /plugins/renders/{render_id}/file`, `DELETE /plugins/renders/{render_id}`, and how finished
//! renders are kept.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::RenderAnswer;
use crate::auth::CurrentUser;
use crate::blobs::{BadBlobId, BlobKey, Blobs, FileKind, Orphan};
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::Path;
use crate::file_answer::FileAnswer;
use crate::state::AppState;

/// Folder of the store that renders are in.
pub(crate) const FOLDER: &str = "renders";

/// Finished renders of a user that are kept; older ones make room.
const RENDERS_KEPT: usize = 50;

/// The two files of a render. Their names carry the owner, so nobody else's id finds them.
pub(super) struct RenderFile {
    pub(super) audio: BlobKey,
    about: BlobKey,
}

/// What is kept beside the audio.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct About {
    title: String,
    pub(super) pcm_sha256: String,
}

impl RenderFile {
    pub(super) fn new(owner_id: &str, render_id: &str) -> ApiResult<Self> {
        Self::named(&format!("{owner_id}_{render_id}")).map_err(|_| ApiError::not_found("render", render_id))
    }

    fn named(name: &str) -> Result<Self, BadBlobId> {
        Ok(Self { audio: BlobKey::new(FOLDER, name, "wav")?, about: BlobKey::new(FOLDER, name, "json")? })
    }
}

/// Where the file of a render is had.
pub(super) fn audio_url(render_id: &str) -> String {
    format!("/api/v1/plugins/renders/{render_id}/file")
}

/// Stores what is to be known of a render when its file is fetched.
pub(super) fn describe(
    blobs: &Blobs,
    file: &RenderFile,
    title: &str,
    answer: &RenderAnswer,
) -> ApiResult<()> {
    let about = About { title: title.to_owned(), pcm_sha256: answer.receipt.pcm_sha256.clone() };
    let text = serde_json::to_vec(&about).map_err(ApiError::internal)?;
    Ok(blobs.put(&file.about, &text)?)
}

/// Deletes a user's oldest renders beyond the number that is kept, and beyond `quota_bytes`
/// together. The newest one stays however large it is: somebody waits for it.
pub(super) fn keep_newest(blobs: &Blobs, owner_id: &str, quota_bytes: u64) -> ApiResult<()> {
    let prefix = format!("{owner_id}_");
    let mut audio = blobs.entries(FOLDER)?;
    audio.retain(|one| one.id.starts_with(&prefix) && one.extension == "wav");
    audio.sort_by_key(|one| std::cmp::Reverse(one.stored_at));
    let mut kept_bytes = 0_u64;
    for (place, one) in audio.iter().enumerate() {
        kept_bytes = kept_bytes.saturating_add(one.size_bytes);
        if place >= RENDERS_KEPT || (place > 0 && kept_bytes > quota_bytes) {
            remove(blobs, &RenderFile::named(&one.id).map_err(ApiError::internal)?)?;
        }
    }
    Ok(())
}

/// Removes both files of a render. One that is not there is no error.
fn remove(blobs: &Blobs, file: &RenderFile) -> ApiResult<()> {
    blobs.remove(&file.audio)?;
    Ok(blobs.remove(&file.about)?)
}

/// Files of renders: the sound, and what is to be known of it.
pub(crate) const FILES: FileKind = FileKind { folder: FOLDER, extensions: &["wav", "json"] };

/// Files of renders that were stored so long ago and lack their other half, or whose owner is none
/// of `owner_ids`. Blocks.
///
/// # Errors
/// When the storage refuses.
pub(crate) fn orphans(blobs: &Blobs, owner_ids: &HashSet<String>, age: Duration) -> ApiResult<Vec<Orphan>> {
    let entries = blobs.entries(FILES.folder)?;
    let mut halves: HashMap<&str, usize> = HashMap::new();
    for entry in entries.iter().filter(|entry| FILES.extensions.contains(&entry.extension.as_str())) {
        *halves.entry(&entry.id).or_default() += 1;
    }
    let is_whole = |id: &str| halves.get(id) == Some(&FILES.extensions.len());
    let is_owned = |id: &str| id.split_once('_').is_some_and(|(owner_id, _)| owner_ids.contains(owner_id));
    let orphans =
        entries.iter().filter(|entry| entry.age() >= age && !(is_whole(&entry.id) && is_owned(&entry.id)));
    Ok(orphans
        .filter_map(|entry| {
            let key = FILES.key(&entry.file_name())?;
            Some(Orphan { key, size_bytes: entry.size_bytes, stored_at: entry.stored_at })
        })
        .collect())
}

/// Bytes of the kept renders of every user, or of other files whose names begin with their owner's
/// id, by these ids. Blocks.
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
    responses((status = 200, description = "The file", content_type = "audio/wav", headers(("ETag" = String))),
        (status = 206, description = "The range that was asked for"),
        (status = 304, description = "`If-None-Match` names the file"),
        (status = 416, description = "The range lies outside the file"), CommonErrors))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(render_id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let file = RenderFile::new(&user.id, &render_id)?;
    let blobs = state.blobs.clone();
    let opened = tokio::task::spawn_blocking(move || -> ApiResult<_> {
        let (Some(audio), Some(mut about)) =
            (blobs.read_stored(&file.audio)?, blobs.read_stored(&file.about)?)
        else {
            return Ok(None);
        };
        let mut text = String::new();
        about.read_to_string(&mut text)?;
        let about: About = serde_json::from_str(&text).map_err(ApiError::internal)?;
        Ok(Some((audio, about)))
    });
    let (audio, about) = opened.await??.ok_or_else(|| ApiError::not_found("render", &render_id))?;
    let answer = FileAnswer {
        file: audio,
        etag: format!("\"{}\"", about.pcm_sha256),
        media_type: "audio/wav",
        save_as: Some(format!("{}.wav", about.title)),
    };
    answer.respond(&headers)
}

/// Deletes a finished render, whose file then takes no more room.
#[utoipa::path(delete, path = "/plugins/renders/{render_id}", tag = "plugins",
    params(("render_id", description = "Id of the render")),
    responses((status = 204, description = "It is gone"), CommonErrors))]
pub(super) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(render_id): Path<String>,
) -> ApiResult<StatusCode> {
    let file = RenderFile::new(&user.id, &render_id)?;
    let blobs = state.blobs.clone();
    let removed = tokio::task::spawn_blocking(move || -> ApiResult<bool> {
        let there = blobs.read_stored(&file.about)?.is_some();
        remove(&blobs, &file)?;
        Ok(there)
    });
    if !removed.await?? {
        return Err(ApiError::not_found("render", &render_id));
    }
    Ok(StatusCode::NO_CONTENT)
}

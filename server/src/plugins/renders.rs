//! `GET /plugins/renders/{render_id}/file`, and how finished renders are kept.

use std::collections::HashMap;
use std::io::Read as _;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::RenderAnswer;
use crate::auth::CurrentUser;
use crate::blobs::{BlobKey, Blobs};
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
struct About {
    title: String,
    pcm_sha256: String,
}

impl RenderFile {
    pub(super) fn new(owner_id: &str, render_id: &str) -> ApiResult<Self> {
        let name = format!("{owner_id}_{render_id}");
        let missing = |_| ApiError::not_found("render", render_id);
        Ok(Self {
            audio: BlobKey::new(FOLDER, &name, "wav").map_err(missing)?,
            about: BlobKey::new(FOLDER, &name, "json").map_err(missing)?,
        })
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

/// Deletes a user's oldest renders beyond the number that is kept.
pub(super) fn keep_newest(blobs: &Blobs, owner_id: &str) -> ApiResult<()> {
    let prefix = format!("{owner_id}_");
    let mut audio = blobs.entries(FOLDER)?;
    audio.retain(|one| one.id.starts_with(&prefix) && one.extension == "wav");
    audio.sort_by_key(|one| one.stored_at);
    for one in audio.iter().take(audio.len().saturating_sub(RENDERS_KEPT)) {
        for extension in ["wav", "json"] {
            blobs.remove(&BlobKey::new(FOLDER, &one.id, extension).map_err(ApiError::internal)?)?;
        }
    }
    Ok(())
}

/// Bytes of the kept renders of every user, or of other files whose names begin with their owner's id, by these ids. Blocks.
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
        let (Some(audio), Some(mut about)) = (blobs.read(&file.audio)?, blobs.read(&file.about)?) else {
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

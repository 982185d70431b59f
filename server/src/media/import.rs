//! `POST /media/import`.

use std::fs::File;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::listing::{EXTENSIONS, is_audio};
use super::roots::{MediaRoots, printable, unreadable_path_error};
use crate::audio::{self, AudioFile};
use crate::auth::Admin;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Json;
use crate::permits::Caller;
use crate::state::AppState;

/// Maximum number of files in one request.
const FILES_MAX: usize = 100;

/// Files to import.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MediaImport {
    /// Absolute paths of 1 to 100 audio files.
    paths: Vec<String>,
}

/// Result of an import.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ImportedMedia {
    /// The imported files.
    files: Vec<ImportedFile>,
    /// The refused files, each with the reason.
    refused: Vec<RefusedMedia>,
}

/// A file that was imported.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ImportedFile {
    /// Path of the original file.
    path: String,
    /// Whether the caller already had a file with the same bytes. If so, `file` is that earlier
    /// file.
    known: bool,
    /// The imported audio file.
    file: AudioFile,
}

/// A refused file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RefusedMedia {
    /// Path of the file, as requested.
    path: String,
    /// Reason for the refusal.
    problem: Problem,
}

/// Imports audio files from this machine by their paths, without an upload. The limits and the
/// quota of uploads apply. If all files are refused, the answer is the problem of the first file.
/// Only administrators may do this.
#[utoipa::path(post, path = "/media/import", tag = "media", security(("bearer" = ["admin"])), request_body = MediaImport,
    responses((status = 201, body = ImportedMedia),
        (status = 422, description = "`audio_damaged` or `audio_limit`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn import(
    State(state): State<AppState>,
    Admin(user): Admin,
    Json(MediaImport { paths }): Json<MediaImport>,
) -> ApiResult<(StatusCode, Json<ImportedMedia>)> {
    if !(1..=FILES_MAX).contains(&paths.len()) {
        let detail = format!("`paths` has {} entries; expected 1 to {FILES_MAX}", paths.len());
        return Err(ApiError::bad_request("bad_paths", detail));
    }
    let (runtime, owner_id) = (Handle::current(), user.id.clone());
    let permits = state.audio.decoding.clone();
    let work = move |caller: &Caller| import_all(&state, &runtime, &owner_id, paths, caller);
    Ok((StatusCode::CREATED, Json(permits.run_for(&user.id, 1, work).await?)))
}

fn import_all(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    paths: Vec<String>,
    caller: &Caller,
) -> ApiResult<ImportedMedia> {
    let roots = MediaRoots::new(&state.config.folders.media_dirs);
    let mut answer = ImportedMedia { files: Vec::new(), refused: Vec::new() };
    let mut first_error = None;
    for path in paths {
        match import_one(state, runtime, owner_id, &roots, &path, caller) {
            Ok((file, is_known)) => answer.files.push(ImportedFile { path, known: is_known, file }),
            // The cause of this error, such as a full disk, would also stop every other import.
            Err(error) if !error.refuses_one_file() => return Err(error),
            Err(error) => {
                answer.refused.push(RefusedMedia { path, problem: error.problem() });
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if answer.files.is_empty() => Err(error),
        _ => Ok(answer),
    }
}

fn import_one(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    roots: &MediaRoots,
    path: &str,
    caller: &Caller,
) -> ApiResult<(AudioFile, bool)> {
    let real_path = roots.resolve(path)?;
    let name = real_path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The file is checked before it is opened, because opening a pipe would block.
    let is_file = std::fs::metadata(&real_path).is_ok_and(|metadata| metadata.is_file());
    if !is_file || !is_audio(&name) {
        let detail = format!(
            "`{}` is not a file with one of the extensions {}.",
            printable(path),
            EXTENSIONS.join(", ")
        );
        return Err(ApiError::bad_request("not_an_audio_file", detail));
    }
    let mut content = File::open(&real_path).map_err(|error| unreadable_path_error(path, &error))?;
    audio::import_content(state, runtime, owner_id, &name, &mut content, &mut |_| !caller.has_disconnected())
}

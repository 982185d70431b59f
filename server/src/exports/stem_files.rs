//! `GET /multitrack/stems/{stems_id}/file`, and how finished archives of stems are kept.

use std::fs::File;
use std::io::{self, BufReader};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::Path;
use crate::file_answer::FileAnswer;
use crate::state::AppState;
use crate::storage::{BlobKey, Blobs, FileKind};

/// Folder of the store that archives of stems are in.
pub(crate) const FOLDER: &str = "stems";

/// Files of stems.
pub(crate) const FILES: FileKind = FileKind { folder: FOLDER, extensions: &["zip"] };

/// Finished archives of a user that are kept; older ones make room.
const KEPT: usize = 10;

/// The file of an archive. Its name carries the owner, so nobody else's id finds it.
pub(super) fn key(owner_id: &str, stems_id: &str) -> ApiResult<BlobKey> {
    BlobKey::new(FOLDER, &format!("{owner_id}_{stems_id}"), "zip")
        .map_err(|_| ApiError::not_found("archive of stems", stems_id))
}

/// Where an archive is had.
pub(super) fn url(stems_id: &str) -> String {
    format!("/api/v1/multitrack/stems/{stems_id}/file")
}

/// Deletes a user's oldest archives beyond the number that is kept.
pub(super) fn keep_newest(blobs: &Blobs, owner_id: &str) -> ApiResult<()> {
    let prefix = format!("{owner_id}_");
    let mut archives = blobs.entries(FOLDER)?;
    archives.retain(|one| one.id.starts_with(&prefix));
    archives.sort_by_key(|one| one.stored_at);
    for one in archives.iter().take(archives.len().saturating_sub(KEPT)) {
        blobs.remove(&BlobKey::new(FOLDER, &one.id, "zip").map_err(ApiError::internal)?)?;
    }
    Ok(())
}

/// The number of finished archives, and their faults in sentences. With `hashes` their entries are
/// read, each of which has a checksum. Blocks.
///
/// # Errors
/// When the storage cannot be read.
pub(crate) fn faults(blobs: &Blobs, hashes: bool) -> ApiResult<(usize, Vec<String>)> {
    let (mut count, mut faults) = (0, Vec::new());
    for entry in blobs.durable_entries(FOLDER)? {
        let Some(key) = FILES.key(&entry.file_name()) else { continue };
        let Some(file) = blobs.read_stored(&key)? else { continue };
        count += 1;
        if let Err(error) = read_archive(file, hashes) {
            faults.push(format!("{} is damaged: {error}", key.path()));
        }
    }
    Ok((count, faults))
}

/// Opens an archive, and with `entries` reads all of them to their ends.
fn read_archive(file: File, entries: bool) -> zip::result::ZipResult<()> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    let count = if entries { archive.len() } else { 0 };
    for number in 0..count {
        io::copy(&mut archive.by_index(number)?, &mut io::sink())?;
    }
    Ok(())
}

/// Sends a finished archive of stems.
#[utoipa::path(get, path = "/multitrack/stems/{stems_id}/file", tag = "multitrack",
    params(("stems_id", description = "Id of the archive")),
    responses((status = 200, description = "The archive", content_type = "application/zip",
            headers(("ETag" = String))),
        (status = 206, description = "The range that was asked for"),
        (status = 304, description = "`If-None-Match` names the archive"),
        (status = 416, description = "The range lies outside the archive"), CommonErrors))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(stems_id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let key = key(&user.id, &stems_id)?;
    let blobs = state.blobs.clone();
    let file = tokio::task::spawn_blocking(move || blobs.read_stored(&key)).await??;
    let file = file.ok_or_else(|| ApiError::not_found("archive of stems", &stems_id))?;
    let answer = FileAnswer {
        file,
        etag: format!("\"{stems_id}\""),
        media_type: "application/zip",
        save_as: Some("Stems.zip".to_owned()),
    };
    answer.respond(&headers)
}

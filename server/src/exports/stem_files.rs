//! Stores finished archives of stems, and handles `GET /multitrack/stems/{stems_id}/file`.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use zip::result::ZipError;

use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::file_answer::FileAnswer;
use crate::state::AppState;
use crate::storage::{BlobKey, Blobs, FileKind};

/// Folder of archives of stems in the blob storage.
pub(crate) const FOLDER: &str = "stems";

/// The files of archives of stems.
pub(crate) const FILES: FileKind = FileKind { folder: FOLDER, extensions: &["zip"] };

/// Maximum number of finished archives that a user keeps. Older ones are deleted.
const ARCHIVES_KEPT: usize = 10;

/// Returns the key of an archive. Its name begins with the owner's id, so that no other user can
/// find it.
pub(super) fn key(owner_id: &str, stems_id: &str) -> ApiResult<BlobKey> {
    BlobKey::new(FOLDER, &format!("{owner_id}_{stems_id}"), "zip")
        .map_err(|_| ApiError::not_found("archive of stems", stems_id))
}

/// Returns the path to download an archive.
pub(super) fn url(stems_id: &str) -> String {
    format!("/api/v1/multitrack/stems/{stems_id}/file")
}

/// Deletes the oldest archives of a user if there are more than [`ARCHIVES_KEPT`].
pub(super) fn keep_newest(blobs: &Blobs, owner_id: &str) -> ApiResult<()> {
    let prefix = format!("{owner_id}_");
    let mut archives = blobs.entries(FOLDER)?;
    archives.retain(|archive| archive.id.starts_with(&prefix));
    archives.sort_by_key(|archive| archive.stored_at);
    for archive in archives.iter().take(archives.len().saturating_sub(ARCHIVES_KEPT)) {
        blobs.remove_from_readers(&BlobKey::new(FOLDER, &archive.id, "zip").map_err(ApiError::internal)?)?;
    }
    Ok(())
}

/// Returns the number of finished archives, and sentences about damaged ones. If `hashes` is true,
/// the checksum of each entry is also verified. Blocks.
///
/// # Errors
/// If the storage cannot be read.
pub(crate) fn faults(blobs: &Blobs, hashes: bool) -> ApiResult<(usize, Vec<String>)> {
    let (mut count, mut faults) = (0, Vec::new());
    for entry in blobs.durable_entries(FOLDER)? {
        let Some(key) = FILES.key(&entry.file_name()) else { continue };
        let Some(file) = blobs.read_stored(&key)? else { continue };
        count += 1;
        if let Err(error) = check_archive(file, hashes) {
            faults.push(format!("{} is damaged: {error}", key.path()));
        }
    }
    Ok((count, faults))
}

/// Length in bytes of the record at the end of an archive, and its signature (APPNOTE.TXT, section
/// 4.3.16). Archives of stems have no comment, so nothing follows the record.
const END_RECORD_BYTES: i64 = 22;
const END_RECORD_SIGNATURE: [u8; 4] = *b"PK\x05\x06";

/// Opens an archive. If `read_entries` is true, also reads all its entries, which verifies their
/// checksums.
fn check_archive(mut file: File, read_entries: bool) -> zip::result::ZipResult<()> {
    let mut signature = [0; END_RECORD_SIGNATURE.len()];
    file.seek(SeekFrom::End(-END_RECORD_BYTES))?;
    file.read_exact(&mut signature)?;
    if signature != END_RECORD_SIGNATURE {
        return Err(ZipError::InvalidArchive(
            "it does not end with its list of files (the end of central directory record)".into(),
        ));
    }
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    let count = if read_entries { archive.len() } else { 0 };
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
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the archive"),
        (status = 416, description = "The range is outside the archive")))]
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

//! `GET /media/drives`.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::roots::MediaRoots;
use crate::auth::Admin;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::paging::{Page, PageQuery};
use crate::state::AppState;

/// A media folder.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Drive {
    /// Absolute path of the folder.
    path: String,
    /// Name of the folder: the last part of its path.
    name: String,
    /// Whether the folder exists and can be reached now.
    available: bool,
    /// Size of the folder's disk in bytes; null if the system does not report it.
    total_bytes: Option<u64>,
    /// Free space on the folder's disk in bytes; null if the system does not report it.
    free_bytes: Option<u64>,
}

/// List of the media folders.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DriveList {
    /// The folders, in the order of the settings.
    items: Vec<Drive>,
    /// Cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

/// Lists the media folders (`SF_MEDIA_DIRS`). Only administrators may do this.
#[utoipa::path(get, path = "/media/drives", tag = "media", security(("bearer" = ["admin"])), params(PageQuery),
    responses((status = 200, body = DriveList)))]
pub(super) async fn list(
    State(state): State<AppState>,
    _: Admin,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<DriveList>> {
    let listing = tokio::task::spawn_blocking(move || {
        let roots = MediaRoots::new(&state.config.folders.media_dirs);
        roots.configured().iter().map(|dir| drive(dir)).collect()
    });
    let Page { items, next_cursor } =
        Page::of_whole(listing.await?, &query, |drive: &Drive| drive.path.clone())?;
    Ok(Json(DriveList { items, next_cursor }))
}

fn drive(dir: &std::path::Path) -> Drive {
    let (total_bytes, free_bytes) = space(dir).unzip();
    let name = dir.file_name().map_or_else(|| dir.to_string_lossy(), |name| name.to_string_lossy());
    Drive {
        path: dir.to_string_lossy().into_owned(),
        name: name.into_owned(),
        available: dir.is_dir(),
        total_bytes,
        free_bytes,
    }
}

/// Returns the total and the free space of a folder's disk, in bytes.
#[cfg(unix)]
fn space(dir: &std::path::Path) -> Option<(u64, u64)> {
    let stats = nix::sys::statvfs::statvfs(dir).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(stats.fragment_size());
    Some((bytes(stats.blocks()), bytes(stats.blocks_available())))
}

/// Returns `None`, because the free space is read only on Unix systems.
#[cfg(not(unix))]
fn space(_: &std::path::Path) -> Option<(u64, u64)> {
    None
}

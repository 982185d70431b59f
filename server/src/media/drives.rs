//! `GET /media/drives`.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::roots::MediaRoots;
use crate::auth::Admin;
use crate::error::{ApiResult, CommonErrors};
use crate::extract::{Json, Query};
use crate::paging::{Page, PageQuery};
use crate::state::AppState;

/// A media folder.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Drive {
    /// Its whole path.
    path: String,
    /// Its name.
    name: String,
    /// Whether it is available now.
    available: bool,
    /// Space on its disk in bytes; null where the system does not say.
    total_bytes: Option<u64>,
    /// Space that is free on its disk in bytes; null where the system does not say.
    free_bytes: Option<u64>,
}

/// The media folders.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DriveList {
    /// The folders, in the order of the settings.
    items: Vec<Drive>,
    /// Where the next page starts; null on the last one.
    next_cursor: Option<String>,
}

/// Lists the media folders (`SF_MEDIA_DIRS`). Administrators only.
#[utoipa::path(get, path = "/media/drives", tag = "media", security(("bearer" = ["admin"])), params(PageQuery),
    responses((status = 200, body = DriveList), CommonErrors))]
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

/// Total and free space on the disk of a folder.
#[cfg(unix)]
fn space(dir: &std::path::Path) -> Option<(u64, u64)> {
    let stats = nix::sys::statvfs::statvfs(dir).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(stats.fragment_size());
    Some((bytes(stats.blocks()), bytes(stats.blocks_available())))
}

/// Unknown on other systems.
#[cfg(not(unix))]
fn space(_: &std::path::Path) -> Option<(u64, u64)> {
    None
}

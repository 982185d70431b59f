//! `GET /media/drives`.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::places::Places;
use crate::auth::Admin;
use crate::error::{ApiResult, CommonErrors};
use crate::extract::{Json, Query};
use crate::paging::{Page, PageQuery};
use crate::state::AppState;

/// A folder that may be looked into.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Drive {
    /// Its whole path.
    path: String,
    /// Its name.
    name: String,
    /// Whether it is there now.
    available: bool,
    /// Space on its disk in bytes; null where the system does not say.
    total_bytes: Option<u64>,
    /// Space that is free on its disk in bytes; null where the system does not say.
    free_bytes: Option<u64>,
}

/// The folders that may be looked into.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DriveList {
    /// As the settings name them.
    items: Vec<Drive>,
    /// Where the next page starts; null on the last one.
    next_cursor: Option<String>,
}

/// Lists the folders that may be looked into (`SF_MEDIA_DIRS`). Administrators only.
#[utoipa::path(get, path = "/media/drives", tag = "media", security(("bearer" = ["admin"])), params(PageQuery),
    responses((status = 200, body = DriveList), CommonErrors))]
pub(super) async fn list(
    State(state): State<AppState>,
    _: Admin,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<DriveList>> {
    let listing = tokio::task::spawn_blocking(move || {
        let places = Places::new(&state.config.folders.media_dirs);
        places.named().iter().map(|dir| drive(dir)).collect()
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

/// Space on a folder's disk, and what of it is free.
#[cfg(unix)]
fn space(dir: &std::path::Path) -> Option<(u64, u64)> {
    let facts = nix::sys::statvfs::statvfs(dir).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(facts.fragment_size());
    Some((bytes(facts.blocks()), bytes(facts.blocks_available())))
}

/// The system is not asked here.
#[cfg(not(unix))]
fn space(_: &std::path::Path) -> Option<(u64, u64)> {
    None
}

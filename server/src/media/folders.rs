//! `GET /media/tree`.

use std::fs;
use std::path::Path;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::places::{Places, unreadable};
use super::queries::TreeQuery;
use crate::auth::Admin;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::{Json, Query};
use crate::state::AppState;

/// Deepest tree that is shown at once, in levels.
const DEPTH_MAX: u32 = 5;

/// Most folders that one answer shows.
const FOLDERS_MAX: usize = 5_000;

/// A folder.
#[derive(Debug, Serialize, ToSchema)]
#[schema(no_recursion)]
pub(super) struct Folder {
    /// Its whole path.
    path: String,
    /// Its name.
    name: String,
    /// The folders in it by name; null if they were not looked for: ask with this folder's path.
    folders: Option<Vec<Folder>>,
}

/// A part of the folders.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Tree {
    /// The folder that was asked for.
    #[serde(flatten)]
    folder: Folder,
    /// Whether there are more folders than one answer shows.
    truncated: bool,
}

/// Shows the folders below a folder, some levels deep. Hidden ones, and links that lead out of the
/// folders that may be looked into, are left out. Administrators only.
#[utoipa::path(get, path = "/media/tree", tag = "media", security(("bearer" = ["admin"])), params(TreeQuery),
    responses((status = 200, body = Tree), CommonErrors))]
pub(super) async fn tree(
    State(state): State<AppState>,
    _: Admin,
    Query(TreeQuery { path, depth }): Query<TreeQuery>,
) -> ApiResult<Json<Tree>> {
    let depth = depth.unwrap_or(1);
    if !(1..=DEPTH_MAX).contains(&depth) {
        let detail = format!("`depth` is {depth}; expected 1 to {DEPTH_MAX}");
        return Err(ApiError::bad_request("bad_query", detail));
    }
    let looking = tokio::task::spawn_blocking(move || {
        let places = Places::new(&state.config.folders.media_dirs);
        let real = places.resolve(&path)?;
        let mut left = FOLDERS_MAX;
        let folders = below(&places, &real, depth, &mut left).map_err(|error| unreadable(&path, &error))?;
        let name = real.file_name().unwrap_or(real.as_os_str()).to_string_lossy().into_owned();
        let folder = Folder { path: real.to_string_lossy().into_owned(), name, folders: Some(folders) };
        Ok::<_, ApiError>(Tree { folder, truncated: left == 0 })
    });
    Ok(Json(looking.await??))
}

/// The folders in a folder by name, with those in them as far as `depth` and `left` go.
fn below(places: &Places, dir: &Path, depth: u32, left: &mut usize) -> std::io::Result<Vec<Folder>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(dir)?.flatten() {
        if *left == 0 {
            break;
        }
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let Some((path, facts)) = places.entry(&entry) else { continue };
        if let Some(path) = path.to_str().filter(|_| facts.is_dir()) {
            *left -= 1;
            folders.push(Folder { path: path.to_owned(), name: name.to_owned(), folders: None });
        }
    }
    folders.sort_by_cached_key(|folder| (folder.name.to_lowercase(), folder.name.clone()));
    if depth > 1 {
        for folder in &mut folders {
            // One that cannot be read stays without an answer.
            folder.folders = below(places, Path::new(&folder.path), depth - 1, left).ok();
        }
    }
    Ok(folders)
}

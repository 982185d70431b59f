//! `GET /media/tree`.

use std::fs;
use std::path::Path;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::queries::TreeQuery;
use super::roots::{MediaRoots, unreadable_path_error};
use crate::auth::Admin;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Query};
use crate::state::AppState;

/// Maximum depth of a tree, in levels.
const DEPTH_MAX: u32 = 5;

/// Maximum number of folders in an answer.
const FOLDERS_MAX: usize = 5_000;

/// A folder below a media folder, with its subfolders.
#[derive(Debug, Serialize, ToSchema)]
#[schema(no_recursion)]
pub(super) struct Folder {
    /// Absolute path of the folder.
    path: String,
    /// Name of the folder.
    name: String,
    /// Folders in this folder, sorted by name. Null if they were not read, and for a link to a
    /// folder above; a request with this folder's path lists them.
    folders: Option<Vec<Folder>>,
}

/// A part of the folder tree.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Tree {
    /// The requested folder.
    #[serde(flatten)]
    folder: Folder,
    /// Whether the answer has its maximum of 5,000 folders, so that others may be missing.
    truncated: bool,
}

/// Lists the folders below a folder, down to `depth` levels. Omits hidden folders and links that
/// lead out of the media folders. Only administrators may do this.
#[utoipa::path(get, path = "/media/tree", tag = "media", security(("bearer" = ["admin"])), params(TreeQuery),
    responses((status = 200, body = Tree)))]
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
    let listing_task = tokio::task::spawn_blocking(move || {
        let roots = MediaRoots::new(&state.config.folders.media_dirs);
        let real_path = roots.resolve(&path)?;
        let mut budget = FOLDERS_MAX;
        let folders = list_subfolders(&roots, &real_path, depth, &mut budget)
            .map_err(|error| unreadable_path_error(&path, &error))?;
        let name = real_path.file_name().unwrap_or(real_path.as_os_str()).to_string_lossy().into_owned();
        let folder = Folder { path: real_path.to_string_lossy().into_owned(), name, folders: Some(folders) };
        Ok::<_, ApiError>(Tree { folder, truncated: budget == 0 })
    });
    Ok(Json(listing_task.await??))
}

/// Returns the folders in a folder, sorted by name and nested down to `depth` levels. Stops at
/// `budget` folders and subtracts those it returns.
fn list_subfolders(
    roots: &MediaRoots,
    dir: &Path,
    depth: u32,
    budget: &mut usize,
) -> std::io::Result<Vec<Folder>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(dir)?.flatten() {
        if *budget == 0 {
            break;
        }
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let Some((path, metadata)) = roots.entry(&entry) else { continue };
        if let Some(path) = path.to_str().filter(|_| metadata.is_dir()) {
            *budget -= 1;
            folders.push(Folder { path: path.to_owned(), name: name.to_owned(), folders: None });
        }
    }
    folders.sort_by_cached_key(|folder| (folder.name.to_lowercase(), folder.name.clone()));
    if depth > 1 {
        // A link to a folder above would list the same folders again.
        for folder in folders.iter_mut().filter(|folder| !dir.starts_with(&folder.path)) {
            // The value stays `None` if the folder cannot be read.
            folder.folders = list_subfolders(roots, Path::new(&folder.path), depth - 1, budget).ok();
        }
    }
    Ok(folders)
}

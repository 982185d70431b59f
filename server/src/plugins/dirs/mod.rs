//! `/plugins/dirs`: plugin folders of a user, or in `container` of the installation.

mod folder_rules;
mod queries;
pub(super) mod store;

use axum::extract::State;
pub(super) use folder_rules::FolderRules;
use folder_rules::printable;
use queries::PluginDirQuery;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::{self, Action};
use crate::auth::{CurrentUser, LoggedInAdminOrLocal};
use crate::config::{Config, Environment};
use crate::db::Db;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Query};
use crate::paging::{Page, PageQuery};
use crate::state::AppState;

/// Maximum number of plugin folders per user.
const DIRS_MAX: i64 = 32;

/// Maximum length of a path in bytes; a longer one does not fit into an index of PostgreSQL.
const PATH_MAX_BYTES: usize = 2048;

/// Whether plugin folders belong to the installation, so that all users have the plugins in them.
pub(super) fn are_shared(environment: Environment) -> bool {
    environment == Environment::Container
}

/// Returns the plugin folders of a user, or all folders if they are shared.
pub(super) async fn folders_of(
    db: &Db,
    owner_id: &str,
    are_shared: bool,
) -> Result<Vec<String>, sqlx::Error> {
    if are_shared { store::of_all(db).await } else { store::of_user(db, owner_id).await }
}

/// Plugin folders of a user, or in `container` of the installation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PluginDirs {
    /// Absolute paths of the folders, without symbolic links, in the order in which they were
    /// added.
    plugin_dirs: Vec<String>,
    /// Usual plugin folders of the system (`SF_PLUGIN_SUGGESTED_DIRS`) that exist and that the
    /// caller may add, as absolute paths without symbolic links. Folders in the list, and folders
    /// below them, are left out. Empty for callers who may not add folders.
    suggested: Vec<String>,
    /// Cursor of the next page; null on the last page and in answers that contain all folders.
    next_cursor: Option<String>,
}

/// A plugin folder.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginDir {
    /// Absolute path of the folder; at most 2048 bytes.
    #[schema(min_length = 1, max_length = 2048)]
    path: String,
}

/// Lists the caller's plugin folders; in `container`, those of the installation. Suggests the usual
/// folders of the system that exist; they are scanned only after somebody has added them.
#[utoipa::path(get, path = "/plugins/dirs", tag = "plugins", params(PageQuery),
    responses((status = 200, body = PluginDirs)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<PluginDirs>> {
    let PluginDirs { plugin_dirs: dirs, suggested, .. } = dirs_of(&state, &user).await?.0;
    let Page { items, next_cursor } = Page::of_whole(dirs, &query, String::clone)?;
    Ok(Json(PluginDirs { plugin_dirs: items, suggested, next_cursor }))
}

/// Adds a folder to the caller's plugin folders, of which there may be 32. The folder may also
/// contain SoundFonts. Only administrators and callers on this machine may add one, because scans
/// run the code of plugins. The folder must be below `SF_PLUGIN_ROOTS`; a desktop without this
/// setting allows all folders. A folder in the storage folder is refused. Adding a folder twice
/// changes nothing. In `container` the folder belongs to the installation: all users have its
/// plugins.
#[utoipa::path(post, path = "/plugins/dirs", tag = "plugins", security(("bearer" = ["admin", "local", "log_in"])), request_body = PluginDir,
    responses((status = 200, body = PluginDirs),
        (status = 400, description = "`not_a_whole_path` or `not_a_folder`", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "`outside_plugin_roots`, `inside_storage`, `not_readable`, or the caller may not",
            body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such folder", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`too_many_dirs`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn add(
    State(state): State<AppState>,
    LoggedInAdminOrLocal(user): LoggedInAdminOrLocal,
    Json(PluginDir { path }): Json<PluginDir>,
) -> ApiResult<Json<PluginDirs>> {
    if path.len() > PATH_MAX_BYTES {
        let detail = format!("`path` has {} bytes; at most {PATH_MAX_BYTES} are allowed.", path.len());
        return Err(ApiError::bad_request("not_a_whole_path", detail));
    }
    let rules = FolderRules::new(&state.config);
    let admitting = tokio::task::spawn_blocking(move || rules.resolve().admit(&path));
    let real_path = admitting.await??;
    let Some(path) = real_path.to_str().filter(|path| path.len() <= PATH_MAX_BYTES) else {
        let detail = format!(
            "Without symbolic links, the folder's path is `{}`, which is not valid Unicode or has more than {PATH_MAX_BYTES} \
             bytes.",
            printable(&real_path.to_string_lossy())
        );
        return Err(ApiError::bad_request("not_a_whole_path", detail));
    };
    if !store::add(&state.db, &user.id, path, DIRS_MAX).await? {
        return Err(ApiError::Unprocessable {
            code: "too_many_dirs",
            detail: format!(
                "You already have {DIRS_MAX} plugin folders, which is the maximum; remove one first."
            ),
        });
    }
    audit::record(&state.db, &user.who(), Action::PluginDirAdded, path, "").await;
    dirs_of(&state, &user).await
}

/// Removes a folder from the caller's plugin folders; in `container`, from those of the
/// installation, whoever added it. The folder itself stays on the disk.
/// Only administrators and callers on this machine may do this.
#[utoipa::path(delete, path = "/plugins/dirs", tag = "plugins", security(("bearer" = ["admin", "local", "log_in"])), params(PluginDirQuery),
    responses((status = 200, body = PluginDirs),
        (status = 404, description = "The folder is not in the list", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn remove(
    State(state): State<AppState>,
    LoggedInAdminOrLocal(user): LoggedInAdminOrLocal,
    Query(PluginDirQuery { path }): Query<PluginDirQuery>,
) -> ApiResult<Json<PluginDirs>> {
    let remove = async || match are_shared(state.config.environment) {
        true => store::remove_of_all(&state.db, &path).await,
        false => store::remove(&state.db, &user.id, &path).await,
    };
    if path.contains('\0') || !remove().await? {
        return Err(ApiError::not_found("plugin folder", &printable(&path)));
    }
    audit::record(&state.db, &user.who(), Action::PluginDirRemoved, &path, "").await;
    dirs_of(&state, &user).await
}

async fn dirs_of(state: &AppState, user: &CurrentUser) -> ApiResult<Json<PluginDirs>> {
    let plugin_dirs = folders_of(&state.db, &user.id, are_shared(state.config.environment)).await?;
    let suggested = match user.may_scan() {
        true => suggested(&state.config, plugin_dirs.clone()).await?,
        false => Vec::new(),
    };
    Ok(Json(PluginDirs { plugin_dirs, suggested, next_cursor: None }))
}

/// Returns the suggested folders that can be added and are not in a folder of `added_paths`.
async fn suggested(config: &Config, added_paths: Vec<String>) -> ApiResult<Vec<String>> {
    let (rules, dirs) = (FolderRules::new(config), config.plugins.suggested_dirs.clone());
    let checking = tokio::task::spawn_blocking(move || {
        let rules = rules.resolve();
        let mut suggested: Vec<String> = Vec::new();
        for dir in dirs {
            let Some(real_path) = dir.to_str().and_then(|path| rules.admit(path).ok()) else { continue };
            let is_added = added_paths.iter().chain(&suggested).any(|dir| real_path.starts_with(dir));
            suggested.extend(real_path.to_str().filter(|_| !is_added).map(str::to_owned));
        }
        suggested
    });
    Ok(checking.await?)
}

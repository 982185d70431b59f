//! `POST /plugins/scan`.

use std::collections::HashMap;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use schemas::json::JsonText;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::modules::{Remark, Scan, UnclassifiedModule};
use super::queries::ScanQuery;
use super::vst::VstFormat;
use crate::audit::{self, Action};
use crate::auth::LoggedInAdminOrLocal;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Query};
use crate::soundfonts::{ShadowedSoundFont, Snapshot, SoundFont, SoundFontSource};
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskContext, TaskKind};

/// Interval of the progress reports of a task.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Plugins and SoundFonts found in the caller's folders.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ScanAnswer {
    /// Total number of instruments, effects and entries of `unclassified`.
    vst_found: usize,
    /// Number of plugins that are instruments.
    instruments: usize,
    /// Number of plugins that are audio effects.
    effects: usize,
    /// Plugins of unknown kind, and modules that could not be scanned.
    unclassified: Vec<UnclassifiedPlugin>,
    /// Modules that are not used, and modules with a plugin that another module also contains. Also
    /// SoundFonts in these folders that are not used because another SoundFont has the same id.
    /// Each entry has the reason.
    ignored: Vec<ScanRemark>,
    /// Folders that could not be searched, each with the reason.
    unreadable: Vec<ScanRemark>,
    /// Whether the search stopped early at one of its limits: 8 levels of folders, 50,000 entries,
    /// 2,000 modules and 2,000 SoundFonts.
    truncated: bool,
    /// SoundFonts of the catalogue that are in these folders, and SoundFonts that the caller has
    /// uploaded.
    soundfonts: Vec<ScannedSoundFont>,
    /// Whether a cached list of effects of any user was discarded. If so, clients should request
    /// their lists again.
    fx_cache_invalidated: bool,
    /// Time when the scan ended, RFC 3339.
    scanned_at: String,
}

/// A plugin of unknown kind, or a module that could not be scanned.
#[derive(Debug, Serialize, ToSchema)]
struct UnclassifiedPlugin {
    /// Name of the plugin or, if it is unknown, of its module.
    name: String,
    /// Plugin format: VST2 or VST3.
    format: VstFormat,
    /// Path of the plugin's module.
    path: String,
    /// Reason why the plugin's kind is unknown or the module could not be scanned.
    reason: String,
}

/// A file or folder with a remark.
#[derive(Debug, Serialize, ToSchema)]
struct ScanRemark {
    /// Path of the file or folder.
    path: String,
    /// Remark, such as the reason why the file is ignored.
    reason: String,
}

/// A SoundFont in the caller's folders, or one that they uploaded.
#[derive(Debug, Serialize, ToSchema)]
struct ScannedSoundFont {
    /// Id of the bank.
    soundfont_id: String,
    /// Name of the bank.
    name: String,
    /// Owner of the bank.
    source: SoundFontSource,
    /// Whether the bank can be played.
    usable: bool,
    /// Path of the bank's file; null if it was uploaded.
    path: Option<String>,
    /// The folder of the caller that contains the file; null if it was uploaded.
    directory: Option<String>,
}

/// Searches the caller's folders for plugins and SoundFonts now. Unchanged modules are only scanned
/// again if their last scan failed. A module that hangs is stopped after `SF_PLUGIN_SCAN_MAX_SECS`
/// and is listed in `unclassified`. It can be scanned again with a longer limit: `module` and
/// `max_secs`. Discards the cached lists of effects of all users. Only administrators and callers
/// on this machine may scan, because a scan runs the code of plugins (in separate processes).
#[utoipa::path(post, path = "/plugins/scan", tag = "plugins", security(("bearer" = ["admin", "local", "log_in"])), params(ScanQuery),
    responses((status = 200, body = ScanAnswer), (status = 202, body = StartedTask),
        (status = 400, description = "`bad_query`", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such module in the caller's folders", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn scan(
    State(state): State<AppState>,
    LoggedInAdminOrLocal(user): LoggedInAdminOrLocal,
    Query(query): Query<ScanQuery>,
) -> ApiResult<Response> {
    query.module_request()?;
    audit::record(&state.db, &user.who(), Action::ScanStarted, "plugins", "").await;
    if query.asynchronous {
        let input = serde_json::to_value(&query).map_err(ApiError::internal)?;
        let task_id = state.tasks.start_uncounted(&user.id, SCAN_TASK.name, &input).await?;
        return Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    Ok(Json(scan_now(&state, &user.id, &query).await?).into_response())
}

async fn scan_now(state: &AppState, user_id: &str, query: &ScanQuery) -> ApiResult<ScanAnswer> {
    let (scan, invalidated) = state.plugins.rescan(user_id, query.module_request()?).await?;
    let system = state.soundfonts.catalogue.rescan().await?;
    let of_user = state.soundfonts.catalogue.of_user(user_id).await?;
    Ok(ScanAnswer::of(&scan, invalidated, &system, &of_user))
}

/// The kind of task that scans for plugins.
pub(crate) const SCAN_TASK: TaskKind = TaskKind { name: "plugin-scan", run: run_task, discard: None };

/// Scans, and reports the progress. If the task is cancelled, the scan continues, because other
/// callers may wait for its result.
fn run_task(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let query: ScanQuery = serde_json::from_value(input).map_err(ApiError::internal)?;
    let answer = task.runtime().block_on(async {
        let mut scanning = pin!(scan_now(state, task.owner_id(), &query));
        let mut interval = tokio::time::interval(PROGRESS_INTERVAL);
        loop {
            tokio::select! {
                answer = &mut scanning => return answer,
                _ = interval.tick() => {}
            }
            if task.is_cancelled() {
                return Err(ApiError::internal(anyhow::anyhow!("the task was cancelled")));
            }
            if let Some(status) = state.plugins.scan_status() {
                task.report_progress(status.fraction(), &status.in_words());
            }
        }
    })?;
    JsonText::write(&answer).map_err(ApiError::internal)
}

impl ScanAnswer {
    fn of(scan: &Scan, fx_cache_invalidated: bool, system: &Snapshot, of_user: &Snapshot) -> Self {
        let remarks = |list: &[Remark]| list.iter().map(ScanRemark::from).collect::<Vec<_>>();
        let (instruments, effects) = (scan.instruments.len(), scan.effects.len());
        Self {
            vst_found: instruments + effects + scan.unclassified.len(),
            instruments,
            effects,
            unclassified: scan.unclassified.iter().map(UnclassifiedPlugin::from).collect(),
            ignored: remarks(&scan.ignored).into_iter().chain(unused_soundfonts(scan, system)).collect(),
            unreadable: remarks(&scan.unreadable),
            truncated: scan.truncated,
            soundfonts: scanned_soundfonts(scan, system, of_user),
            fx_cache_invalidated,
            scanned_at: scan.scanned_at.clone(),
        }
    }
}

/// Maps the path of each SoundFont in the caller's folders to the searched folder that contains the
/// SoundFont.
fn directories(scan: &Scan) -> HashMap<&Path, &Path> {
    scan.soundfonts.iter().map(|file| (file.path.as_path(), file.directory.as_path())).collect()
}

/// Returns the SoundFonts of `system` that are in the caller's folders, and the uploaded ones of
/// `of_user`.
fn scanned_soundfonts(scan: &Scan, system: &Snapshot, of_user: &Snapshot) -> Vec<ScannedSoundFont> {
    let directories = directories(scan);
    let directory = |soundfont: &SoundFont| soundfont.path().and_then(|path| directories.get(path)).copied();
    let in_folders = system.soundfonts.iter().filter(|soundfont| directory(soundfont).is_some());
    let upload_result =
        of_user.soundfonts.iter().filter(|soundfont| soundfont.summary.source == SoundFontSource::Upload);
    let scanned = |soundfont: &SoundFont| ScannedSoundFont {
        soundfont_id: soundfont.summary.soundfont_id.clone(),
        name: soundfont.summary.name.clone(),
        source: soundfont.summary.source,
        usable: soundfont.summary.usable,
        path: soundfont.path().map(|path| path.display().to_string()),
        directory: directory(soundfont).map(|path| path.display().to_string()),
    };
    in_folders.chain(upload_result).map(scanned).collect()
}

/// Returns the SoundFonts in the caller's folders that are not used, each with the reason.
fn unused_soundfonts(scan: &Scan, system: &Snapshot) -> Vec<ScanRemark> {
    let directories = directories(scan);
    let unused = system.shadowed.iter().filter(|file| directories.contains_key(file.path.as_path()));
    unused.map(ScanRemark::from).collect()
}

impl From<&ShadowedSoundFont> for ScanRemark {
    fn from(soundfont: &ShadowedSoundFont) -> Self {
        Self { path: soundfont.path.display().to_string(), reason: soundfont.in_words() }
    }
}

impl From<&Remark> for ScanRemark {
    fn from(remark: &Remark) -> Self {
        Self { path: remark.path.display().to_string(), reason: remark.reason.clone() }
    }
}

impl From<&UnclassifiedModule> for UnclassifiedPlugin {
    fn from(plugin: &UnclassifiedModule) -> Self {
        Self {
            name: plugin.name.clone(),
            format: plugin.format.into(),
            path: plugin.module.display().to_string(),
            reason: plugin.reason.clone(),
        }
    }
}

//! Results of the scans for SoundFonts and plugins.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::audit::{self, Action};
use crate::auth::{Admin, LoggedInAdmin};
use crate::error::ApiResult;
use crate::extract::Json;
use crate::plugins::Scan;
use crate::soundfonts::Snapshot;
use crate::state::AppState;

/// Results of the scans.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Scans {
    /// The scan for SoundFonts.
    soundfonts: SoundFontScan,
    /// Each user's latest plugin scan since this process started. Users without a scan are left
    /// out. In `container`, all users share one scan.
    plugins: Vec<PluginScan>,
}

/// Result of a scan for a user's plugins.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PluginScan {
    /// Id of the user; null for the scan that all users share.
    user_id: Option<String>,
    /// When the scan ended, RFC 3339.
    scanned_at: String,
    /// Folders that were searched.
    folders: Vec<String>,
    /// Number of plugins that play notes.
    instruments: usize,
    /// Number of plugins that process audio.
    effects: usize,
    /// Plugins and modules that could not be classified, and folders that could not be read.
    problems: Vec<PluginProblem>,
}

/// A problem that a scan for plugins found.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PluginProblem {
    /// Path of the module or folder.
    path: String,
    /// Reason why the plugins of the module, or the folder, cannot be used.
    problem: String,
}

impl PluginScan {
    fn from_scan(user_id: Option<String>, scan: &Scan) -> Self {
        let unclassified_modules = scan.unclassified.iter().map(|plugin| (&plugin.module, &plugin.reason));
        let unreadable_folders = scan.unreadable.iter().map(|folder| (&folder.path, &folder.reason));
        let problems = unclassified_modules.chain(unreadable_folders);
        Self {
            user_id,
            scanned_at: scan.scanned_at.clone(),
            folders: scan.dirs.iter().map(|dir| dir.display().to_string()).collect(),
            instruments: scan.instruments.len(),
            effects: scan.effects.len(),
            problems: problems
                .map(|(path, problem)| PluginProblem {
                    path: path.display().to_string(),
                    problem: problem.clone(),
                })
                .collect(),
        }
    }
}

/// Result of the latest scan for SoundFonts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SoundFontScan {
    /// When the scan ended, RFC 3339.
    scanned_at: String,
    /// Folders that are searched (`SF_SOUNDFONT_DIRS`).
    folders: Vec<String>,
    /// Number of SoundFonts that were found.
    found: usize,
    /// Number of SoundFonts that can be played.
    usable: usize,
    /// Id of the SoundFont that replaces missing ones; null if there is none.
    default_soundfont_id: Option<String>,
    /// SoundFonts that cannot be played at all or only in part, and files whose id another
    /// SoundFont already has.
    problems: Vec<ScanProblem>,
}

/// A SoundFont with a problem.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ScanProblem {
    /// Id of the SoundFont.
    soundfont_id: String,
    /// Path of the SoundFont's file.
    path: String,
    /// Whether the SoundFont can be played, without its faulty parts.
    usable: bool,
    /// Reason why the SoundFont, or parts of it, cannot be played.
    problem: String,
}

fn scans(state: &AppState, snapshot: &Snapshot) -> Json<Scans> {
    let problems = snapshot.soundfonts.iter().filter_map(|soundfont| {
        let summary = &soundfont.summary;
        let skipped_problem = (summary.skipped.count > 0).then(|| {
            format!("skipped parts ({}): {}", summary.skipped.count, summary.skipped.reasons.join("; "))
        });
        Some(ScanProblem {
            soundfont_id: summary.soundfont_id.clone(),
            path: soundfont.path()?.display().to_string(),
            usable: summary.usable,
            problem: summary.problem.clone().or(skipped_problem)?,
        })
    });
    let shadowed_problems = snapshot.shadowed.iter().map(|file| ScanProblem {
        soundfont_id: file.soundfont_id.clone(),
        path: file.path.display().to_string(),
        usable: false,
        problem: file.in_words(),
    });
    let folders = state.config.sound.soundfont_dirs.iter().map(|dir| dir.display().to_string());
    Json(Scans {
        soundfonts: SoundFontScan {
            scanned_at: snapshot.scanned_at.clone(),
            folders: folders.collect(),
            found: snapshot.soundfonts.len(),
            usable: snapshot.soundfonts.iter().filter(|soundfont| soundfont.summary.usable).count(),
            default_soundfont_id: snapshot
                .default_soundfont()
                .map(|soundfont| soundfont.summary.soundfont_id.clone()),
            problems: problems.chain(shadowed_problems).collect(),
        },
        plugins: state
            .plugins
            .cached_scans()
            .into_iter()
            .map(|(id, scan)| PluginScan::from_scan(id, &scan))
            .collect(),
    })
}

/// Returns the results of the latest scans.
#[utoipa::path(get, path = "/admin/scans", tag = "admin", security(("bearer" = ["admin"])), responses((status = 200, body = Scans)))]
pub(super) async fn read(State(state): State<AppState>, _: Admin) -> ApiResult<Json<Scans>> {
    let snapshot = state.soundfonts.catalogue.current().await?;
    Ok(scans(&state, &snapshot))
}

/// Scans for SoundFonts now, and returns the results. Only new and changed files are read.
#[utoipa::path(post, path = "/admin/scans", tag = "admin", security(("bearer" = ["admin", "log_in"])), responses((status = 200, body = Scans)))]
pub(super) async fn start(
    State(state): State<AppState>,
    LoggedInAdmin(admin): LoggedInAdmin,
) -> ApiResult<Json<Scans>> {
    audit::record(&state.db, &admin.who(), Action::ScanStarted, "SoundFonts", "").await;
    let snapshot = state.soundfonts.catalogue.rescan().await?;
    Ok(scans(&state, &snapshot))
}

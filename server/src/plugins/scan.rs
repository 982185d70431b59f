//! `POST /plugins/scan`.

use std::collections::HashMap;
use std::path::Path;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::modules::{Remark, Scan, Unclassified};
use super::vst::VstFormat;
use crate::audit::{self, Action};
use crate::auth::LoggedInAdminOrLocal;
use crate::error::{ApiResult, CommonErrors};
use crate::extract::Json;
use crate::soundfonts::{ShadowedSoundFont, Snapshot, SoundFont, SoundFontSource};
use crate::state::AppState;

/// What is in the caller's folders.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ScanAnswer {
    /// How many VST plugins were found: `instruments`, `effects`, and what is `unclassified`.
    vst_found: usize,
    /// How many of them play notes.
    instruments: usize,
    /// How many of them change sound.
    effects: usize,
    /// Plugins that say neither, and modules that do not say what is in them.
    unclassified: Vec<UnclassifiedPlugin>,
    /// What would be a plugin but for the rules, and SoundFonts in these folders that are not
    /// played because another of their id is.
    ignored: Vec<ScanRemark>,
    /// Folders that could not be searched.
    unreadable: Vec<ScanRemark>,
    /// Whether a limit ended the search: 8 folders deep, 50000 entries, 2000 modules and 2000
    /// SoundFonts.
    truncated: bool,
    /// The SoundFonts of the catalogue that lie in these folders, and those that the caller has
    /// uploaded.
    soundfonts: Vec<ScannedSoundFont>,
    /// Whether a kept list of effects, of any user, was thrown away, so that lists read before are
    /// out of date.
    fx_cache_invalidated: bool,
    /// When the scan ended, RFC 3339.
    scanned_at: String,
}

/// A plugin of which it is not known what it is for.
#[derive(Debug, Serialize, ToSchema)]
struct UnclassifiedPlugin {
    /// Name in the module, or of the module.
    name: String,
    /// What it is made for.
    format: VstFormat,
    /// Where its module is.
    path: String,
    /// Why it is not known.
    reason: String,
}

/// A file or folder, and something about it.
#[derive(Debug, Serialize, ToSchema)]
struct ScanRemark {
    /// Where it is.
    path: String,
    /// What is to be said.
    reason: String,
}

/// A SoundFont in the folders, or uploaded.
#[derive(Debug, Serialize, ToSchema)]
struct ScannedSoundFont {
    /// Identifies the bank.
    soundfont_id: String,
    /// Its name.
    name: String,
    /// Who it belongs to.
    source: SoundFontSource,
    /// Whether it can be played.
    usable: bool,
    /// Its file; null if it was uploaded.
    path: Option<String>,
    /// The folder of the list in which it was found; null if it was uploaded.
    directory: Option<String>,
}

/// Searches the caller's folders of plugins and SoundFonts, now. Modules that have not changed are
/// not looked into again, unless they failed; a module that hangs is ended after
/// `SF_PLUGIN_SCAN_MAX_SECS` and left unclassified. The lists of effects that are kept for any user
/// are thrown away. Administrators and callers on this machine only, for the code of plugins is
/// run, in processes of its own.
#[utoipa::path(post, path = "/plugins/scan", tag = "plugins", security(("bearer" = ["admin", "local", "log_in"])),
    responses((status = 200, body = ScanAnswer), CommonErrors))]
pub(super) async fn scan(
    State(state): State<AppState>,
    LoggedInAdminOrLocal(user): LoggedInAdminOrLocal,
) -> ApiResult<Json<ScanAnswer>> {
    audit::record(&state.db, &user.who(), Action::ScanStarted, "plugins", "").await;
    let (scan, invalidated) = state.plugins.rescan(&user.id).await?;
    let system = state.soundfonts.catalogue.rescan().await?;
    let own = state.soundfonts.catalogue.of(&user.id).await?;
    Ok(Json(ScanAnswer::of(&scan, invalidated, &system, &own)))
}

impl ScanAnswer {
    fn of(scan: &Scan, fx_cache_invalidated: bool, system: &Snapshot, own: &Snapshot) -> Self {
        let remarks = |list: &[Remark]| list.iter().map(ScanRemark::from).collect::<Vec<_>>();
        let (instruments, effects) = (scan.instruments.len(), scan.effects.len());
        Self {
            vst_found: instruments + effects + scan.unclassified.len(),
            instruments,
            effects,
            unclassified: scan.unclassified.iter().map(UnclassifiedPlugin::from).collect(),
            ignored: remarks(&scan.ignored).into_iter().chain(passed_over(scan, system)).collect(),
            unreadable: remarks(&scan.unreadable),
            truncated: scan.truncated,
            soundfonts: soundfonts(scan, system, own),
            fx_cache_invalidated,
            scanned_at: scan.scanned_at.clone(),
        }
    }
}

/// Where the SoundFonts of the caller's folders were found, by their paths.
fn directories(scan: &Scan) -> HashMap<&Path, &Path> {
    scan.soundfonts.iter().map(|one| (one.path.as_path(), one.directory.as_path())).collect()
}

/// What of `system` lies in the caller's folders, and what of `own` was uploaded.
fn soundfonts(scan: &Scan, system: &Snapshot, own: &Snapshot) -> Vec<ScannedSoundFont> {
    let directories = directories(scan);
    let directory = |one: &SoundFont| one.path().and_then(|path| directories.get(path)).copied();
    let within = system.soundfonts.iter().filter(|one| directory(one).is_some());
    let uploaded = own.soundfonts.iter().filter(|one| one.summary.source == SoundFontSource::Upload);
    let scanned = |one: &SoundFont| ScannedSoundFont {
        soundfont_id: one.summary.soundfont_id.clone(),
        name: one.summary.name.clone(),
        source: one.summary.source,
        usable: one.summary.usable,
        path: one.path().map(|path| path.display().to_string()),
        directory: directory(one).map(|path| path.display().to_string()),
    };
    within.chain(uploaded).map(scanned).collect()
}

/// SoundFonts in the caller's folders that are not played.
fn passed_over(scan: &Scan, system: &Snapshot) -> Vec<ScanRemark> {
    let directories = directories(scan);
    let within = system.shadowed.iter().filter(|one| directories.contains_key(one.path.as_path()));
    within.map(ScanRemark::from).collect()
}

impl From<&ShadowedSoundFont> for ScanRemark {
    fn from(one: &ShadowedSoundFont) -> Self {
        Self { path: one.path.display().to_string(), reason: one.in_words() }
    }
}

impl From<&Remark> for ScanRemark {
    fn from(remark: &Remark) -> Self {
        Self { path: remark.path.display().to_string(), reason: remark.reason.clone() }
    }
}

impl From<&Unclassified> for UnclassifiedPlugin {
    fn from(one: &Unclassified) -> Self {
        Self {
            name: one.name.clone(),
            format: one.format.into(),
            path: one.module.display().to_string(),
            reason: one.reason.clone(),
        }
    }
}

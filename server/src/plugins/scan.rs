//! `POST /plugins/scan`.

use std::collections::HashMap;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::modules::{Remark, Scan, Unclassified};
use super::soundfonts::Snapshot;
use super::vst::VstFormat;
use crate::audit::{self, Action};
use crate::auth::Admin;
use crate::error::{ApiResult, CommonErrors};
use crate::extract::Json;
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
    /// What would be a plugin but for the rules.
    ignored: Vec<ScanRemark>,
    /// Folders that could not be searched.
    unreadable: Vec<ScanRemark>,
    /// Whether a limit ended the search: 8 folders deep, 50000 entries, 2000 modules and 2000 SoundFonts.
    truncated: bool,
    /// The SoundFonts of the catalogue that lie in these folders.
    soundfonts: Vec<ScannedSoundFont>,
    /// Whether the kept list of effects was thrown away, so that lists read before are out of date.
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

/// A SoundFont in the folders.
#[derive(Debug, Serialize, ToSchema)]
struct ScannedSoundFont {
    /// Identifies the bank.
    soundfont_id: String,
    /// Its name.
    name: String,
    /// Whether it can be played.
    usable: bool,
    /// Its file.
    path: String,
    /// The folder of the list in which it was found.
    directory: String,
}

/// Searches the caller's folders of plugins and SoundFonts, now. Modules that have not changed are not looked into again, unless
/// they failed; a module that hangs is ended after `SF_PLUGIN_SCAN_MAX_SECS` and left unclassified. Administrators only, for
/// the code of plugins is run, in processes of its own.
#[utoipa::path(post, path = "/plugins/scan", tag = "plugins", security(("bearer" = ["admin"])),
    responses((status = 200, body = ScanAnswer), CommonErrors))]
pub(super) async fn scan(State(state): State<AppState>, Admin(user): Admin) -> ApiResult<Json<ScanAnswer>> {
    audit::record(&state.db, &user.who(), Action::ScanStarted, "plugins", "").await;
    let scan = state.plugins.rescan(&user.id).await?;
    let catalogue = state.sound.catalogue.rescan().await?;
    Ok(Json(ScanAnswer::of(&scan, &catalogue)))
}

impl ScanAnswer {
    fn of(scan: &Scan, catalogue: &Snapshot) -> Self {
        let remarks = |list: &[Remark]| list.iter().map(ScanRemark::from).collect();
        let (instruments, effects) = (scan.instruments.len(), scan.effects.len());
        Self {
            vst_found: instruments + effects + scan.unclassified.len(),
            instruments,
            effects,
            unclassified: scan.unclassified.iter().map(UnclassifiedPlugin::from).collect(),
            ignored: remarks(&scan.ignored),
            unreadable: remarks(&scan.unreadable),
            truncated: scan.truncated,
            soundfonts: soundfonts(scan, catalogue),
            // The scan has taken the place of the one before.
            fx_cache_invalidated: true,
            scanned_at: scan.scanned_at.clone(),
        }
    }
}

fn soundfonts(scan: &Scan, catalogue: &Snapshot) -> Vec<ScannedSoundFont> {
    let directories: HashMap<_, _> = scan.soundfonts.iter().map(|one| (&one.path, &one.directory)).collect();
    let within = |one: &super::soundfonts::SoundFont| {
        Some(ScannedSoundFont {
            directory: directories.get(&one.path)?.display().to_string(),
            soundfont_id: one.summary.soundfont_id.clone(),
            name: one.summary.name.clone(),
            usable: one.summary.usable,
            path: one.path.display().to_string(),
        })
    };
    catalogue.soundfonts.iter().filter_map(within).collect()
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

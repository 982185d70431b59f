//! The SoundFonts of this installation: found by a scanner in the background, listed, sent
//! to browsers and opened for renders.

pub(super) mod catalog;
pub(super) mod delete;
pub(super) mod download;
mod inspect;
mod preset_list;
pub(super) mod reduced;
mod scan;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use dsp_core::soundfont::Bank;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use super::dirs::{self, PlaceNames};
use super::modules::{Limits, search};
use crate::config::Config;
use crate::db::Db;
use crate::error::ApiError;
use crate::rendering::RenderError;
use crate::rendering::banks::{BankCache, Version};
use scan::{Folder, Scanner};

/// How often the folders are searched for new and changed files.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);

/// Banks that stand in where the settings name none, the first that is there.
const USUAL_DEFAULTS: [&str; 2] = ["timgm6mb", "fluidr3gm"];

/// Where a SoundFont comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundFontSource {
    /// Installed on the machine; cannot be deleted from here.
    System,
    /// In the service's own storage.
    Upload,
}

/// What kind of samples a SoundFont has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundFontFormat {
    /// PCM samples.
    Sf2,
    /// Ogg Vorbis samples.
    Sf3,
}

/// A SoundFont without its presets.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundFontSummary {
    /// Identifies the bank: the stem of its file, lower-case letters and digits.
    pub soundfont_id: String,
    /// Name in the file; the stem of the file where it gives none.
    pub name: String,
    /// Where it comes from.
    pub source: SoundFontSource,
    /// What kind of samples it has.
    pub format: SoundFontFormat,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the file in hexadecimal; null where it could not be read.
    pub content_hash: Option<String>,
    /// Whether it stands in for a missing one.
    pub default: bool,
    /// Whether it can be played.
    pub usable: bool,
    /// Why it cannot be played; null if it can.
    pub problem: Option<String>,
    /// What it is played without.
    pub skipped: SkippedParts,
}

/// Bad regions of a SoundFont: it is played without them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SkippedParts {
    /// How many there are.
    pub count: usize,
    /// Where the first of them stand, and what is wrong; at most 20.
    pub reasons: Vec<String>,
}

/// A preset of a SoundFont.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Preset {
    /// SoundFont bank number; 128 holds drum kits.
    pub bank: u16,
    /// Program number.
    pub program: u16,
    /// Name in the file.
    pub name: String,
}

/// A SoundFont with its presets.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundFont {
    /// Everything but the presets.
    #[serde(flatten)]
    pub summary: SoundFontSummary,
    /// Its presets by ascending bank and program.
    pub presets: Vec<Preset>,
    /// Its file.
    #[serde(skip)]
    pub path: PathBuf,
    /// The file as the scan found it.
    #[serde(skip)]
    pub version: Version,
}

/// The SoundFonts as the last scan found them.
#[derive(Debug)]
pub struct Snapshot {
    /// By ascending id.
    pub soundfonts: Vec<SoundFont>,
    /// When the scan ended, RFC 3339.
    pub scanned_at: String,
    /// Changes when anything but `scanned_at` does; with its quotes.
    pub etag: String,
}

/// A bank that was chosen for an id.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The bank.
    pub soundfont: SoundFont,
    /// Whether it stands in for the one that was asked for.
    pub fallback: bool,
}

impl Snapshot {
    /// The bank that stands in for missing ones.
    #[must_use]
    pub fn default_soundfont(&self) -> Option<&SoundFont> {
        self.soundfonts.iter().find(|one| one.summary.default)
    }

    /// The bank to play for an id (`None`: the default bank). Where it is missing or not
    /// usable the default stands in; `None` where there is not even that.
    #[must_use]
    pub fn choose(&self, soundfont_id: Option<&str>) -> Option<Chosen> {
        let wanted = soundfont_id.map(id_of_name);
        let found = wanted.as_ref().and_then(|id| {
            self.soundfonts.iter().find(|one| one.summary.soundfont_id == *id && one.summary.usable)
        });
        let soundfont = found.or_else(|| self.default_soundfont())?.clone();
        Some(Chosen { soundfont, fallback: wanted.is_some() && found.is_none() })
    }

    /// Opens the bank to play for an id; `None` where there is none at all.
    ///
    /// # Errors
    /// The file has changed or gone since the scan.
    pub fn open(
        &self,
        banks: &BankCache,
        soundfont_id: Option<&str>,
    ) -> Result<Option<(Bank, Chosen)>, RenderError> {
        let Some(chosen) = self.choose(soundfont_id) else { return Ok(None) };
        let bank = banks.open(&chosen.soundfont.path).map_err(|reason| RenderError::Bank {
            name: chosen.soundfont.summary.soundfont_id.clone(),
            reason,
        })?;
        Ok(Some((bank, chosen)))
    }
}

/// A name as an id: lower case, letters and digits only.
#[must_use]
pub fn id_of_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The answer where no bank is there to play with.
#[must_use]
pub(super) fn no_soundfont() -> ApiError {
    ApiError::NotImplemented {
        code: "soundfont_render_unavailable",
        detail:
            "No SoundFont is installed that could play the notes: put an SF2 or SF3 file into one of the folders of \
                 SF_SOUNDFONT_DIRS, or install the package timgm6mb-soundfont."
                .to_owned(),
    }
}

/// Searches the SoundFont folders and remembers what is in them.
#[derive(Debug)]
pub struct Catalogue {
    db: Db,
    places: PlaceNames,
    scanner: Arc<Mutex<Scanner>>,
    snapshot: Arc<RwLock<Option<Arc<Snapshot>>>>,
}

impl Catalogue {
    /// A catalogue of the folders in the settings and of those in which users have plugins, not searched yet.
    #[must_use]
    pub fn new(config: &Config, db: Db) -> Self {
        let uploads = config.storage.dir.join("soundfonts");
        let folder = |path: &PathBuf| Folder {
            path: path.clone(),
            source: if path.starts_with(&uploads) {
                SoundFontSource::Upload
            } else {
                SoundFontSource::System
            },
        };
        let folders = config.sound.soundfont_dirs.iter().map(folder).collect();
        let preferred = config.sound.default_soundfont.as_deref().map(id_of_name);
        Self {
            db,
            places: PlaceNames::new(config),
            scanner: Arc::new(Mutex::new(Scanner::new(folders, preferred))),
            snapshot: Arc::default(),
        }
    }

    /// What the last scan found; the first caller waits for the first scan.
    ///
    /// # Errors
    /// As [`Self::rescan`].
    pub async fn current(&self) -> Result<Arc<Snapshot>, ApiError> {
        if let Some(snapshot) = self.known() {
            return Ok(snapshot);
        }
        let (scanner, known) = (Arc::clone(&self.scanner), Arc::clone(&self.snapshot));
        let plugin_dirs = self.plugin_dirs().await?;
        let first_scan = move || {
            let mut scanner = scanner.lock().unwrap_or_else(PoisonError::into_inner);
            // Somebody else's scan may have ended while this one waited for its turn.
            let done = known.read().unwrap_or_else(PoisonError::into_inner).clone();
            done.unwrap_or_else(|| publish(&mut scanner, &plugin_dirs, &known))
        };
        Ok(tokio::task::spawn_blocking(first_scan).await?)
    }

    /// Searches now.
    ///
    /// # Errors
    /// When the thread of the scan fails, or the database does not say where users have plugins.
    pub async fn rescan(&self) -> Result<Arc<Snapshot>, ApiError> {
        let (scanner, known) = (Arc::clone(&self.scanner), Arc::clone(&self.snapshot));
        let plugin_dirs = self.plugin_dirs().await?;
        let scan = move || {
            publish(&mut scanner.lock().unwrap_or_else(PoisonError::into_inner), &plugin_dirs, &known)
        };
        Ok(tokio::task::spawn_blocking(scan).await?)
    }

    async fn plugin_dirs(&self) -> Result<PluginDirs, ApiError> {
        let paths = dirs::store::of_all(&self.db).await?.into_iter().map(PathBuf::from).collect();
        Ok(PluginDirs { paths, names: self.places.clone() })
    }

    /// What the last scan found, if there was one.
    #[must_use]
    pub fn known(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The folders in which users have plugins.
struct PluginDirs {
    paths: Vec<PathBuf>,
    names: PlaceNames,
}

impl PluginDirs {
    /// The SoundFonts below them. Blocks.
    fn soundfonts(&self) -> Vec<PathBuf> {
        let places = self.names.places();
        let found = search(&self.paths, Limits::default(), &|real| places.allow(real));
        found.soundfonts.into_iter().map(|one| one.path).collect()
    }
}

fn publish(
    scanner: &mut Scanner,
    plugin_dirs: &PluginDirs,
    known: &RwLock<Option<Arc<Snapshot>>>,
) -> Arc<Snapshot> {
    let snapshot = Arc::new(scanner.scan(plugin_dirs.soundfonts()));
    *known.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&snapshot));
    snapshot
}

/// Keeps the catalogue current until the service stops.
pub async fn keep_scanning(state: crate::state::AppState, stop: CancellationToken) {
    loop {
        if let Err(error) = state.sound.catalogue.rescan().await {
            tracing::error!(%error, "the scan for SoundFonts failed");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(SCAN_INTERVAL) => {}
        }
    }
}

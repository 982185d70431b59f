//! The SoundFonts of this installation and of its users. A scanner in the background finds those of
//! the installation, and users upload others. The service lists them, sends them to browsers and
//! opens them for renders.
//!
//! A SoundFont in one of the folders belongs to the system. An uploaded SoundFont belongs to its
//! user. Users see the system's SoundFonts and their own. If several have the same id, the user's
//! comes before the system's, and an SF2 before an SF3. The catalogue also names the SoundFonts
//! that are not played for this reason.

mod catalogue;
mod delete;
mod download;
mod import;
mod inspect;
mod inventory;
mod list;
mod preset_list;
mod reduced;
mod scan;
mod snapshot;
mod store;
mod upload;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsp_core::soundfont::Bank;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use catalogue::{Catalogue, keep_scanning};
pub(crate) use catalogue::{PrepareSearch, Search};
pub(crate) use download::chosen_headers;
pub(crate) use inventory::list_expected_files;
use reduced::ReducedBanks;
pub use snapshot::{ChosenSoundFont, ShadowedSoundFont, Snapshot};
pub(crate) use store::{FILE_KIND, read_usage_of_all, read_used_bytes};

use crate::config::Config;
use crate::db::Db;
use crate::extract::BodyLimit;
use crate::permits::Permits;
use crate::rendering::RenderError;
use crate::rendering::banks::{BankCache, BankLimits, Version};
use crate::router::with_body_limit;
use crate::state::AppState;
use crate::storage::{BlobKey, FORM_EXTRA_BYTES};

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit {
        form_max_bytes: FORM_EXTRA_BYTES,
        ..BodyLimit::of(config.limits.soundfont_max_bytes, upload::SUBJECT_PHRASE)
    };
    OpenApiRouter::new()
        .routes(routes!(list::read))
        .routes(routes!(download::read))
        .routes(routes!(delete::delete))
        .merge(with_body_limit(OpenApiRouter::new().routes(routes!(upload::upload)), limit))
}

/// The SoundFonts that this process knows or has opened.
#[derive(Debug)]
pub struct SoundFonts {
    /// Catalogue of the SoundFonts of this installation and of its users.
    pub catalogue: Catalogue,
    /// Cache of opened banks.
    pub banks: BankCache,
    /// Cache of banks that are reduced to the presets that browsers request.
    reduced_banks: ReducedBanks,
    /// Permits to examine an upload. Only one is examined at a time, because the tables of a bank
    /// take much memory.
    uploads: Permits,
}

impl SoundFonts {
    /// Makes an empty state: no folder is searched and no bank is opened yet. `extra_files`
    /// searches outside the folders of the settings.
    pub(crate) fn new(config: &Config, db: &Db, extra_files: PrepareSearch) -> Self {
        let waiting_max = config.limits.work_waiting_max;
        Self {
            catalogue: Catalogue::new(config, db.clone(), extra_files),
            banks: BankCache::new(BankLimits {
                total_bytes: config.sound.bank_cache_bytes,
                decoded_bytes: config.sound.bank_decoded_max_bytes,
            }),
            reduced_banks: ReducedBanks::new(config.sound.reduced_banks_bytes, waiting_max),
            uploads: Permits::counted("SoundFont uploads", 1, waiting_max),
        }
    }
}

/// Owner of a SoundFont.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundFontSource {
    /// The system. The SoundFont is in a folder of the machine, all users have it, and the API
    /// cannot delete it.
    System,
    /// The caller, who uploaded it.
    Upload,
}

/// Sample format of a SoundFont.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundFontFormat {
    /// PCM samples.
    Sf2,
    /// Ogg Vorbis samples.
    Sf3,
}

impl SoundFontFormat {
    /// Returns the extension of files in this format, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Sf2 => "sf2",
            Self::Sf3 => "sf3",
        }
    }

    /// Returns the format with this extension, in upper or lower case.
    fn of_extension(extension: &str) -> Option<Self> {
        [Self::Sf2, Self::Sf3].into_iter().find(|format| extension.eq_ignore_ascii_case(format.extension()))
    }
}

/// A SoundFont without its presets.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundFontSummary {
    /// Id of the bank: the letters and digits of its file name without the extension, in lower
    /// case.
    pub soundfont_id: String,
    /// Name in the file or, if it has none, the file name without the extension.
    pub name: String,
    /// Owner of the SoundFont.
    pub source: SoundFontSource,
    /// Sample format of the SoundFont.
    pub format: SoundFontFormat,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the file in hexadecimal; null if it could not be read.
    pub content_hash: Option<String>,
    /// Whether this bank replaces missing banks.
    pub default: bool,
    /// Whether the bank can be played.
    pub usable: bool,
    /// Reason why the bank cannot be played; null if it can.
    pub problem: Option<String>,
    /// Faulty parts of the bank, which are skipped.
    pub skipped: SkippedParts,
    /// Other SoundFonts with the same id. This SoundFont is played instead of them.
    pub others: Vec<OtherSoundFont>,
}

/// A SoundFont that is not played because another one with the same id is played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OtherSoundFont {
    /// Owner of the SoundFont that is not played.
    pub source: SoundFontSource,
    /// Sample format of the SoundFont that is not played.
    pub format: SoundFontFormat,
    /// Reason why the other one is played.
    pub reason: String,
}

/// Faulty parts of a SoundFont (presets, zones, samples or modulators), which is played without
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkippedParts {
    /// Number of skipped parts.
    pub count: usize,
    /// Location and fault of the first skipped parts, at most 20.
    pub reasons: Vec<String>,
}

/// A preset of a SoundFont.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preset {
    /// SoundFont bank number; 128 contains drum kits.
    pub bank: u16,
    /// Program number, 0 to 127.
    pub program: u16,
    /// Name of the preset in the file.
    pub name: String,
}

/// A SoundFont with its presets.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundFont {
    /// Everything except the presets.
    #[serde(flatten)]
    pub summary: SoundFontSummary,
    /// Presets of the SoundFont, ordered by bank and program.
    pub presets: Vec<Preset>,
    /// File of the SoundFont.
    #[serde(skip)]
    pub file: BankFile,
}

/// Location of the file of a SoundFont.
#[derive(Debug, Clone, PartialEq)]
pub enum BankFile {
    /// The file is in a folder of this machine.
    InFolder {
        /// Path of the file.
        path: PathBuf,
        /// Version of the file at the time of the scan.
        version: Version,
    },
    /// The file was uploaded. The storage names it by its hash.
    Stored {
        /// Key of the file.
        blob_key: BlobKey,
        /// Id of the user who uploaded it.
        owner_id: Arc<str>,
    },
}

impl BankFile {
    /// Returns a text that changes with the content of the file.
    pub(crate) fn version_text(&self) -> String {
        match self {
            Self::InFolder { path, version } => format!("{} {version:?}", path.display()),
            Self::Stored { blob_key, .. } => blob_key.path(),
        }
    }
}

impl SoundFont {
    /// Returns the path of a SoundFont in a folder; `None` if it was uploaded.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.file {
            BankFile::InFolder { path, .. } => Some(path),
            BankFile::Stored { .. } => None,
        }
    }

    /// Opens the bank. Blocks.
    ///
    /// # Errors
    /// The file was changed or removed after it was listed, or its tables need too much memory.
    pub(crate) fn open(&self, state: &AppState) -> Result<Bank, RenderError> {
        let banks = &state.soundfonts.banks;
        let open_result = match &self.file {
            BankFile::InFolder { path, .. } => banks.open(path),
            BankFile::Stored { blob_key, owner_id } => banks.open_stored(&state.blobs, blob_key, owner_id),
        };
        open_result.map_err(|reason| RenderError::Bank { name: self.summary.soundfont_id.clone(), reason })
    }
}

/// Turns a name into an id by keeping only its letters and digits, in lower case. An id stays
/// unchanged.
#[must_use]
pub fn id_of_name(name: &str) -> String {
    // The lower case of some letters, such as `İ`, adds a combining mark. The filter removes such
    // marks.
    name.chars().flat_map(char::to_lowercase).filter(|character| character.is_alphanumeric()).collect()
}

#[cfg(test)]
pub(crate) mod tests;

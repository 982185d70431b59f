//! The SoundFonts of this installation and of its users. A scanner in the background finds them, or
//! users upload them. They are listed, sent to browsers and opened for renders.
//!
//! A SoundFont in one of the folders belongs to the system, an uploaded one to its user. Users see
//! the system's SoundFonts and their own. If several have the same id, a user's own comes before
//! the system's, and an SF2 before an SF3. The catalogue names the ones that are not played.

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

use dsp_core::soundfont::Bank;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use catalogue::{Catalogue, keep_scanning};
pub(crate) use catalogue::{ExtraFiles, Search};
pub(crate) use download::chosen_headers;
pub(crate) use inventory::expected;
use reduced::ReducedBanks;
pub use snapshot::{Chosen, ShadowedSoundFont, Snapshot};
pub(crate) use store::{FILES, usage_of_all, used_bytes};

use crate::config::Config;
use crate::db::Db;
use crate::extract::BodyLimit;
use crate::permits::Permits;
use crate::rendering::RenderError;
use crate::rendering::banks::{BankCache, BankLimits, Version};
use crate::router::with_body_limit;
use crate::state::AppState;
use crate::storage::{BlobKey, FORM_EXTRA_BYTES};

/// The routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let limit = BodyLimit {
        form_max_bytes: FORM_EXTRA_BYTES,
        ..BodyLimit::of(config.limits.soundfont_max_bytes, upload::SUBJECT)
    };
    OpenApiRouter::new()
        .routes(routes!(list::read))
        .routes(routes!(download::read))
        .routes(routes!(delete::delete))
        .merge(with_body_limit(OpenApiRouter::new().routes(routes!(upload::upload)), limit))
}

/// The SoundFonts that this process knows and has opened.
#[derive(Debug)]
pub struct SoundFonts {
    /// The SoundFonts of this installation and of its users.
    pub catalogue: Catalogue,
    /// Opened banks.
    pub banks: BankCache,
    /// Banks reduced to the presets that browsers request.
    reduced: ReducedBanks,
    /// One upload is opened at a time, since its tables take memory.
    uploads: Permits,
}

impl SoundFonts {
    /// No folder is searched and no bank opened yet. `extra_files` searches outside the folders in
    /// the settings.
    pub(crate) fn new(config: &Config, db: &Db, extra_files: ExtraFiles) -> Self {
        let waiting_max = config.limits.work_waiting_max;
        Self {
            catalogue: Catalogue::new(config, db.clone(), extra_files),
            banks: BankCache::new(BankLimits {
                total_bytes: config.sound.bank_cache_bytes,
                decoded_bytes: config.sound.bank_decoded_max_bytes,
            }),
            reduced: ReducedBanks::new(config.sound.reduced_banks_bytes, waiting_max),
            uploads: Permits::counted("SoundFonts", 1, waiting_max),
        }
    }
}

/// Owner of a SoundFont.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SoundFontSource {
    /// The system: it is in a folder of the machine, all users have it, and the API cannot delete
    /// it.
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
    /// The extension of its files.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Sf2 => "sf2",
            Self::Sf3 => "sf3",
        }
    }

    /// The format with this extension.
    fn of_extension(extension: &str) -> Option<Self> {
        [Self::Sf2, Self::Sf3].into_iter().find(|format| extension.eq_ignore_ascii_case(format.extension()))
    }
}

/// A SoundFont without its presets.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SoundFontSummary {
    /// Identifies the bank: the stem of its file, lower-case letters and digits.
    pub soundfont_id: String,
    /// Name in the file, or the stem of the file name.
    pub name: String,
    /// Owner.
    pub source: SoundFontSource,
    /// Sample format.
    pub format: SoundFontFormat,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the file in hexadecimal; null if it could not be read.
    pub content_hash: Option<String>,
    /// Whether it replaces missing ones.
    pub default: bool,
    /// Whether it can be played.
    pub usable: bool,
    /// Why it cannot be played; null if it can.
    pub problem: Option<String>,
    /// Skipped parts.
    pub skipped: SkippedParts,
    /// Other SoundFonts of this id; this one is played instead of them.
    pub others: Vec<OtherSoundFont>,
}

/// A SoundFont that is not played, because another of its id is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OtherSoundFont {
    /// Owner.
    pub source: SoundFontSource,
    /// Sample format.
    pub format: SoundFontFormat,
    /// Why the other one is played.
    pub reason: String,
}

/// Bad regions of a SoundFont: it is played without them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SkippedParts {
    /// Number of regions.
    pub count: usize,
    /// Locations and faults of the first of them; at most 20.
    pub reasons: Vec<String>,
}

/// A preset of a SoundFont.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
    pub file: BankFile,
}

/// Where the bytes of a SoundFont are.
#[derive(Debug, Clone, PartialEq)]
pub enum BankFile {
    /// In a folder of this machine.
    InFolder {
        /// Its path.
        path: PathBuf,
        /// The file as the scan found it.
        version: Version,
    },
    /// Among the stored files, named by its hash.
    Stored(BlobKey),
}

impl SoundFont {
    /// Its path in a folder; `None` if it was uploaded.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.file {
            BankFile::InFolder { path, .. } => Some(path),
            BankFile::Stored(_) => None,
        }
    }

    /// Opens it. Blocks.
    ///
    /// # Errors
    /// When its file was changed or removed since it was listed.
    pub(crate) fn open(&self, state: &AppState) -> Result<Bank, RenderError> {
        let banks = &state.soundfonts.banks;
        let opened = match &self.file {
            BankFile::InFolder { path, .. } => banks.open(path),
            BankFile::Stored(key) => banks.open_stored(&state.blobs, key),
        };
        opened.map_err(|reason| RenderError::Bank { name: self.summary.soundfont_id.clone(), reason })
    }
}

/// Turns a name into an id: lower case, letters and digits only. Applied to an id, it changes
/// nothing.
#[must_use]
pub fn id_of_name(name: &str) -> String {
    // The lower case of some letters, such as `İ`, adds a mark, which the filter drops.
    name.chars().flat_map(char::to_lowercase).filter(|letter| letter.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests;

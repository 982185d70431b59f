//! The SoundFonts of a user at one time, and the choice of the one that is played for an id.

use std::path::PathBuf;

use dsp_core::soundfont::Bank;
use sha2::{Digest as _, Sha256};

use super::store::UploadedBank;
use super::{OtherSoundFont, SoundFont, SoundFontFormat, SoundFontSource, id_of_name};
use crate::error::ApiResult;
use crate::rendering::RenderError;
use crate::state::AppState;

/// The system's SoundFonts from the last scan. They may be combined with the uploads of a user.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// One SoundFont for each id, sorted by id.
    pub soundfonts: Vec<SoundFont>,
    /// Files in the folders that are not played because another file with the same id is played.
    pub shadowed: Vec<ShadowedSoundFont>,
    /// Time when the scan ended, RFC 3339.
    pub scanned_at: String,
}

/// A file that is not played because another file with the same id is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedSoundFont {
    /// The id that both files have.
    pub soundfont_id: String,
    /// Path of the file that is not played.
    pub path: PathBuf,
    /// Sample format of the file that is not played.
    pub format: SoundFontFormat,
    /// Reason why the other file is played.
    pub reason: &'static str,
    /// Path of the file that is played instead.
    pub preferred_path: PathBuf,
}

impl ShadowedSoundFont {
    /// Returns a sentence that names the file that is played, and the reason.
    pub(crate) fn in_words(&self) -> String {
        format!("{}: {} is played for `{}`", self.reason, self.preferred_path.display(), self.soundfont_id)
    }
}

/// A bank that was chosen for an id.
#[derive(Debug, Clone)]
pub struct ChosenSoundFont {
    /// The chosen bank.
    pub soundfont: SoundFont,
    /// Whether this bank replaces the requested one.
    pub fallback: bool,
}

impl Snapshot {
    /// Adds the uploads of a user. `uploads` must be sorted by id, with SF2 before SF3. The default
    /// SoundFont stays the system's, unless an upload has its id. If the system has no default, the
    /// first upload becomes the default.
    ///
    /// # Errors
    /// The hash in a row of the database is not a valid file name.
    pub(super) fn with_uploads(&self, uploads: &[UploadedBank], owner_id: &str) -> ApiResult<Self> {
        let mut combined_snapshot = self.clone();
        for upload in uploads {
            let index = combined_snapshot
                .soundfonts
                .binary_search_by(|soundfont| soundfont.summary.soundfont_id.cmp(&upload.soundfont_id));
            match index {
                Ok(index)
                    if combined_snapshot.soundfonts[index].summary.source == SoundFontSource::Upload =>
                {
                    let uploaded_entry =
                        other_soundfont(SoundFontSource::Upload, upload.format, SF2_FIRST_REASON);
                    // Uploads come before SoundFonts of the system.
                    let other_soundfonts = &mut combined_snapshot.soundfonts[index].summary.others;
                    let end = other_soundfonts
                        .iter()
                        .take_while(|entry| entry.source == SoundFontSource::Upload)
                        .count();
                    other_soundfonts.insert(end, uploaded_entry);
                }
                Ok(index) => {
                    let system = std::mem::replace(
                        &mut combined_snapshot.soundfonts[index],
                        upload.soundfont(owner_id)?,
                    )
                    .summary;
                    let summary = &mut combined_snapshot.soundfonts[index].summary;
                    summary.default = system.default;
                    summary.others =
                        vec![other_soundfont(SoundFontSource::System, system.format, UPLOAD_FIRST_REASON)];
                    summary.others.extend(system.others);
                }
                Err(index) => combined_snapshot.soundfonts.insert(index, upload.soundfont(owner_id)?),
            }
        }
        if combined_snapshot.default_soundfont().is_none()
            && let Some(first_bank) =
                combined_snapshot.soundfonts.iter_mut().find(|soundfont| soundfont.summary.usable)
        {
            first_bank.summary.default = true;
        }
        Ok(combined_snapshot)
    }

    /// Returns an entity tag, including its quotes, that changes with the JSON of `soundfonts`, but
    /// not with `scanned_at`.
    #[must_use]
    pub fn etag(&self) -> String {
        let content = serde_json::to_vec(&self.soundfonts).unwrap_or_default();
        format!("\"{:x}\"", Sha256::digest(&content))
    }

    /// Returns the SoundFont with an id from [`id_of_name`], even if it cannot be played.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&SoundFont> {
        self.soundfonts.iter().find(|soundfont| soundfont.summary.soundfont_id == id)
    }

    /// Returns the bank that replaces missing banks.
    #[must_use]
    pub fn default_soundfont(&self) -> Option<&SoundFont> {
        self.soundfonts.iter().find(|soundfont| soundfont.summary.default)
    }

    /// Chooses the bank to play for an id. Without an id, this is the default bank. The default
    /// bank also replaces a missing or unplayable bank. Returns `None` if there is no default bank.
    #[must_use]
    pub fn choose(&self, soundfont_id: Option<&str>) -> Option<ChosenSoundFont> {
        let requested_id = soundfont_id.map(id_of_name);
        let playable =
            requested_id.as_ref().and_then(|id| self.find(id).filter(|soundfont| soundfont.summary.usable));
        let soundfont = playable.or_else(|| self.default_soundfont())?.clone();
        Some(ChosenSoundFont { soundfont, fallback: requested_id.is_some() && playable.is_none() })
    }

    /// Opens the bank that [`Self::choose`] chooses for an id. Blocks.
    ///
    /// # Errors
    /// The file was changed or removed after the scan.
    pub(crate) fn open(
        &self,
        state: &AppState,
        soundfont_id: Option<&str>,
    ) -> Result<Option<(Bank, ChosenSoundFont)>, RenderError> {
        let Some(chosen_soundfont) = self.choose(soundfont_id) else { return Ok(None) };
        Ok(Some((chosen_soundfont.soundfont.open(state)?, chosen_soundfont)))
    }
}

/// Reasons why another SoundFont with the same id is played.
pub(super) const SF2_FIRST_REASON: &str = "an SF2 file of the same id takes precedence over an SF3 file";
pub(super) const PLAYABLE_FIRST_REASON: &str = "a file of the same id can be played, but this file cannot";
pub(super) const FOUND_FIRST_REASON: &str = "a file of the same id was found earlier";
const UPLOAD_FIRST_REASON: &str = "your own SoundFont of the same id takes precedence over the system's";

/// Makes the catalogue entry of a SoundFont that is not played.
pub(super) fn other_soundfont(
    source: SoundFontSource,
    format: SoundFontFormat,
    reason: &str,
) -> OtherSoundFont {
    OtherSoundFont { source, format, reason: reason.to_owned() }
}

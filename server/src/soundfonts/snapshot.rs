//! The SoundFonts of a user at one time, and which of them is played for an id.

use std::path::PathBuf;

use dsp_core::soundfont::Bank;
use sha2::{Digest as _, Sha256};

use super::store::Uploaded;
use super::{OtherSoundFont, SoundFont, SoundFontFormat, SoundFontSource, id_of_name};
use crate::error::ApiResult;
use crate::rendering::RenderError;
use crate::state::AppState;

/// The system's SoundFonts from the last scan, maybe with the uploads of a user.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// One SoundFont for each id, by ascending id.
    pub soundfonts: Vec<SoundFont>,
    /// Files of the folders that are not played, because another file with the same id is.
    pub shadowed: Vec<ShadowedSoundFont>,
    /// When the scan ended, RFC 3339.
    pub scanned_at: String,
}

/// A file that is not played, because another file with the same id is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedSoundFont {
    /// The id.
    pub soundfont_id: String,
    /// The file.
    pub path: PathBuf,
    /// Sample format.
    pub format: SoundFontFormat,
    /// Why the other file is played.
    pub reason: &'static str,
    /// The file that is played.
    pub instead: PathBuf,
}

impl ShadowedSoundFont {
    /// A sentence that names the file that is played, and why.
    pub(crate) fn in_words(&self) -> String {
        format!("{}: {} is played for `{}`", self.reason, self.instead.display(), self.soundfont_id)
    }
}

/// A bank that was chosen for an id.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The bank.
    pub soundfont: SoundFont,
    /// Whether it replaces the requested bank.
    pub fallback: bool,
}

impl Snapshot {
    /// Adds the uploads of a user, which are sorted by id, and SF2 before SF3. The default stays
    /// the system's, unless an upload has its id. If the system has none, it is the first upload.
    ///
    /// # Errors
    /// When a row of the database has an invalid file name.
    pub(super) fn with_uploads(&self, uploads: &[Uploaded]) -> ApiResult<Self> {
        let mut all = self.clone();
        for upload in uploads {
            let index =
                all.soundfonts.binary_search_by(|known| known.summary.soundfont_id.cmp(&upload.soundfont_id));
            match index {
                Ok(index) if all.soundfonts[index].summary.source == SoundFontSource::Upload => {
                    let other = other_soundfont(SoundFontSource::Upload, upload.format, SF2_FIRST);
                    // Before those of the system.
                    let others = &mut all.soundfonts[index].summary.others;
                    let end =
                        others.iter().take_while(|other| other.source == SoundFontSource::Upload).count();
                    others.insert(end, other);
                }
                Ok(index) => {
                    let system = std::mem::replace(&mut all.soundfonts[index], upload.soundfont()?).summary;
                    let summary = &mut all.soundfonts[index].summary;
                    summary.default = system.default;
                    summary.others = vec![other_soundfont(SoundFontSource::System, system.format, OWN_FIRST)];
                    summary.others.extend(system.others);
                }
                Err(index) => all.soundfonts.insert(index, upload.soundfont()?),
            }
        }
        if all.default_soundfont().is_none()
            && let Some(first) = all.soundfonts.iter_mut().find(|soundfont| soundfont.summary.usable)
        {
            first.summary.default = true;
        }
        Ok(all)
    }

    /// A tag, with its quotes, that changes with everything but `scanned_at`.
    #[must_use]
    pub fn etag(&self) -> String {
        let content = serde_json::to_vec(&self.soundfonts).unwrap_or_default();
        format!("\"{:x}\"", Sha256::digest(&content))
    }

    /// The SoundFont of an id as [`id_of_name`] makes it, whether it can be played or not.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&SoundFont> {
        self.soundfonts.iter().find(|soundfont| soundfont.summary.soundfont_id == id)
    }

    /// The bank that replaces missing ones.
    #[must_use]
    pub fn default_soundfont(&self) -> Option<&SoundFont> {
        self.soundfonts.iter().find(|soundfont| soundfont.summary.default)
    }

    /// The bank to play for an id (`None`: the default bank). The default replaces a missing or
    /// unusable bank; `None` if there is no default.
    #[must_use]
    pub fn choose(&self, soundfont_id: Option<&str>) -> Option<Chosen> {
        let requested = soundfont_id.map(id_of_name);
        let found =
            requested.as_ref().and_then(|id| self.find(id).filter(|soundfont| soundfont.summary.usable));
        let soundfont = found.or_else(|| self.default_soundfont())?.clone();
        Some(Chosen { soundfont, fallback: requested.is_some() && found.is_none() })
    }

    /// Opens the bank to play for an id, see [`Self::choose`]. Blocks.
    ///
    /// # Errors
    /// When the file was changed or removed since the scan.
    pub(crate) fn open(
        &self,
        state: &AppState,
        soundfont_id: Option<&str>,
    ) -> Result<Option<(Bank, Chosen)>, RenderError> {
        let Some(chosen) = self.choose(soundfont_id) else { return Ok(None) };
        Ok(Some((chosen.soundfont.open(state)?, chosen)))
    }
}

/// Reasons why another SoundFont with the same id is played.
pub(super) const SF2_FIRST: &str = "an SF2 file of the same id comes before an SF3";
pub(super) const PLAYABLE_FIRST: &str = "a file of the same id can be played, and this one cannot";
pub(super) const FOUND_FIRST: &str = "a file of the same id was found before it";
const OWN_FIRST: &str = "your own SoundFont of the same id comes before the system's";

/// A SoundFont that is not played, with the reason.
pub(super) fn other_soundfont(
    source: SoundFontSource,
    format: SoundFontFormat,
    reason: &str,
) -> OtherSoundFont {
    OtherSoundFont { source, format, reason: reason.to_owned() }
}

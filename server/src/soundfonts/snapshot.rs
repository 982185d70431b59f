//! The SoundFonts that somebody has at one moment, and which of them is played for an id.

use std::path::PathBuf;

use dsp_core::soundfont::Bank;
use sha2::{Digest as _, Sha256};

use super::store::Uploaded;
use super::{OtherSoundFont, SoundFont, SoundFontFormat, SoundFontSource, id_of_name};
use crate::error::ApiResult;
use crate::rendering::RenderError;
use crate::state::AppState;

/// The system's SoundFonts as the last scan found them, or these and a user's own.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// By ascending id, one for each.
    pub soundfonts: Vec<SoundFont>,
    /// Files of the folders that are not played, because another of their id is.
    pub passed_over: Vec<PassedOver>,
    /// When the scan ended, RFC 3339.
    pub scanned_at: String,
}

/// A file that is not played, because another of its id is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// The id.
    pub soundfont_id: String,
    /// The file.
    pub path: PathBuf,
    /// What kind of samples it has.
    pub format: SoundFontFormat,
    /// Why the other one is played.
    pub reason: &'static str,
    /// The other one.
    pub instead: PathBuf,
}

impl PassedOver {
    /// Which other one is played, and why.
    pub(crate) fn in_words(&self) -> String {
        format!("{}: {} is played for `{}`", self.reason, self.instead.display(), self.soundfont_id)
    }
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
    /// The same for a user who has uploaded `own`, by ascending id and each id's SF2 before its
    /// SF3. The default stays the system's, unless the user has one of its id; where the system has
    /// none, it is the user's first.
    ///
    /// # Errors
    /// When a row of the database names what cannot be a file.
    pub(super) fn with_uploads(&self, own: &[Uploaded]) -> ApiResult<Self> {
        let mut all = self.clone();
        for one in own {
            let index =
                all.soundfonts.binary_search_by(|other| other.summary.soundfont_id.cmp(&one.soundfont_id));
            match index {
                Ok(index) if all.soundfonts[index].summary.source == SoundFontSource::Upload => {
                    let other = other(SoundFontSource::Upload, one.format, SF2_FIRST);
                    // Before those of the system, which come up last.
                    let others = &mut all.soundfonts[index].summary.others;
                    let end = others.iter().take_while(|one| one.source == SoundFontSource::Upload).count();
                    others.insert(end, other);
                }
                Ok(index) => {
                    let system = std::mem::replace(&mut all.soundfonts[index], one.soundfont()?).summary;
                    let summary = &mut all.soundfonts[index].summary;
                    summary.default = system.default;
                    summary.others = vec![other(SoundFontSource::System, system.format, OWN_FIRST)];
                    summary.others.extend(system.others);
                }
                Err(index) => all.soundfonts.insert(index, one.soundfont()?),
            }
        }
        if all.default_soundfont().is_none()
            && let Some(first) = all.soundfonts.iter_mut().find(|one| one.summary.usable)
        {
            first.summary.default = true;
        }
        Ok(all)
    }

    /// Changes when anything but `scanned_at` does; with its quotes.
    #[must_use]
    pub fn etag(&self) -> String {
        let content = serde_json::to_vec(&self.soundfonts).unwrap_or_default();
        format!("\"{:x}\"", Sha256::digest(&content))
    }

    /// The SoundFont of an id as [`id_of_name`] makes it, whether it can be played or not.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&SoundFont> {
        self.soundfonts.iter().find(|one| one.summary.soundfont_id == id)
    }

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
        let found = wanted.as_ref().and_then(|id| self.find(id).filter(|one| one.summary.usable));
        let soundfont = found.or_else(|| self.default_soundfont())?.clone();
        Some(Chosen { soundfont, fallback: wanted.is_some() && found.is_none() })
    }

    /// Opens the bank to play for an id; `None` where there is none at all. Blocks.
    ///
    /// # Errors
    /// The file has changed or gone since the scan.
    pub(crate) fn open(
        &self,
        state: &AppState,
        soundfont_id: Option<&str>,
    ) -> Result<Option<(Bank, Chosen)>, RenderError> {
        let Some(chosen) = self.choose(soundfont_id) else { return Ok(None) };
        Ok(Some((chosen.soundfont.open(state)?, chosen)))
    }
}

/// Why of two SoundFonts with one id the one is played.
pub(super) const SF2_FIRST: &str = "an SF2 file of the same id comes before an SF3";
pub(super) const PLAYABLE_FIRST: &str = "a file of the same id can be played, and this one cannot";
pub(super) const FOUND_FIRST: &str = "a file of the same id was found before it";
const OWN_FIRST: &str = "your own SoundFont of the same id comes before the system's";

/// A SoundFont that is passed over.
pub(super) fn other(source: SoundFontSource, format: SoundFontFormat, reason: &str) -> OtherSoundFont {
    OtherSoundFont { source, format, reason: reason.to_owned() }
}

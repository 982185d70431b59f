//! The options of `songfoundry render` that change the sound of a song.

use schemas::Project;

use super::master_gain;

/// Range of the levels of reverb and chorus in decibels, as in the project's schema. The lowest
/// level is silence.
const LEVELS_DB: std::ops::RangeInclusive<f64> = -144.0..=6.0;

/// Range of the number of voices, as in the project's schema.
const POLYPHONY_RANGE: std::ops::RangeInclusive<u16> = 8..=256;

/// Options that change the sound of the song.
#[derive(Debug, clap::Args)]
pub(super) struct SoundArgs {
    /// Gain of the whole song in decibels, applied before the limiter.
    #[arg(long, value_name = "DB", default_value = "0", allow_negative_numbers = true, value_parser = gain_db)]
    gain_db: f64,
    /// Level of the reverb that the instruments share, -144 to 6 dB, or `off`. Default: that of the
    /// song, 0 for MIDI files.
    #[arg(long, value_name = "DB", allow_negative_numbers = true, value_parser = level_db)]
    reverb_db: Option<f64>,
    /// Level of the chorus that the instruments share, like --reverb-db.
    #[arg(long, value_name = "DB", allow_negative_numbers = true, value_parser = level_db)]
    chorus_db: Option<f64>,
    /// Maximum number of voices of a track, 8 to 256. Default: that of the song, 256 for MIDI
    /// files.
    #[arg(long, value_name = "VOICES", value_parser = polyphony)]
    polyphony: Option<u16>,
}

impl SoundArgs {
    /// Applies these options to a project. Returns whether the project has changed.
    ///
    /// # Errors
    /// The gain raises the master above its maximum level.
    pub(super) fn apply(&self, project: &mut Project) -> anyhow::Result<bool> {
        let Self { gain_db, reverb_db, chorus_db, polyphony } = self;
        if *gain_db != 0.0 {
            master_gain::add(project, *gain_db)?;
        }
        let settings = &mut project.settings;
        settings.reverb.level_db = reverb_db.unwrap_or(settings.reverb.level_db);
        settings.chorus.level_db = chorus_db.unwrap_or(settings.chorus.level_db);
        settings.polyphony = polyphony.unwrap_or(settings.polyphony);
        Ok(*gain_db != 0.0 || reverb_db.is_some() || chorus_db.is_some() || polyphony.is_some())
    }
}

fn gain_db(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite());
    value.ok_or_else(|| format!("`{text}` is not a number of decibels"))
}

fn level_db(text: &str) -> Result<f64, String> {
    if text == "off" {
        return Ok(*LEVELS_DB.start());
    }
    let value = text.parse().ok().filter(|value| LEVELS_DB.contains(value));
    let (min, max) = (LEVELS_DB.start(), LEVELS_DB.end());
    value.ok_or_else(|| format!("`{text}` is neither a level from {min} to {max} dB nor `off`"))
}

fn polyphony(text: &str) -> Result<u16, String> {
    let voices = text.parse().ok().filter(|voices| POLYPHONY_RANGE.contains(voices));
    let (min, max) = (POLYPHONY_RANGE.start(), POLYPHONY_RANGE.end());
    voices.ok_or_else(|| format!("`{text}` is not a number of voices from {min} to {max}"))
}

//! The options of an export that presets may contain.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::file_options::FileOptions;
use super::render::DEFAULTS;
use super::sound_options::{FileSettings, SoundOptions};
use super::unknown_options::refuse_unknown;

/// Format, quality, tags and samples of a file.
#[derive(Deserialize)]
struct PresetOptions {
    #[serde(flatten)]
    file: FileOptions,
    #[serde(flatten)]
    sound: SoundOptions,
    #[serde(flatten)]
    unknown_fields: Map<String, Value>,
}

/// Checks the options that a preset of an export contains.
///
/// # Errors
/// A sentence about the first option that `/plugins/render` would refuse.
pub(crate) fn check_preset_options(options: &Value) -> Result<(), String> {
    let PresetOptions { file, sound, unknown_fields } =
        PresetOptions::deserialize(options).map_err(|error| error.to_string())?;
    let checked_fields = refuse_unknown(unknown_fields.iter())
        .and_then(|()| file.check())
        .and_then(|file| FileSettings::check(file, sound, DEFAULTS));
    checked_fields.map(drop).map_err(|error| error.to_string())
}

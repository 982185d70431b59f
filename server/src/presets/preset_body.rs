//! Presets in the bodies of requests.

use schemas::json::JsonText;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{PresetKind, content};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::extract::{LongFields, check_count};

/// Maximum lengths of the texts, in characters.
const NAME_MAX_CHARS: usize = 200;
const CATEGORY_MAX_CHARS: usize = 64;
const DESCRIPTION_MAX_CHARS: usize = 2_000;

/// A preset to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetBody {
    /// Purpose of the preset.
    pub(super) kind: PresetKind,
    /// Name of the preset: 1 to 200 characters.
    pub(super) name: String,
    /// Category of the preset: at most 64 characters; empty by default.
    #[serde(default)]
    pub(super) category: String,
    /// Description of the preset: at most 2000 characters; empty by default.
    #[serde(default)]
    pub(super) description: String,
    /// `effects` as on a track of a project. An instrument has a `synth_engine`, and may also have
    /// `effects`. Ids and side-chains of effects are not stored, because they have a meaning only
    /// within one project. An export has the options of `/plugins/render` that concern its file:
    /// format, quality, tags, bit depth, noise shaping, sample rate, normalization and the check in
    /// mono.
    #[schema(value_type = Object)]
    pub(super) content: JsonText,
}

impl LongFields for PresetBody {
    const NAMES: &'static [&'static str] = &["content"];
}

impl PresetBody {
    /// Checks the preset. Returns it in the form in which it is stored.
    ///
    /// # Errors
    /// 400 `invalid_preset` with a list of all invalid values.
    pub(super) fn into_validated(mut self) -> ApiResult<Self> {
        let mut errors = Vec::new();
        for (pointer, text, min, max) in [
            ("/name", &mut self.name, 1, NAME_MAX_CHARS),
            ("/category", &mut self.category, 0, CATEGORY_MAX_CHARS),
            ("/description", &mut self.description, 0, DESCRIPTION_MAX_CHARS),
        ] {
            *text = text.trim().to_owned();
            let chars = text.chars().count();
            if !(min..=max).contains(&chars) || text.chars().any(char::is_control) {
                let detail =
                    format!("expected {min} to {max} printable characters; the text has {chars} characters");
                errors.push(FieldError { pointer: pointer.to_owned(), detail });
            }
        }
        // The parsed content needs much memory, so it exists only during the check.
        check_count(self.content.as_str().as_bytes())?;
        match content::check_content(self.kind, &self.content.view().to_value()) {
            Ok(valid_content) => self.content = JsonText::of_value(&valid_content),
            Err(faults) => errors.extend(faults),
        }
        let Some(first_error) = errors.first() else { return Ok(self) };
        let detail = format!(
            "The preset is not valid. The first error is at {}: {}",
            first_error.pointer, first_error.detail
        );
        Err(ApiError::Invalid { code: "invalid_preset", detail, errors })
    }
}

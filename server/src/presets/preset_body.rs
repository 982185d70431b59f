//! Presets in the bodies of requests.

use schemas::json::JsonText;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{PresetKind, content};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::extract::{LongFields, check_count};

/// Maximum lengths of texts, in characters.
const NAME_MAX_CHARS: usize = 200;
const CATEGORY_MAX_CHARS: usize = 64;
const DESCRIPTION_MAX_CHARS: usize = 2_000;

/// A preset to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetBody {
    /// Its purpose.
    pub(super) kind: PresetKind,
    /// Its name: 1 to 200 characters.
    pub(super) name: String,
    /// Its category: at most 64 characters; empty by default.
    #[serde(default)]
    pub(super) category: String,
    /// Description: at most 2000 characters; empty by default.
    #[serde(default)]
    pub(super) description: String,
    /// `effects` as on a track of a project; for an instrument `synth_engine`, and `effects` if it
    /// has some. Ids of effects and side-chains, which mean something in one project only, are not
    /// stored.
    #[schema(value_type = Object)]
    pub(super) content: JsonText,
}

impl LongFields for PresetBody {
    const NAMES: &'static [&'static str] = &["content"];
}

impl PresetBody {
    /// The preset as it is stored.
    ///
    /// # Errors
    /// 400 `invalid_preset` with all invalid values.
    pub(super) fn checked(mut self) -> ApiResult<Self> {
        let mut errors = Vec::new();
        for (pointer, text, min, max) in [
            ("/name", &mut self.name, 1, NAME_MAX_CHARS),
            ("/category", &mut self.category, 0, CATEGORY_MAX_CHARS),
            ("/description", &mut self.description, 0, DESCRIPTION_MAX_CHARS),
        ] {
            *text = text.trim().to_owned();
            let chars = text.chars().count();
            if !(min..=max).contains(&chars) || text.chars().any(char::is_control) {
                let detail = format!("expected {min} to {max} printable characters; it has {chars}");
                errors.push(FieldError { pointer: pointer.to_owned(), detail });
            }
        }
        // The tree of values exists only during the check.
        check_count(self.content.as_str().as_bytes())?;
        match content::checked(self.kind, &self.content.view().to_value()) {
            Ok(kept) => self.content = JsonText::of_value(&kept),
            Err(faults) => errors.extend(faults),
        }
        let Some(first) = errors.first() else { return Ok(self) };
        let detail = format!("The preset is not valid. First, at {}: {}", first.pointer, first.detail);
        Err(ApiError::Invalid { code: "invalid_preset", detail, errors })
    }
}

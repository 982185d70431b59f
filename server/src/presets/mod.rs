//! Presets: named instruments, effect chains and options of exports. Users store presets, and the
//! program contains others.
//!
//! `content.rs` checks each preset against the project schema and the engine's parameter tables, or
//! checks its options as an export does. Therefore this version can use every stored preset. A test
//! applies the same check to the factory presets.

mod content;
mod factory;
mod preset_body;
mod queries;
mod store;
mod verbs;

use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::db::RowLimits;
use crate::raw_json;
use crate::state::AppState;

/// Limits on the presets of a user.
const ROW_LIMITS: RowLimits = RowLimits {
    table: "presets",
    text_column: "content",
    code: "too_many_presets",
    noun: "presets",
    max_rows: 2_000,
    text_mib: 32,
};

/// Returns the routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(verbs::list, verbs::create)).routes(routes!(
        verbs::read,
        verbs::replace,
        verbs::delete
    ))
}

/// The purpose of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PresetKind {
    /// An instrument, with effects if it has any.
    Instrument,
    /// A chain of effects.
    EffectChain,
    /// Options of exports.
    Export,
}

impl PresetKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Instrument => "instrument",
            Self::EffectChain => "effect_chain",
            Self::Export => "export",
        }
    }
}

/// The origin of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PresetSource {
    /// The preset is part of the program and cannot be changed.
    Factory,
    /// The caller has stored the preset.
    User,
}

/// A preset without its content.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PresetSummary {
    /// Id: a UUID, or a name that begins with `factory-`.
    pub id: String,
    /// Purpose of the preset.
    pub kind: PresetKind,
    /// Origin of the preset.
    pub source: PresetSource,
    /// Name of the preset.
    pub name: String,
    /// Category of the preset, such as `Vocals`; may be empty.
    pub category: String,
    /// Description of the preset; may be empty.
    pub description: String,
    /// Time when the preset was stored, RFC 3339; null for factory presets.
    pub created_at: Option<String>,
    /// Time of the last change, RFC 3339; null for factory presets.
    pub updated_at: Option<String>,
}

/// A preset with its content.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct StoredPreset {
    /// All fields except the content.
    #[serde(flatten)]
    pub summary: PresetSummary,
    /// `effects` as on a track of a project, but without ids. An instrument also has a
    /// `synth_engine`. An export has options of `/plugins/render`.
    #[serde(serialize_with = "raw_json::serialize")]
    #[schema(value_type = Object)]
    pub content: JsonText,
}

#[cfg(test)]
mod tests;

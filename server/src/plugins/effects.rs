//! `GET /plugins/effects`.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use dsp_core::effects::{EFFECTS, EffectKind, Group, Parameter, Scale, Unit};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use super::modules::SCAN_CACHE_SECS;
use super::vst::VstPlugin;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, CommonErrors};
use crate::etag;
use crate::state::AppState;

/// The effects that the caller has.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EffectsAnswer {
    /// The engine's own effects, in the order in which people are offered them.
    effects: Vec<BuiltinEffect>,
    /// VST effects in the folders of an administrator, by name.
    vst_effects: Vec<VstPlugin>,
    /// How old the list of plugins is.
    cache: ScanCache,
}

/// An effect of the engine.
#[derive(Debug, Serialize, ToSchema)]
struct BuiltinEffect {
    /// Its `name` in projects.
    id: &'static str,
    /// What people call it.
    name: &'static str,
    /// Where people look for it.
    #[schema(schema_with = group_names)]
    group: Group,
    /// Whether it can listen to another track.
    has_side_chain: bool,
    /// How long its impulse response may be, in seconds; null where it takes none.
    impulse_max_secs: Option<f64>,
    /// What can be set, in the order in which people are shown it.
    parameters: Vec<EffectParameter>,
}

/// Something that can be set on an effect.
#[derive(Debug, Serialize, ToSchema)]
struct EffectParameter {
    /// Its name in an effect's `params`.
    id: &'static str,
    /// What people call it.
    name: &'static str,
    /// What its values count; of a `share` 1 is the whole.
    #[schema(schema_with = unit_names)]
    unit: Unit,
    /// Lowest value.
    min: f64,
    /// Highest value.
    max: f64,
    /// Value where a project says nothing.
    default: f64,
    /// How a knob divides the range.
    scale: ParameterScale,
    /// Names of a choice's values, counted from 0; empty for other scales.
    choices: &'static [&'static str],
}

fn group_names() -> Object {
    one_of(["dynamics", "tone", "space_and_time", "modulation", "utility"])
}

fn unit_names() -> Object {
    one_of([
        "number",
        "decibels",
        "hertz",
        "milliseconds",
        "seconds",
        "share",
        "ratio",
        "beats",
        "degrees",
        "octaves",
        "bits",
    ])
}

fn one_of<const N: usize>(names: [&'static str; N]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).build()
}

/// How a knob divides the range of a parameter.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ParameterScale {
    /// Equal turns add equal amounts.
    Linear,
    /// Equal turns multiply by equal factors.
    Logarithmic,
    /// One of the named values.
    Choice,
    /// Off (0) or on (1).
    Switch,
}

/// How old the list of plugins is, and how old it may become.
#[derive(Debug, Serialize, ToSchema)]
struct ScanCache {
    /// How long a scan is taken to hold, in seconds.
    max_age_secs: u32,
    /// When the plugins were searched for, RFC 3339; null where the caller has no folders to
    /// search.
    scanned_at: Option<String>,
}

/// Lists the effects that the caller can give to tracks and the master. Plugins come from a scan
/// that is at most five minutes old; without one this looks into those that are new or have
/// changed. An API key gets the list of the last scan, and starts none.
#[utoipa::path(get, path = "/plugins/effects", tag = "plugins",
    responses((status = 200, body = EffectsAnswer, headers(("ETag" = String))),
        (status = 304, description = "`If-None-Match` names the current list"), CommonErrors))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let scan = state.plugins.current(&user).await?;
    let plugins = scan.iter().flat_map(|scan| &scan.effects);
    let answer = EffectsAnswer {
        effects: EFFECTS.iter().map(|kind| BuiltinEffect::of(kind)).collect(),
        vst_effects: plugins.map(VstPlugin::from).collect(),
        cache: ScanCache {
            max_age_secs: SCAN_CACHE_SECS,
            scanned_at: scan.as_ref().map(|scan| scan.scanned_at.clone()),
        },
    };
    etag::tagged_json(&headers, &answer)
}

impl BuiltinEffect {
    fn of(kind: &EffectKind) -> Self {
        Self {
            id: kind.id,
            name: kind.name,
            group: kind.group,
            has_side_chain: kind.has_side_chain,
            impulse_max_secs: kind.impulse_max_secs,
            parameters: kind.parameters.iter().map(EffectParameter::of).collect(),
        }
    }
}

impl EffectParameter {
    fn of(parameter: &Parameter) -> Self {
        let (scale, choices): (_, &[&str]) = match parameter.scale {
            Scale::Linear => (ParameterScale::Linear, &[]),
            Scale::Logarithmic => (ParameterScale::Logarithmic, &[]),
            Scale::Choice(choices) => (ParameterScale::Choice, choices),
            Scale::Switch => (ParameterScale::Switch, &[]),
        };
        let Parameter { id, name, unit, min, max, default, .. } = *parameter;
        Self { id, name, unit, min, max, default, scale, choices }
    }
}

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
    /// The engine's effects, in display order.
    effects: Vec<BuiltinEffect>,
    /// VST effects in the folders of an administrator, by name.
    vst_effects: Vec<VstPlugin>,
    /// Age of the list of plugins.
    cache: ScanCache,
}

/// An effect of the engine.
#[derive(Debug, Serialize, ToSchema)]
struct BuiltinEffect {
    /// Its `name` in projects.
    id: &'static str,
    /// Display name.
    name: &'static str,
    /// Group in menus.
    #[schema(schema_with = group_names)]
    group: Group,
    /// Whether it has a side-chain input.
    has_side_chain: bool,
    /// Longest impulse response in seconds; null if it uses none.
    impulse_max_secs: Option<f64>,
    /// Its parameters, in display order.
    parameters: Vec<EffectParameter>,
}

/// A parameter of an effect.
#[derive(Debug, Serialize, ToSchema)]
struct EffectParameter {
    /// Its name in an effect's `params`.
    id: &'static str,
    /// Display name.
    name: &'static str,
    /// Unit of its values; a `share` is 0 to 1.
    #[schema(schema_with = unit_names)]
    unit: Unit,
    /// Lowest value.
    min: f64,
    /// Highest value.
    max: f64,
    /// Default value.
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

/// Age of the list of plugins, and its limit.
#[derive(Debug, Serialize, ToSchema)]
struct ScanCache {
    /// How long a scan is valid, in seconds.
    max_age_secs: u32,
    /// Time of the scan, RFC 3339; null if the caller has no folders to
    /// search.
    scanned_at: Option<String>,
}

/// Lists the effects that the caller can use on tracks and the master. Plugins come from a scan
/// that is at most five minutes old; without one this scans those that are new or have changed. An
/// API key gets the list of the last scan, and starts none.
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

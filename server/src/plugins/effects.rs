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
use crate::error::ApiResult;
use crate::etag;
use crate::state::AppState;

/// The effects that the caller can use.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EffectsAnswer {
    /// Effects of the engine, in display order.
    effects: Vec<BuiltinEffect>,
    /// VST effects in the caller's plugin folders, sorted by name. Only administrators and callers
    /// on this machine have such folders; in `container`, all users have those of the installation.
    vst_effects: Vec<VstPlugin>,
    /// Time and validity of the scan that found the plugins.
    cache: ScanCache,
}

/// An effect of the engine.
#[derive(Debug, Serialize, ToSchema)]
struct BuiltinEffect {
    /// `name` of the effect in projects.
    id: &'static str,
    /// Display name.
    name: &'static str,
    /// Group of the effect in menus.
    #[schema(schema_with = group_names)]
    group: Group,
    /// Whether the effect has a side-chain input.
    has_side_chain: bool,
    /// Longest impulse response that the effect accepts, in seconds; null if it uses none.
    impulse_max_secs: Option<f64>,
    /// Parameters of the effect, in display order.
    parameters: Vec<EffectParameter>,
}

/// A parameter of an effect.
#[derive(Debug, Serialize, ToSchema)]
struct EffectParameter {
    /// Name of the parameter in an effect's `params`.
    id: &'static str,
    /// Display name.
    name: &'static str,
    /// Unit of the values. A `share` is 0 to 1.
    #[schema(schema_with = unit_names)]
    unit: Unit,
    /// Lowest value.
    min: f64,
    /// Highest value.
    max: f64,
    /// Default value.
    default: f64,
    /// How a control divides the range of values.
    scale: ParameterScale,
    /// Names of the values of a `choice`, counted from 0; empty for other scales.
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

/// How a control, such as a knob, divides the range of a parameter.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ParameterScale {
    /// Equal turns of the knob add equal amounts.
    Linear,
    /// Equal turns of the knob multiply by equal factors.
    Logarithmic,
    /// The value is one of the named choices.
    Choice,
    /// The value is off (0) or on (1).
    Switch,
}

/// Time and validity of the last plugin scan.
#[derive(Debug, Serialize, ToSchema)]
struct ScanCache {
    /// How long a scan is valid, in seconds.
    max_age_secs: u32,
    /// Time of the scan, RFC 3339; null if there is no scan, for example because the caller has no
    /// plugin folders.
    scanned_at: Option<String>,
}

/// Lists the effects that the caller can use on tracks and the master. The plugins come from the
/// last scan if it is at most five minutes old. Otherwise, this request scans new and changed
/// plugins. A request with an API key never scans: it gets the list of the last scan. In
/// `container`, only administrators scan, and all other users get the list of the last scan.
#[utoipa::path(get, path = "/plugins/effects", tag = "plugins",
    responses((status = 200, body = EffectsAnswer, headers(("ETag" = String))),
        (status = 304, description = "`If-None-Match` names the current list")))]
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

//! The part of a request that sets up a plugin: its state, its parameters and their automation.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dsp_core::session::AutomationPoint;
use dsp_core::tempo::TempoMap;
use schemas::json::{JsonKind, JsonText};
use schemas::limits::MAX_TICK;
use schemas::project::AutomationCurve as CurveShape;
use serde::Deserialize;
use serde_json::{Map, Value};
use songfoundry_bridge_protocol::frame::BINARY_BYTES_MAX;
use songfoundry_bridge_protocol::host::PARAMETERS_MAX;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};

use super::notes::TimeBase;
use crate::error::{ApiError, ApiResult};
use crate::rendering::plugin_track::{AutomationCurve, CURVES_MAX, PluginSetup, StartState};

/// Maximum number of points of all automation of a request.
const POINTS_MAX: usize = 200_000;

/// Latest automation point in seconds: a day, as long as the longest song.
const POINT_MAX_SECS: f64 = 86_400.0;

/// Defines a request that sets up a plugin. Adds the fields `state`, `preset` and `params` to the
/// given fields. A macro is used because serde cannot refuse unknown fields in a struct that is
/// flattened into another one.
macro_rules! plugin_request {
    ($(#[$attribute:meta])* pub(super) struct $name:ident { $($fields:tt)* }) => {
        $(#[$attribute])*
        #[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($fields)*
            /// State that the plugin loads, in base64, as in the field `state` of a project.
            #[schema(content_encoding = "base64")]
            state: Option<String>,
            /// Preset that the plugin loads instead of a state.
            #[schema(value_type = Option<$crate::exports::PluginPreset>)]
            preset: Option<serde_json::Value>,
            /// Normalized values (0 to 1) of parameters, by the name or the id of the parameter.
            /// They are set after `state` or `preset` is loaded.
            #[serde(default)]
            #[schema(value_type = HashMap<String, f64>, required = false)]
            params: serde_json::Map<String, serde_json::Value>,
        }
    };
}
pub(crate) use plugin_request;

/// A preset of a plugin.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum PluginPreset {
    /// Index of one of the plugin's programs.
    Program(u32),
    /// Content of a `.vstpreset`, `.fxp` or `.fxb` file, in base64.
    File(String),
}

/// Automation of a parameter.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginAutomation {
    /// Id or name of the parameter, as in `params`.
    param: String,
    /// Points by ascending time.
    points: Vec<PluginAutomationPoint>,
}

/// A point of automation. It has either `tick` or `secs`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginAutomationPoint {
    /// Position in the unit of `time_base`.
    #[schema(minimum = 0)]
    tick: Option<f64>,
    /// Position in seconds.
    #[schema(minimum = 0, maximum = 86400)]
    secs: Option<f64>,
    /// Normalized value.
    #[schema(minimum = 0, maximum = 1)]
    value: f64,
    /// Shape of the segment to the next point, as in the automation of a project: `linear`, `step`,
    /// or an arc by its curvature from -1 to 1.
    #[serde(default)]
    #[schema(schema_with = curve_shapes)]
    curve: CurveShape,
}

fn curve_shapes() -> Schema {
    let name = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["linear", "step"]));
    let curvature = ObjectBuilder::new().schema_type(Type::Number).minimum(Some(-1.0)).maximum(Some(1.0));
    Schema::OneOf(OneOfBuilder::new().item(name).item(curvature).build())
}

/// The fields of a request that set up a plugin.
pub(super) struct PluginOptions {
    pub(super) state: Option<String>,
    pub(super) preset: Option<Value>,
    pub(super) params: Map<String, Value>,
    pub(super) automation: Option<JsonText>,
}

/// Converts positions to frames.
pub(super) struct PointClock<'t> {
    pub(super) time_base: TimeBase,
    pub(super) tempo: &'t TempoMap,
    pub(super) sample_rate_hz: u32,
}

impl PluginOptions {
    /// Returns the checked setup of the plugin.
    ///
    /// # Errors
    /// 422 `bad_state`, `bad_preset`, `bad_plugin_parameter` or `bad_automation`, which names the
    /// field and its limit.
    pub(super) fn check(self, clock: &PointClock<'_>) -> ApiResult<PluginSetup> {
        let setup = setup_of(self.state, self.preset, self.params)?;
        Ok(PluginSetup { curves: check_automation(self.automation, clock)?, ..setup })
    }
}

/// Returns the checked setup of a plugin without automation.
///
/// # Errors
/// 422 `bad_state`, `bad_preset` or `bad_plugin_parameter`, which names the field and its limit.
pub(crate) fn setup_of(
    state: Option<String>,
    preset: Option<Value>,
    params: Map<String, Value>,
) -> ApiResult<PluginSetup> {
    let start = match (state, preset) {
        (Some(_), Some(_)) => {
            let detail = "A plugin starts with either `state` or `preset`; leave one of them out.";
            return Err(unprocessable("bad_preset", detail.to_owned()));
        }
        (Some(state), None) => StartState::State(decode_base64("bad_state", "state", &state)?),
        (None, Some(preset)) => preset_of(preset)?,
        (None, None) => StartState::New,
    };
    Ok(PluginSetup { start, values: check_params(params)?, ..PluginSetup::default() })
}

fn unprocessable(code: &'static str, detail: String) -> ApiError {
    ApiError::Unprocessable { code, detail }
}

fn decode_base64(code: &'static str, field: &str, text: &str) -> ApiResult<Vec<u8>> {
    let decoded_state = BASE64_STANDARD
        .decode(text)
        .map_err(|error| unprocessable(code, format!("`{field}` is not valid base64: {error}.")))?;
    match decoded_state.len() {
        0 => Err(unprocessable(code, format!("`{field}` is empty; leave it out for a new plugin."))),
        length if length > BINARY_BYTES_MAX => Err(unprocessable(
            code,
            format!("`{field}` has {length} bytes; at most {BINARY_BYTES_MAX} are allowed."),
        )),
        _ => Ok(decoded_state),
    }
}

fn preset_of(preset: Value) -> ApiResult<StartState> {
    const CODE: &str = "bad_preset";
    match serde_json::from_value(preset) {
        Ok(PluginPreset::Program(index)) => Ok(StartState::Program(index)),
        Ok(PluginPreset::File(text)) => Ok(StartState::Preset(decode_base64(CODE, "preset", &text)?)),
        Err(_) => {
            let detail = "`preset` is neither the index of a program (from 0) nor a preset file in base64.";
            Err(unprocessable(CODE, detail.to_owned()))
        }
    }
}

/// Checks normalized values.
fn check_params(params: Map<String, Value>) -> ApiResult<Vec<(String, f64)>> {
    const CODE: &str = "bad_plugin_parameter";
    if params.len() > PARAMETERS_MAX {
        let detail = format!("`params` has {} values; at most {PARAMETERS_MAX} are allowed.", params.len());
        return Err(unprocessable(CODE, detail));
    }
    let checked = |(name, value): (String, Value)| match value.as_f64() {
        Some(number) if (0.0..=1.0).contains(&number) => Ok((name, number)),
        _ => Err(unprocessable(
            CODE,
            format!("`params` sets `{name}` to {value}; normalized values are numbers from 0 to 1."),
        )),
    };
    params.into_iter().map(checked).collect()
}

fn check_automation(automation: Option<JsonText>, clock: &PointClock<'_>) -> ApiResult<Vec<AutomationCurve>> {
    const CODE: &str = "bad_automation";
    let Some(automation) = automation else { return Ok(Vec::new()) };
    if automation.view().kind() != JsonKind::List {
        return Err(unprocessable(CODE, "`automation` is not a list.".to_owned()));
    }
    let mut curves = BTreeMap::new();
    let mut points_count = 0;
    for (index, entry) in automation.view().entries().enumerate() {
        let pointer = format!("automation/{index}");
        if index >= CURVES_MAX {
            let detail =
                format!("`{pointer}` exceeds the maximum: at most {CURVES_MAX} parameters can be automated.");
            return Err(unprocessable(CODE, detail));
        }
        let PluginAutomation { param, points } = serde_json::from_str(entry.as_json()).map_err(|error| {
            unprocessable(CODE, format!("`{pointer}` is not an object with `param` and `points`: {error}."))
        })?;
        points_count += points.len();
        if points_count > POINTS_MAX {
            let detail = format!("`automation` has more than {POINTS_MAX} points, which is the maximum.");
            return Err(unprocessable(CODE, detail));
        }
        let mut compiled_points = Vec::with_capacity(points.len());
        for (number, point) in points.iter().enumerate() {
            let error = |reason: &str| unprocessable(CODE, format!("`{pointer}/points/{number}` {reason}."));
            let frame = clock.frame_of(point).map_err(|reason| error(&reason))?;
            if !(0.0..=1.0).contains(&point.value) {
                return Err(error(&format!("has the value {}; expected 0 to 1", point.value)));
            }
            if let CurveShape::Curvature(curvature) = point.curve
                && !(-1.0..=1.0).contains(&curvature)
            {
                return Err(error(&format!("has the curvature {curvature}; expected -1 to 1")));
            }
            if compiled_points.last().is_some_and(|last: &AutomationPoint| last.frame > frame) {
                return Err(error(&format!(
                    "is at {}, before the previous point at {}; points must be in ascending order",
                    clock.position_in_words(point),
                    clock.position_in_words(&points[number - 1])
                )));
            }
            compiled_points.push(AutomationPoint { frame, value: point.value, curve: point.curve.into() });
        }
        let curve = AutomationCurve { parameter: param.clone(), points: compiled_points };
        if curves.insert(param.clone(), curve).is_some() {
            let detail = format!(
                "`{pointer}/param` is `{param}`, which an earlier entry of `automation` already automates."
            );
            return Err(unprocessable(CODE, detail));
        }
    }
    Ok(curves.into_values().collect())
}

impl PointClock<'_> {
    /// Returns the position of a valid point in the unit in which the request has it.
    fn position_in_words(&self, point: &PluginAutomationPoint) -> String {
        match point.tick {
            Some(tick) if self.time_base == TimeBase::Ticks => format!("tick {tick}"),
            tick => format!("{} seconds", tick.or(point.secs).unwrap_or_default()),
        }
    }

    /// Returns the frame of a point, or the reason why its position is invalid.
    fn frame_of(&self, point: &PluginAutomationPoint) -> Result<u64, String> {
        let secs = match (point.tick, point.secs) {
            (Some(tick), None) if self.time_base == TimeBase::Ticks => {
                if tick.fract() != 0.0 || !(0.0..=f64::from(MAX_TICK)).contains(&tick) {
                    return Err(format!("has the tick {tick}; expected a whole number from 0 to {MAX_TICK}"));
                }
                return Ok(self.tempo.frame_at(tick as u64, self.sample_rate_hz));
            }
            (Some(secs), None) | (None, Some(secs)) => secs,
            _ => return Err("must have either `tick` or `secs`".to_owned()),
        };
        match (0.0..=POINT_MAX_SECS).contains(&secs) {
            true => Ok((secs * f64::from(self.sample_rate_hz)).round() as u64),
            false => Err(format!("is at {secs} seconds; expected 0 to {POINT_MAX_SECS}")),
        }
    }
}

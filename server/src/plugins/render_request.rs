//! What a render is asked to be, checked.

use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiError, ApiResult};
use crate::extract::LongFields;
use crate::projects::ProjectDocument;
use crate::rendering::receipt::BitDepth;

/// Longest tail where the request names none, in seconds.
pub(super) const TAIL_DEFAULT_SECS: f64 = 5.0;

/// Rates at which a project can be rendered, in hertz.
pub(super) const SAMPLE_RATES_HZ: [u32; 3] = [44_100, 48_000, 96_000];

/// What to render, and how.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct RenderRequest {
    /// A stored project; exactly one of this and `project` is given.
    pub(super) project_id: Option<String>,
    /// A project document.
    #[schema(value_type = Option<ProjectDocument>)]
    pub(super) project: Option<JsonText>,
    /// File format: `wav`, the default.
    #[schema(value_type = Option<Format>)]
    pub(super) format: Option<String>,
    /// How samples stand in the file: `pcm16`, the default, or `float32`.
    #[schema(value_type = Option<BitDepth>)]
    pub(super) bit_depth: Option<String>,
    /// 44100, 48000 or 96000 Hz; the project's own rate by default.
    #[schema(schema_with = rate_choices)]
    pub(super) sample_rate_hz: Option<u32>,
    /// Longest time in seconds that the sound may ring on after the last item; 5 by default.
    #[schema(minimum = 0, maximum = 60)]
    pub(super) tail_secs: Option<f64>,
    /// `title` names the file for the browser; the project's name by default.
    pub(super) metadata: Option<RenderMetadata>,
    /// Options that this version does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    other: Map<String, Value>,
}

impl LongFields for RenderRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// File formats, for the API's description.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its description is used")]
enum Format {
    /// WAV.
    Wav,
}

/// The rates of [`SAMPLE_RATES_HZ`], or null.
pub(super) fn rate_choices() -> Object {
    let rates = SAMPLE_RATES_HZ.map(Value::from).into_iter().chain([Value::Null]);
    let types = SchemaType::from_iter([Type::Integer, Type::Null]);
    ObjectBuilder::new().schema_type(types).enum_values(Some(rates)).build()
}

/// Words about the song.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct RenderMetadata {
    /// Title.
    pub(super) title: Option<String>,
    /// Fields that this version cannot write.
    #[serde(flatten)]
    #[schema(ignore)]
    other: Map<String, Value>,
}

/// How to wait for the render.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RenderQuery {
    /// `true`: answer 202 with a task at once. The task's result is what a direct answer would be.
    #[serde(default, rename = "async")]
    #[param(rename = "async")]
    pub(super) asynchronous: bool,
}

/// How to render, checked.
#[derive(Serialize, Deserialize)]
pub(super) struct RenderSettings {
    pub(super) bit_depth: BitDepth,
    pub(super) sample_rate_hz: Option<u32>,
    pub(super) tail_secs: f64,
    pub(super) title: Option<String>,
}

impl RenderSettings {
    /// What a request asks for beside its project, with tails of at most `tail_limit_secs`.
    ///
    /// # Errors
    /// 400, naming what cannot be done.
    pub(super) fn of(request: &mut RenderRequest, tail_limit_secs: u64) -> ApiResult<Self> {
        // Taken out, so that they are not held while the project is loaded.
        let (other, metadata) = (core::mem::take(&mut request.other), request.metadata.take());
        refuse_unknown(other.iter().chain(metadata.iter().flat_map(|metadata| &metadata.other)))?;
        let in_lower_case = |text: &String| text.to_ascii_lowercase();
        match request.format.as_ref().map(in_lower_case).as_deref() {
            None | Some("wav") => {}
            Some(other) => {
                let detail = format!("The format `{other}` cannot be written; `wav` can.");
                return Err(ApiError::bad_request("unsupported_format", detail));
            }
        }
        let bit_depth = match request.bit_depth.as_ref().map(in_lower_case).as_deref() {
            None | Some("pcm16") => BitDepth::Pcm16,
            Some("float32") => BitDepth::Float32,
            Some(other) => {
                let detail = format!("The bit depth `{other}` cannot be written; `pcm16` and `float32` can.");
                return Err(ApiError::bad_request("unsupported_format", detail));
            }
        };
        Ok(Self {
            bit_depth,
            sample_rate_hz: request.sample_rate_hz.map(checked_rate).transpose()?,
            tail_secs: checked_tail(request.tail_secs, TAIL_DEFAULT_SECS, tail_limit_secs)?,
            title: metadata.and_then(|metadata| metadata.title).filter(|title| !title.trim().is_empty()),
        })
    }
}

/// Refuses options that this version does not know, unless they say that they are not wanted.
///
/// # Errors
/// 400 `unsupported_option`, naming the first.
pub(crate) fn refuse_unknown<'a>(
    mut options: impl Iterator<Item = (&'a String, &'a Value)>,
) -> ApiResult<()> {
    match options.find(|(_, value)| !is_off(value)) {
        None => Ok(()),
        Some((name, _)) => Err(ApiError::bad_request(
            "unsupported_option",
            format!("This version of Songfoundry cannot apply the option `{name}`; leave it out."),
        )),
    }
}

/// Whether an option says that it is not wanted.
fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.values().all(is_off),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

pub(crate) fn checked_rate(sample_rate_hz: u32) -> ApiResult<u32> {
    if SAMPLE_RATES_HZ.contains(&sample_rate_hz) {
        return Ok(sample_rate_hz);
    }
    Err(ApiError::bad_request(
        "unsupported_sample_rate",
        format!("The sample rate {sample_rate_hz} Hz is not one of 44100, 48000 and 96000 Hz."),
    ))
}

/// A tail within the limit; where none is asked for, the default or the limit if that is shorter.
pub(crate) fn checked_tail(tail_secs: Option<f64>, default_secs: f64, limit_secs: u64) -> ApiResult<f64> {
    let tail_secs = tail_secs.unwrap_or(default_secs.min(limit_secs as f64));
    if (0.0..=limit_secs as f64).contains(&tail_secs) {
        return Ok(tail_secs);
    }
    Err(ApiError::bad_request(
        "bad_tail",
        format!("The tail of {tail_secs:?} seconds is outside 0 to {limit_secs} seconds (SF_TAIL_MAX_SECS)."),
    ))
}

//! Handler of `POST /audio/reference`, which measures a finished recording to compare a mix with.

use std::fs::File;
use std::io::{BufReader, Read};

use axum::extract::{FromRequest as _, Request, State};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::import::{Observer, decode, make_destination, receive_content};
use super::measure::{AudioAnalysis, BandLevel, measure};
use super::store::find;
use super::upload::UploadForm;
use super::{ContentKeys, download};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{BodyLimit, Json};
use crate::form::{self, form_error};
use crate::permits::Caller;
use crate::state::AppState;
use crate::storage::{Allowance, ReceivedFile, receive_field};

/// A stored audio file that a mix is compared with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReferenceRequest {
    /// Id of the audio file.
    audio_id: String,
}

/// Measurements of a finished recording, by which a mix and its reference are compared.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReferenceAnswer {
    /// Name of the file.
    name: String,
    /// Length in seconds.
    duration_secs: f64,
    /// Sample rate in hertz.
    sample_rate_hz: u32,
    /// Gated loudness in LUFS (EBU R 128); null for silence and for files shorter than 400 ms. A
    /// mono file is measured as if both loudspeakers played it, which is 3 LU more than on meters
    /// that measure it as one channel.
    lufs: Option<f64>,
    /// True peak in dBTP; null for silence.
    true_peak_db: Option<f64>,
    /// Loudness range in LU (EBU Tech 3342).
    loudness_range_lu: f64,
    /// Mean frequency of the spectrum weighted by amplitude, in hertz; null for silence.
    spectral_centroid_hz: Option<f64>,
    /// Levels in third-octave bands from 25 Hz to 20 kHz.
    third_octaves: Vec<BandLevel>,
    /// Faults of the file that did not prevent decoding, as sentences.
    warnings: Vec<String>,
}

/// Measures a reference: a stored file by its id, or an uploaded file that is not stored.
#[utoipa::path(post, path = "/audio/reference", tag = "audio",
    request_body(content((ReferenceRequest = "application/json"), (UploadForm = "multipart/form-data"))),
    responses((status = 200, body = ReferenceAnswer),
        (status = 404, description = "The caller has no such audio file", body = Problem,
            content_type = "application/problem+json"),
        (status = 415, description = "Not a supported kind of audio file", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`audio_damaged` or `audio_limit`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn reference(
    State(state): State<AppState>,
    user: CurrentUser,
    mut request: Request,
) -> ApiResult<Json<ReferenceAnswer>> {
    if form::is_form(request.headers()) {
        let received_file = receive_one(&state, request).await?;
        return measure_received(&state, &user.id, received_file).await.map(Json);
    }
    // The body limit of this path is for files, but JSON is read into memory, so its limit is
    // smaller.
    request.extensions_mut().insert(BodyLimit::default());
    let Json(ReferenceRequest { audio_id }) = Json::from_request(request, &state).await?;
    let stored_file = find(&state, &user.id, &audio_id).await?;
    let samples =
        download::open(&state, ContentKeys::new(&stored_file.content.sha256)?.samples, &audio_id).await?;
    let name = stored_file.file.name;
    let report = stored_file.content.report;
    let work = move |caller: &Caller| {
        let analysis = measure(BufReader::new(samples), &report, &mut |_| !caller.has_disconnected())?;
        Ok(answer(name, analysis, report.warnings))
    };
    state.audio.decoding.run_for(&user.id, 1, work).await.map(Json)
}

/// Receives the first file of a form.
async fn receive_one(state: &AppState, request: Request) -> ApiResult<ReceivedFile> {
    let destination = make_destination(state);
    let mut form = form::read(request).await?;
    while let Some(field) =
        form.next_field().await.map_err(|error| form_error(&error, || destination.too_large_error()))?
    {
        if let Some(name) = field.file_name().map(str::to_owned) {
            let allowance = Allowance::of_temporary_files(state);
            return receive_field(state, allowance, destination, &name, field).await;
        }
    }
    Err(ApiError::bad_request("no_file", "The form has no file; send a part with a file name."))
}

async fn measure_received(
    state: &AppState,
    user_id: &str,
    received_file: ReceivedFile,
) -> ApiResult<ReferenceAnswer> {
    let (work_state, runtime) = (state.clone(), Handle::current());
    let work = move |caller: &Caller| {
        measure_file(&work_state, &runtime, received_file, &mut |_| !caller.has_disconnected())
    };
    state.audio.decoding.run_for(user_id, 1, work).await
}

/// Decodes and measures the content of an audio file that is not one of the stored audio files.
/// Blocks.
///
/// # Errors
/// 415 or 422 if the file is not supported.
pub(crate) fn measure_content(
    state: &AppState,
    runtime: &Handle,
    name: &str,
    content: &mut dyn Read,
    observer: Observer<'_>,
) -> ApiResult<ReferenceAnswer> {
    let allowance = Allowance::of_temporary_files(state);
    let received_file = receive_content(state, runtime, allowance, name, content, &mut *observer)?;
    measure_file(state, runtime, received_file, observer)
}

fn measure_file(
    state: &AppState,
    runtime: &Handle,
    received_file: ReceivedFile,
    observer: Observer<'_>,
) -> ApiResult<ReferenceAnswer> {
    let decoded_audio =
        decode(state, runtime, &Allowance::of_temporary_files(state), &received_file, &mut *observer)?;
    let samples = BufReader::new(File::open(decoded_audio.samples.temporary())?);
    let analysis = measure(samples, &decoded_audio.report, observer)?;
    Ok(answer(received_file.name, analysis, decoded_audio.report.warnings))
}

fn answer(name: String, analysis: AudioAnalysis, warnings: Vec<String>) -> ReferenceAnswer {
    ReferenceAnswer {
        name,
        duration_secs: analysis.duration_secs,
        sample_rate_hz: analysis.sample_rate_hz,
        lufs: analysis.lufs,
        true_peak_db: analysis.true_peak_db,
        loudness_range_lu: analysis.loudness_range_lu,
        spectral_centroid_hz: analysis.spectral_centroid_hz,
        third_octaves: analysis.third_octaves,
        warnings,
    }
}

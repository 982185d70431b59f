//! Handler of `GET /audio/{id}/peaks`, which sends the peaks of a waveform.

use std::io::BufReader;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use dsp_core::peaks::PeakBuilder;
use serde::Serialize;
use utoipa::ToSchema;

use super::float_wav::FloatWavReader;
use super::peaks_file::{self, Shape, level_of};
use super::queries::{PeaksFormat, PeaksQuery};
use super::store::find;
use super::{ContentKeys, download};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::etag;
use crate::extract::{Path, Query};
use crate::large_answer::Recipient;
use crate::state::AppState;

/// Coarsest and default resolution, in frames per pixel.
const FRAMES_PER_PIXEL_MAX: u64 = 65_536;
const FRAMES_PER_PIXEL_DEFAULT: u64 = 256;

/// Maximum number of pixels of an answer from the stored levels, and of one that is computed from
/// the samples.
const STORED_PIXELS_MAX: u64 = 1 << 20;
const COMPUTED_PIXELS_MAX: u64 = 1 << 16;

/// Number of frames that are read at a time.
const READ_FRAMES: u64 = 16_384;

/// Peaks as BBC audiowaveform writes them in JSON (version 2).
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Peaks {
    /// Version of the format: 2.
    version: u32,
    /// Number of channels: 1 or 2.
    channels: u32,
    /// Sample rate in hertz.
    sample_rate: u32,
    /// Frames per pixel.
    samples_per_pixel: u64,
    /// Width of the values in bits: 8 or 16.
    bits: u32,
    /// Number of pixels.
    length: u64,
    /// Minimum and maximum of each channel in turn, pixel by pixel. Full scale is 127 or 32767.
    data: Vec<i16>,
}

/// Returns the minimum and maximum samples of each pixel of a waveform.
///
/// The layout is that of BBC audiowaveform, version 2: `dat` is binary, and `json` has the same
/// values. Peaks of 256 or more frames per pixel are stored when a file is uploaded. Finer ones are
/// computed from the samples on request.
#[utoipa::path(get, path = "/audio/{id}/peaks", tag = "audio",
    params(("id", description = "Id of the file"), PeaksQuery),
    responses((status = 200, description = "The peaks", headers(("ETag" = String)), content(
            (Peaks = "application/json"), (String = "application/octet-stream"))),
        (status = 304, description = "`If-None-Match` names these peaks")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Query(query): Query<PeaksQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let stored_file = find(&state, &user.id, &id).await?;
    let report = &stored_file.content.report;
    let shape = Shape { channels: report.channels, frames: report.frames };
    let window = Window::from_query(&query, shape)?;
    let bits = match query.bits.unwrap_or(16) {
        bits @ (8 | 16) => bits,
        other_bits => return Err(bad_query_error(format!("`bits` is {other_bits}; expected 8 or 16"))),
    };
    let Window { frames_per_pixel, start, pixels } = window;
    let (sha256, format) = (&stored_file.content.sha256, query.format);
    let tag = format!("\"{sha256}-peaks-{format:?}-{bits}-{frames_per_pixel}-{start}-{pixels}\"");
    let mut fields = HeaderMap::new();
    fields.insert(header::ETAG, HeaderValue::from_str(&tag).map_err(ApiError::internal)?);
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if etag::matches_if_none_match(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, fields).into_response());
    }
    let content_keys = ContentKeys::new(sha256)?;
    let level = level_of(frames_per_pixel);
    let source =
        download::open(&state, if level.is_some() { content_keys.peaks } else { content_keys.samples }, &id)
            .await?;
    let sample_rate = report.sample_rate_hz;
    let recipient = Recipient::new(&state, &user.id, &headers);
    let work = move || -> ApiResult<Response> {
        let mut peak_values = match level {
            Some(level) => peaks_file::read(source, shape, level, start, pixels)?,
            None => compute(BufReader::new(source), shape, window)?,
        };
        if bits == 8 {
            peak_values.iter_mut().for_each(|value| *value /= 256);
        }
        let peaks = Peaks {
            version: 2,
            channels: shape.channels,
            sample_rate,
            samples_per_pixel: frames_per_pixel,
            bits,
            length: pixels,
            data: peak_values,
        };
        let (media_type, bytes) = match format {
            PeaksFormat::Json => {
                ("application/json", serde_json::to_vec(&peaks).map_err(ApiError::internal)?)
            }
            PeaksFormat::Dat => ("application/octet-stream", peaks.binary()),
        };
        drop(peaks);
        recipient.answer(media_type, bytes)
    };
    let mut response = state.audio.peaks.run(move |_| work()).await?;
    response.headers_mut().extend(fields);
    Ok(response)
}

impl Peaks {
    /// Returns the content of a `.dat` file (audiowaveform, `doc/DataFormat.md`).
    fn binary(&self) -> Vec<u8> {
        let is_narrow = self.bits == 8;
        let mut output = Vec::with_capacity(24 + self.data.len() * 2);
        for value in [
            self.version,
            u32::from(is_narrow),
            self.sample_rate,
            self.samples_per_pixel as u32,
            self.length as u32,
            self.channels,
        ] {
            output.extend(value.to_le_bytes());
        }
        for value in &self.data {
            if is_narrow {
                output.extend((*value as i8).to_le_bytes());
            } else {
                output.extend(value.to_le_bytes());
            }
        }
        output
    }
}

fn bad_query_error(detail: String) -> ApiError {
    ApiError::bad_request("bad_query", detail)
}

/// The requested pixels.
#[derive(Debug, Clone, Copy)]
struct Window {
    frames_per_pixel: u64,
    start: u64,
    pixels: u64,
}

impl Window {
    fn from_query(query: &PeaksQuery, shape: Shape) -> ApiResult<Self> {
        let is_partial = query.start.is_some() || query.pixels.is_some();
        let default = if is_partial { FRAMES_PER_PIXEL_DEFAULT } else { default_frames_per_pixel(shape) };
        let frames_per_pixel = query.samples_per_pixel.unwrap_or(default);
        if !frames_per_pixel.is_power_of_two() || frames_per_pixel > FRAMES_PER_PIXEL_MAX {
            return Err(bad_query_error(format!(
                "`samples_per_pixel` is {frames_per_pixel}; expected a power of two from 1 to {FRAMES_PER_PIXEL_MAX}"
            )));
        }
        let total_pixels = shape.pixels(frames_per_pixel);
        let start = query.start.unwrap_or(0).min(total_pixels);
        let pixels = query.pixels.unwrap_or(u64::MAX).min(total_pixels - start);
        let max = if level_of(frames_per_pixel).is_some() { STORED_PIXELS_MAX } else { COMPUTED_PIXELS_MAX };
        if pixels > max {
            return Err(bad_query_error(format!(
                "the request is for {pixels} pixels; at {frames_per_pixel} samples_per_pixel an answer has at most {max}; \
                 request a part with `start` and `pixels`, or increase samples_per_pixel"
            )));
        }
        Ok(Self { frames_per_pixel, start, pixels })
    }
}

/// Returns the finest stored resolution at which the complete file fits into one answer.
fn default_frames_per_pixel(shape: Shape) -> u64 {
    let mut frames_per_pixel = FRAMES_PER_PIXEL_DEFAULT;
    while shape.pixels(frames_per_pixel) > STORED_PIXELS_MAX && frames_per_pixel < FRAMES_PER_PIXEL_MAX {
        frames_per_pixel *= 2;
    }
    frames_per_pixel
}

/// Computes pixels from the samples, for resolutions that are finer than the stored ones.
fn compute(source: BufReader<std::fs::File>, shape: Shape, window: Window) -> std::io::Result<Vec<i16>> {
    let first_frame = window.start * window.frames_per_pixel;
    let frames = (window.pixels * window.frames_per_pixel).min(shape.frames - first_frame.min(shape.frames));
    let mut samples = FloatWavReader::new(source, shape.channels, first_frame, frames)?;
    let mut peaks = PeakBuilder::new(shape.channels as usize, window.frames_per_pixel as usize);
    let mut part = Vec::new();
    loop {
        samples.read(READ_FRAMES, &mut part)?;
        if part.is_empty() {
            return Ok(peaks.finish());
        }
        peaks.add(&part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(frames: u64, query: &str) -> ApiResult<Window> {
        let uri = format!("/?{query}").parse().expect("an address");
        let axum::extract::Query(query) = axum::extract::Query::try_from_uri(&uri).expect("a query");
        Window::from_query(&query, Shape { channels: 2, frames })
    }

    #[test]
    fn a_long_file_without_parameters_gets_a_coarser_resolution() {
        const HOUR_FRAMES: u64 = 3_600 * 192_000;
        for (frames, expected) in
            [(48_000, 256), (256 << 20, 256), ((256 << 20) + 1, 512), (24 * HOUR_FRAMES, 16_384)]
        {
            let peak_window = window(frames, "").expect("a valid request");
            assert_eq!((peak_window.frames_per_pixel, peak_window.start), (expected, 0), "{frames} frames");
            assert_eq!(peak_window.pixels, frames.div_ceil(expected));
            assert!(peak_window.pixels <= STORED_PIXELS_MAX);
        }
        // If a part is requested, the default stays at 256 frames per pixel.
        assert_eq!(window(24 * HOUR_FRAMES, "start=5&pixels=7").expect("a part").frames_per_pixel, 256);
        assert!(window(24 * HOUR_FRAMES, "samples_per_pixel=256").is_err());
        assert_eq!(window(1_000, "format=JSON").expect("upper case is accepted").pixels, 4);
    }
}

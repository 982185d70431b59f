//! Makes the samples of a processed copy, block by block in constant memory.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek};

use dsp_core::loudness::{ChannelLayout, Loudness, LoudnessMeter};
use dsp_core::wav::FloatWavWriter;
use timestretch::{
    DurationRatio, Parameters, PitchRatio, PreparedSession, ProcessStatus, RatioConstraint, SessionConfig,
    SessionError, SourceAccess,
};

use super::super::float_wav::FloatWavReader;
use super::super::import::Observer;
use super::piece::Piece;
use super::recipe::{Measure, Normalize, Recipe};
use crate::error::{ApiError, ApiResult};
use crate::storage::{BlobWriter, Blobs};

/// Number of frames that are read or written at a time.
const BLOCK_FRAMES: usize = 4_096;

/// Lowest sample rate of the stretching library in hertz. Lower rates are declared as multiples.
/// The windows of the library then last longer; the ratios are the same.
const STRETCH_RATE_MIN_HZ: u32 = 32_000;

/// Number of stages that the stretching library executes between two calls of the observer.
const STAGES: usize = 64;

/// Progress at the end of the first pass, if a normalization needs a second one.
const FIRST_PASS: f64 = 0.9;

/// Writes the processed copy of `piece` to `destination` as a 32-bit float WAV file with
/// `output_frames` frames. `blobs` stores the temporary file of a normalization.
///
/// # Errors
/// 409 `cancelled`; 422 `nothing_to_normalize` if the copy is silent; 5xx if a file cannot be read
/// or written.
pub(super) fn render<R: Read + Seek>(
    piece: &mut Piece<R>,
    rate_hz: u32,
    recipe: &Recipe,
    output_frames: u64,
    blobs: (&Blobs, &'static str),
    destination: &mut BlobWriter,
    observer: Observer<'_>,
) -> ApiResult<()> {
    let channels = piece.channels;
    let Some(normalize) = recipe.normalize else {
        let mut wav = FloatWavWriter::new(BufWriter::new(destination), channels, rate_hz)?;
        render_frames(piece, rate_hz, recipe, output_frames, observer, &mut |part| wav.write(part))?;
        wav.finish()?;
        return Ok(());
    };
    let mut meter = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo)
        .map_err(|error| ApiError::Unprocessable { code: "not_measurable", detail: error.to_string() })?;
    let mut unscaled = blobs.0.unnamed_writer(blobs.1)?;
    let mut wav = FloatWavWriter::new(BufWriter::new(&mut unscaled), channels, rate_hz)?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut first_pass = |fraction: f64| observer(FIRST_PASS * fraction);
    render_frames(piece, rate_hz, recipe, output_frames, &mut first_pass, &mut |part| {
        left.clear();
        left.extend(part.iter().step_by(channels as usize));
        right.clear();
        right.extend(part.iter().skip(channels as usize - 1).step_by(channels as usize));
        meter.add(&[&left, &right]);
        wav.write(part)
    })?;
    wav.finish()?;
    let gain = gain_of(normalize, &meter.loudness()).ok_or_else(|| ApiError::Unprocessable {
        code: "nothing_to_normalize",
        detail: "The piece is silent, or too short to be measured, so it cannot be normalized.".to_owned(),
    })?;
    let unscaled = BufReader::new(File::open(unscaled.temporary())?);
    let mut reader = FloatWavReader::new(unscaled, channels, 0, output_frames)?;
    let mut wav = FloatWavWriter::new(BufWriter::new(destination), channels, rate_hz)?;
    let mut part = Vec::new();
    loop {
        reader.read(BLOCK_FRAMES as u64, &mut part)?;
        if part.is_empty() {
            break;
        }
        part.iter_mut().for_each(|sample| *sample *= gain);
        wav.write(&part)?;
        let fraction = wav.frames() as f64 / output_frames.max(1) as f64;
        if !observer(FIRST_PASS + (1.0 - FIRST_PASS) * fraction) {
            return Err(cancelled());
        }
    }
    wav.finish()?;
    Ok(())
}

/// Returns the gain that gives audio of this loudness its level; `None` if the level cannot be
/// measured.
fn gain_of(normalize: Normalize, loudness: &Loudness) -> Option<f32> {
    let level_db = match normalize.measure {
        Measure::Peak => loudness.sample_peak_dbfs,
        Measure::Loudness if loudness.integrated_lufs.is_finite() => loudness.integrated_lufs,
        Measure::Loudness => loudness.max_momentary_lufs,
    };
    // A peak below the range of normal floats would need an infinite gain.
    let gain = 10_f64.powf((normalize.level_db - level_db) / 20.0) as f32;
    gain.is_finite().then_some(gain)
}

/// Passes all frames of the copy to `emit`, without the normalization.
fn render_frames<R: Read + Seek>(
    piece: &mut Piece<R>,
    rate_hz: u32,
    recipe: &Recipe,
    output_frames: u64,
    observer: Observer<'_>,
    emit: &mut dyn FnMut(&[f32]) -> io::Result<()>,
) -> ApiResult<()> {
    if recipe.keeps_time_and_pitch() {
        let mut part = Vec::new();
        let mut frame = 0;
        while frame < piece.frames {
            piece.read(frame, BLOCK_FRAMES as u64, &mut part)?;
            emit(&part)?;
            frame += BLOCK_FRAMES as u64;
            if !observer(frame as f64 / piece.frames as f64) {
                return Err(cancelled());
            }
        }
        return Ok(());
    }
    let channels = piece.channels as usize;
    let mut written_samples = 0;
    let samples = output_frames as usize * channels;
    stretch(piece, rate_hz, recipe, &mut |part| {
        let part = &part[..part.len().min(samples - written_samples)];
        emit(part)?;
        written_samples += part.len();
        match observer(written_samples as f64 / samples.max(1) as f64) {
            true => Ok(()),
            false => Err(cancelled()),
        }
    })?;
    // The library rounds the number of frames; the last ones are then missing.
    let silence = [0.0; BLOCK_FRAMES];
    while written_samples < samples {
        let part = &silence[..silence.len().min(samples - written_samples)];
        emit(part)?;
        written_samples += part.len();
    }
    Ok(())
}

/// Passes the stretched and transposed frames of `piece` to `emit`, at least one block after each
/// [`STAGES`] stages.
fn stretch<R: Read + Seek>(
    piece: &mut Piece<R>,
    rate_hz: u32,
    recipe: &Recipe,
    emit: &mut dyn FnMut(&[f32]) -> ApiResult<()>,
) -> ApiResult<()> {
    let failed = |error: SessionError| ApiError::internal(anyhow::anyhow!("stretching audio: {error}"));
    let rate_hz = (0..).map(|power| rate_hz << power).find(|rate| *rate >= STRETCH_RATE_MIN_HZ);
    let rate_hz = rate_hz.unwrap_or(STRETCH_RATE_MIN_HZ);
    let channels = piece.channels as usize;
    let config = SessionConfig {
        source_sample_rate: rate_hz,
        output_sample_rate: rate_hz,
        channels,
        source_access: SourceAccess::Seekable,
        source_frames: Some(piece.frames),
        parameters: Parameters {
            tempo: DurationRatio::new(recipe.stretch).map_err(failed)?.tempo(),
            pitch: PitchRatio::new(recipe.pitch_ratio()).map_err(failed)?,
            constraint: RatioConstraint::PreserveDuration,
        },
        ..SessionConfig::default()
    };
    let mut session = PreparedSession::new(config).map_err(failed)?.activate();
    let mut input = Vec::new();
    let mut output = vec![0.0; BLOCK_FRAMES * channels];
    while !session.finished() {
        match session.advance(STAGES).status {
            ProcessStatus::Fault => {
                return Err(failed(session.fault().unwrap_or(SessionError::InvalidState)));
            }
            ProcessStatus::NeedSource => {
                let request = session.source_request().ok_or_else(|| failed(SessionError::InvalidState))?;
                piece.read(request.start_frame, request.frames as u64, &mut input)?;
                match input.is_empty() {
                    true => session.finish_input().map_err(failed)?,
                    false => {
                        session.supply(request, &input).map_err(failed)?;
                    }
                }
            }
            _ => {}
        }
        let stamp = session.read_output(&mut output).map_err(failed)?;
        emit(&output[..stamp.frames * channels])?;
        let consumed_frames = stamp.consumed(stamp.frames).map_err(failed)?;
        session.acknowledge(consumed_frames).map_err(failed)?;
    }
    Ok(())
}

/// Returns the error of a cancelled task.
fn cancelled() -> ApiError {
    ApiError::Conflict { code: "cancelled", detail: "The processing was cancelled.".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use serde_json::{Value, json};

    use super::*;

    /// Returns a tone of one second.
    fn tone() -> Piece<Cursor<Vec<u8>>> {
        let mut writer = FloatWavWriter::new(Cursor::new(Vec::new()), 1, 48_000).expect("a header");
        let samples: Vec<f32> = (0..48_000).map(|frame| (frame as f32 * 0.06).sin()).collect();
        writer.write(&samples).expect("samples");
        let source = writer.finish().expect("a file");
        Piece { source, channels: 1, start_frame: 0, frames: 48_000, is_reversed: false }
    }

    #[test]
    fn a_cancelled_processing_stops_after_the_next_block() {
        for fields in [json!({ "reverse": true }), json!({ "stretch": 2 })] {
            let recipe: Recipe = serde_json::from_value(fields).expect("a recipe");
            let output_frames = recipe.output_frames(48_000);
            let mut frames = 0;
            let mut emit = |part: &[f32]| {
                frames += part.len();
                Ok(())
            };
            let outcome =
                render_frames(&mut tone(), 48_000, &recipe, output_frames, &mut |_| false, &mut emit);
            assert!(matches!(outcome, Err(ApiError::Conflict { code: "cancelled", .. })), "{outcome:?}");
            assert!(frames <= BLOCK_FRAMES, "{frames}");
        }
    }

    #[test]
    fn a_gain_beyond_the_range_of_floats_is_not_applied() {
        let gain = |measure: Value, sample_peak_dbfs: f64| {
            let normalize =
                serde_json::from_value(json!({ "measure": measure, "level_db": 0 })).expect("a level");
            let loudness = Loudness {
                sample_peak_dbfs,
                ..LoudnessMeter::new(48_000, ChannelLayout::Stereo).expect("a meter").loudness()
            };
            gain_of(normalize, &loudness)
        };
        assert_eq!(gain(json!("peak"), -20.0), Some(10.0));
        assert_eq!(gain(json!("peak"), -890.0), None);
        assert_eq!(gain(json!("peak"), f64::NEG_INFINITY), None);
        assert_eq!(gain(json!("loudness"), -20.0), None);
    }
}

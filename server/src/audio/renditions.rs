//! Provides the samples of a file at any supported rate: its decoded copy, or a stored conversion
//! of it.
//!
//! The page and the service both use these samples, so they play the same audio.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use dsp_core::resample::{ResampleError, ResamplerProcessor};
use dsp_core::wav::FloatWavWriter;
use tokio::runtime::Handle;

use super::float_wav::{FloatWavReader, file_bytes};
use super::store::{self, Rendition, StoredFile};
use super::{ContentKeys, FOLDER};
use crate::error::{ApiError, ApiResult};
use crate::permits::Caller;
use crate::state::AppState;
use crate::storage::{Allowance, BlobKey, ensure_room, hash_file, lock_contents};

/// Number of frames that are converted at a time.
const READ_FRAMES: u64 = 16_384;

/// Returns the key of a copy at another rate.
pub(super) fn blob_key_of(sha256: &str, sample_rate_hz: u32) -> ApiResult<BlobKey> {
    BlobKey::new(FOLDER, &format!("{sha256}_{sample_rate_hz}"), "wav").map_err(ApiError::internal)
}

/// Opens the samples of a file at a rate as a 32-bit float WAV file, mono or stereo. The samples
/// begin at byte [`dsp_core::wav::FLOAT_HEADER_BYTES`]. The first request for a rate other than the
/// file's converts and stores a copy.
pub(super) async fn open(
    state: &AppState,
    owner_id: &str,
    stored_file: &StoredFile,
    rate_hz: u32,
) -> ApiResult<File> {
    let report = &stored_file.content.report;
    let sha256 = &stored_file.content.sha256;
    let blob_key = match rate_hz == report.sample_rate_hz {
        true => ContentKeys::new(sha256)?.samples,
        false => blob_key_of(sha256, rate_hz)?,
    };
    let (blobs, read_key, is_file_rate) =
        (state.blobs.clone(), blob_key.clone(), rate_hz == report.sample_rate_hz);
    let read_samples = move || match is_file_rate {
        true => blobs.read(&read_key),
        // A missing copy is converted again, so the quarantine is not searched.
        false => blobs.read_stored(&read_key),
    };
    match tokio::task::spawn_blocking(read_samples).await?? {
        Some(file) => Ok(file),
        None if is_file_rate => Err(ApiError::not_found("audio file", &stored_file.file.id)),
        None => {
            let (work_state, owner_id, stored_file) =
                (state.clone(), owner_id.to_owned(), stored_file.clone());
            let runtime = Handle::current();
            let work = move |caller: &Caller| {
                convert_and_store(&work_state, &runtime, &owner_id, &stored_file, rate_hz, &blob_key, caller)
            };
            state.audio.conversions.run(work).await
        }
    }
}

fn conversion_error(name: &str, error: ResampleError) -> ApiError {
    ApiError::Unprocessable {
        code: "rate_not_converted",
        detail: format!("`{name}` cannot be converted to this rate: {error}."),
    }
}

/// Converts the samples and stores a copy, unless another request has just done this.
fn convert_and_store(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    stored_file: &StoredFile,
    rate_hz: u32,
    blob_key: &BlobKey,
    caller: &Caller,
) -> ApiResult<File> {
    let missing = || ApiError::not_found("audio file", &stored_file.file.id);
    if let Some(file) = state.blobs.read_stored(blob_key)? {
        return Ok(file);
    }
    let (sha256, report) = (&stored_file.content.sha256, &stored_file.content.report);
    let resampler = ResamplerProcessor::new(report.sample_rate_hz, rate_hz, report.channels as usize)
        .map_err(|error| conversion_error(&stored_file.file.name, error))?;
    let size_bytes = file_bytes(report.channels, resampler.filter().output_frames(report.frames));
    runtime.block_on(Allowance::load(state, owner_id))?.check(size_bytes)?;
    let mut writer = state.blobs.unnamed_writer(FOLDER)?;
    let folder = writer.temporary().parent().unwrap_or(Path::new("."));
    ensure_room(state, runtime, folder, size_bytes)?;
    let source = state.blobs.read(&ContentKeys::new(sha256)?.samples)?.ok_or_else(missing)?;
    let source = FloatWavReader::new(BufReader::new(source), report.channels, 0, report.frames)?;
    let wav = FloatWavWriter::new(BufWriter::new(&mut writer), report.channels, rate_hz)?;
    convert(source, wav, resampler, report.channels as usize, caller)?;
    writer.flush()?;
    // Hashing and uploading happen before the lock is taken, because all uploads and deletions wait
    // for the lock.
    let file_sha256 = hash_file(writer.temporary())?;
    writer.upload_derived_as(blob_key)?;
    let _contents = lock_contents(state, runtime)?;
    // The stored audio may have been deleted in the meantime.
    if runtime.block_on(store::find_content(&state.db, sha256))?.is_none() {
        return Err(missing());
    }
    writer.finish_as(blob_key)?;
    let copy = Rendition { sha256: sha256.clone(), sample_rate_hz: rate_hz, size_bytes, file_sha256 };
    runtime.block_on(store::insert_rendition(&state.db, &copy))?;
    state.blobs.read(blob_key)?.ok_or_else(missing)
}

/// Converts all samples of `source` to `wav`, and completes the file.
fn convert<W: Write + std::io::Seek>(
    mut source: FloatWavReader<BufReader<File>>,
    mut wav: FloatWavWriter<W>,
    mut resampler: ResamplerProcessor<f32>,
    channels: usize,
    caller: &Caller,
) -> std::io::Result<()> {
    let mut part = Vec::new();
    let mut input = vec![Vec::new(); channels];
    let mut output = vec![vec![0.0; READ_FRAMES as usize]; channels];
    let mut interleaved = Vec::new();
    let mut emit = |output: &[Vec<f32>], frames: usize| {
        interleaved.clear();
        interleaved.extend((0..frames).flat_map(|frame| output.iter().map(move |channel| channel[frame])));
        wav.write(&interleaved)
    };
    loop {
        source.read(READ_FRAMES, &mut part)?;
        if part.is_empty() {
            break;
        }
        if caller.has_disconnected() {
            return Err(std::io::Error::new(std::io::ErrorKind::Interrupted, "the client disconnected"));
        }
        for (number, channel) in input.iter_mut().enumerate() {
            channel.clear();
            channel.extend(part.iter().skip(number).step_by(channels));
        }
        let mut consumed_frames = 0;
        while consumed_frames < input[0].len() {
            let remaining: Vec<&[f32]> = input.iter().map(|channel| &channel[consumed_frames..]).collect();
            let progress = resampler.process(&remaining, &mut slices(&mut output));
            consumed_frames += progress.read_frames;
            emit(&output, progress.written_frames)?;
        }
    }
    loop {
        let written_frames = resampler.finish(&mut slices(&mut output));
        if written_frames == 0 {
            break;
        }
        emit(&output, written_frames)?;
    }
    wav.finish().map(|_| ())
}

fn slices(channels: &mut [Vec<f32>]) -> Vec<&mut [f32]> {
    channels.iter_mut().map(Vec::as_mut_slice).collect()
}

//! Imports received bytes as an audio file of a user. New bytes are decoded. If the same bytes are
//! already stored, the stored audio is reused.

use std::io::{self, Read};
use std::path::Path;

use tokio::runtime::Handle;

use super::decode::{Job, Limits, Refusal, Report};
use super::decoder::{Decoder, Failure};
use super::peaks_file::Shape;
use super::store::Content;
use super::{AudioFile, ContentKeys, FOLDER, FORMATS, deleted, float_wav, store};
use crate::config::AudioLimits;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::storage::{
    Allowance, BlobWriter, Blobs, Destination, FileReceiver, ReceivedFile, hash_file, lock_contents,
    with_room,
};

/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Receives the progress, 0 to 1, and returns whether to continue.
pub(super) type Observer<'o> = &'o mut dyn FnMut(f64) -> bool;

/// An imported file.
#[derive(Debug)]
pub(super) struct ImportedFile {
    pub(super) file: AudioFile,
    /// Whether the user already had a file with the same bytes.
    pub(super) is_known: bool,
}

/// Stores the received bytes as a file of `owner_id`. Blocks.
pub(super) fn import(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    mut received_file: ReceivedFile,
    observer: Observer<'_>,
) -> ApiResult<ImportedFile> {
    let (name, sha256) = (received_file.name.clone(), received_file.sha256.clone());
    let content = || runtime.block_on(store::find_content(&state.db, &sha256));
    let is_stored = |content: &Content| match content.is_original_damaged {
        true => Ok(false),
        false => is_stored(&state.blobs, &sha256),
    };
    let is_content_stored = content()?.as_ref().map(is_stored).transpose()?.unwrap_or(false);
    let existing = runtime.block_on(store::find_by_content(&state.db, owner_id, &sha256))?;
    let is_existing = existing.is_some();
    if let Some(stored_file) = existing.filter(|_| is_content_stored) {
        return Ok(ImportedFile { file: stored_file.file, is_known: true });
    }
    let allowance = match runtime.block_on(Allowance::load(state, owner_id))? {
        // The user already has a file with the same bytes, so they already count toward the quota.
        allowance if is_existing => allowance.after_freeing(u64::MAX),
        allowance => allowance,
    };
    let decoded_audio = match is_content_stored {
        true => None,
        false => {
            let mut decoded_audio = decode(state, runtime, &allowance, &received_file, observer)?;
            // Hashing and uploading happen before the lock is taken, because all uploads and
            // deletions wait for the lock.
            let content = decoded_audio.to_content(&received_file)?;
            decoded_audio.upload(&mut received_file)?;
            Some((content, decoded_audio))
        }
    };
    let is_new = {
        let _contents = lock_contents(state, runtime)?;
        let check = |content: &Content| match is_existing {
            true => Ok(()),
            false => runtime.block_on(Allowance::load(state, owner_id))?.check(content.stored_bytes()),
        };
        // Another request may have stored or deleted the same bytes in the meantime.
        let content = match (content()?, decoded_audio) {
            (Some(content), decoded_audio) if is_stored(&content)? => {
                drop(decoded_audio);
                check(&content)?;
                content
            }
            (stored_content, Some((content, decoded_audio))) => {
                check(&content)?;
                decoded_audio.store(received_file)?;
                if stored_content.is_some() {
                    tracing::info!(sha256, "an upload replaced missing or damaged stored files");
                    runtime.block_on(store::set_decoded(&state.db, &content))?;
                }
                content
            }
            (_, None) => {
                return Err(ApiError::Conflict {
                    code: "try_again",
                    detail: format!("`{name}` was deleted while it was uploaded; send it again."),
                });
            }
        };
        // Another request of the same user may have stored the same file in the meantime.
        runtime.block_on(store::insert(&state.db, owner_id, &name, &content))?
    };
    deleted::fit_quota(state, runtime, owner_id)?;
    let stored_file =
        runtime.block_on(store::find_by_content(&state.db, owner_id, &sha256))?.ok_or_else(|| {
            ApiError::internal(anyhow::anyhow!("the file {sha256} is missing after its import"))
        })?;
    Ok(ImportedFile { file: stored_file.file, is_known: !is_new })
}

/// Makes stored audio a file of `owner_id`. Returns `None` if the service no longer has it. Blocks.
///
/// # Errors
/// 507 if the file exceeds the owner's quota.
pub(super) fn import_stored(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    name: &str,
    sha256: &str,
) -> ApiResult<Option<AudioFile>> {
    {
        let _contents = lock_contents(state, runtime)?;
        let content = runtime.block_on(store::find_content(&state.db, sha256))?;
        let Some(content) = content.filter(|content| !content.is_original_damaged) else { return Ok(None) };
        if !is_stored(&state.blobs, sha256)? {
            return Ok(None);
        }
        if runtime.block_on(store::find_by_content(&state.db, owner_id, sha256))?.is_none() {
            runtime.block_on(Allowance::load(state, owner_id))?.check(content.stored_bytes())?;
            runtime.block_on(store::insert(&state.db, owner_id, name, &content))?;
        }
    }
    deleted::fit_quota(state, runtime, owner_id)?;
    let stored_file = runtime.block_on(store::find_by_content(&state.db, owner_id, sha256))?;
    Ok(stored_file.map(|stored_file| stored_file.file))
}

/// Imports the bytes of `content` as a file of `owner_id`, with the limits of an upload. Also
/// returns whether the user already had this file. Blocks.
///
/// # Errors
/// As for an upload; 400 `unreadable` if `content` cannot be read.
pub(crate) fn import_content(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    name: &str,
    content: &mut dyn Read,
    observer: Observer<'_>,
) -> ApiResult<(AudioFile, bool)> {
    let allowance = runtime.block_on(Allowance::load(state, owner_id))?;
    let received_file = receive_content(state, runtime, allowance, name, content, &mut *observer)?;
    let imported_file = import(state, runtime, owner_id, received_file, observer)?;
    Ok((imported_file.file, imported_file.is_known))
}

/// Copies `content` to a temporary file, with the limits of an upload. Blocks.
///
/// # Errors
/// As for an upload; 400 `unreadable` if `content` cannot be read.
pub(super) fn receive_content(
    state: &AppState,
    runtime: &Handle,
    allowance: Allowance,
    name: &str,
    content: &mut dyn Read,
    observer: Observer<'_>,
) -> ApiResult<ReceivedFile> {
    let mut file = FileReceiver::new(state, runtime, allowance, make_destination(state))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = content.read(&mut chunk).map_err(|error| {
            ApiError::bad_request("unreadable", format!("`{name}` cannot be read to its end: {error}."))
        })?;
        if count == 0 {
            break;
        }
        file.add(&chunk[..count])?;
        if !observer(0.0) {
            return Err(ApiError::Conflict {
                code: "cancelled",
                detail: format!("The import of `{name}` was cancelled."),
            });
        }
    }
    file.finish(name)
}

/// Deletes files that were just imported, except those to which a song already refers. Blocks.
///
/// # Errors
/// If a query or the storage fails.
pub(crate) fn undo_imports(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    ids: &[String],
) -> ApiResult<()> {
    deleted::delete_unused(state, runtime, owner_id, ids)
}

/// Returns the folder and limit of received audio files.
pub(super) fn make_destination(state: &AppState) -> Destination {
    Destination { folder: FOLDER, limit_bytes: state.config.limits.upload_max_bytes, subject: "An upload" }
}

/// Whether the three files of the stored audio with this hash exist.
fn is_stored(blobs: &Blobs, sha256: &str) -> ApiResult<bool> {
    let content_keys = ContentKeys::new(sha256)?;
    for blob_key in [&content_keys.original, &content_keys.samples, &content_keys.peaks] {
        if !blobs.contains(blob_key)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A decoded file whose samples and peaks are still temporary files. Dropping it deletes them.
#[derive(Debug)]
pub(super) struct DecodedAudio {
    pub(super) report: Report,
    pub(super) samples: BlobWriter,
    peaks: BlobWriter,
}

impl DecodedAudio {
    /// Returns the database row for the stored audio.
    pub(super) fn to_content(&self, received_file: &ReceivedFile) -> io::Result<Content> {
        let Report { channels, frames, .. } = self.report;
        Ok(Content {
            samples_sha256: hash_file(self.samples.temporary())?,
            peaks_sha256: hash_file(self.peaks.temporary())?,
            is_original_damaged: false,
            sha256: received_file.sha256.clone(),
            size_bytes: received_file.size_bytes,
            samples_bytes: float_wav::file_bytes(channels, frames),
            peaks_bytes: Shape { channels, frames }.file_bytes(),
            report: self.report.clone(),
        })
    }

    /// Uploads the three files to object storage, if the service uses it.
    fn upload(&mut self, received_file: &mut ReceivedFile) -> ApiResult<()> {
        let content_keys = ContentKeys::new(&received_file.sha256)?;
        received_file.writer.upload_as(&content_keys.original)?;
        self.samples.upload_derived_as(&content_keys.samples)?;
        self.peaks.upload_derived_as(&content_keys.peaks)?;
        Ok(())
    }

    /// Stores the three files under their keys.
    fn store(self, received_file: ReceivedFile) -> ApiResult<()> {
        let sha256 = received_file.sha256.clone();
        received_file.writer.finish_as(&ContentKeys::new(&sha256)?.original)?;
        self.store_derived(&sha256)
    }

    /// Stores the samples and the peaks under their keys.
    pub(super) fn store_derived(self, sha256: &str) -> ApiResult<()> {
        let content_keys = ContentKeys::new(sha256)?;
        self.samples.finish_as(&content_keys.samples)?;
        self.peaks.finish_as(&content_keys.peaks)?;
        Ok(())
    }
}

/// Decodes a received file in a separate process. If the output needs more disk space, purges
/// deleted files first.
pub(super) fn decode(
    state: &AppState,
    runtime: &Handle,
    allowance: &Allowance,
    received_file: &ReceivedFile,
    observer: Observer<'_>,
) -> ApiResult<DecodedAudio> {
    let context = DecodeContext {
        decoder: &state.audio.decoder,
        blobs: &state.blobs,
        limits: &state.config.limits.audio,
    };
    with_room(state, runtime, || context.decode(allowance, received_file, &mut *observer))
}

/// The dependencies of decoding.
pub(super) struct DecodeContext<'r> {
    pub(super) decoder: &'r Decoder,
    pub(super) blobs: &'r Blobs,
    pub(super) limits: &'r AudioLimits,
}

impl DecodeContext<'_> {
    /// Decodes a received file in a separate process.
    pub(super) fn decode(
        &self,
        allowance: &Allowance,
        received_file: &ReceivedFile,
        observer: Observer<'_>,
    ) -> ApiResult<DecodedAudio> {
        let samples = self.blobs.unnamed_writer(FOLDER)?;
        let peaks = self.blobs.unnamed_writer(FOLDER)?;
        let folder = samples.temporary().parent().unwrap_or(Path::new(".")).to_owned();
        let quota_bytes = allowance.remaining_bytes().saturating_sub(received_file.size_bytes);
        let max_output_bytes = allowance.measure_room_bytes(&folder)?.min(quota_bytes);
        let limits = self.limits;
        let job = Job {
            input: file_name(&received_file.writer)?.into(),
            samples: file_name(&samples)?.into(),
            peaks: file_name(&peaks)?.into(),
            limits: Limits {
                max_secs: limits.max_secs,
                max_channels: limits.max_channels,
                max_output_bytes,
                wall_secs: limits.decode_max_secs,
            },
        };
        let report = self.decoder.run(&folder, &job, observer).map_err(|failure| match failure {
            Failure::Refused(Refusal::NoRoom) => {
                match allowance.check_at_least(received_file.size_bytes.saturating_add(max_output_bytes + 1))
                {
                    Err(over_quota) => over_quota,
                    Ok(()) => ApiError::StorageFull,
                }
            }
            Failure::Refused(refusal) => refusal_error(&received_file.name, refusal),
            Failure::Cancelled => ApiError::Conflict {
                code: "cancelled",
                detail: format!("Decoding `{}` was cancelled.", received_file.name),
            },
            Failure::Io(error) => error.into(),
        })?;
        Ok(DecodedAudio { report, samples, peaks })
    }
}

/// Returns the name of a temporary file within its folder.
fn file_name(writer: &BlobWriter) -> io::Result<&Path> {
    writer.temporary().file_name().map(Path::new).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns the error for a refused file.
fn refusal_error(name: &str, refusal: Refusal) -> ApiError {
    let sentence = |reason: &str| format!("`{name}` cannot be used: it {reason}.");
    match refusal {
        Refusal::Unsupported(reason) => ApiError::UnsupportedMedia {
            detail: format!("{} Supported formats: {}.", sentence(&reason), FORMATS.join(", ")),
        },
        Refusal::Malformed(reason) => {
            ApiError::Unprocessable { code: "audio_damaged", detail: sentence(&reason) }
        }
        Refusal::Limit(reason) => ApiError::Unprocessable { code: "audio_limit", detail: sentence(&reason) },
        Refusal::TooSlow(limit_secs) => ApiError::DecodeTimeout {
            detail: format!(
                "Decoding `{name}` was stopped after {limit_secs} seconds (SF_AUDIO_DECODE_MAX_SECS); try again later."
            ),
        },
        Refusal::NoRoom => ApiError::StorageFull,
        Refusal::Io(text) => ApiError::internal(anyhow::anyhow!("decoding: {text}")),
    }
}

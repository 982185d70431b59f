//! From received bytes to a stored file: known content is taken up, new content is decoded.

use std::io;
use std::path::Path;

use tokio::runtime::Handle;

use super::decode::{Failure, Job, Limits, Refusal, Report};
use super::intake::{Allowance, Received};
use super::peaks_file::Shape;
use super::store::Content;
use super::{AudioFile, ContentKeys, FOLDER, FORMATS, float_wav, store};
use crate::blobs::BlobWriter;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Hears the share that is done, 0 to 1, and says whether to go on.
pub(super) type Observer<'o> = &'o mut dyn FnMut(f64) -> bool;

/// A file that is there now.
#[derive(Debug)]
pub(super) struct Ingested {
    pub(super) file: AudioFile,
    /// Whether the user had this content before.
    pub(super) known: bool,
}

/// Stores what was received as a file of `owner_id`. Blocks: for threads that may.
pub(super) fn ingest(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    received: Received,
    observer: Observer<'_>,
) -> ApiResult<Ingested> {
    let find = || runtime.block_on(store::by_content(&state.db, owner_id, &received.sha256));
    if let Some(found) = find()? {
        return Ok(Ingested { file: found.file, known: true });
    }
    let allowance = runtime.block_on(Allowance::of(state, owner_id))?;
    let known = runtime.block_on(store::content(&state.db, &received.sha256))?;
    let decoded = match &known {
        Some(_) => None,
        None => Some(decode(state, &allowance, &received, observer)?),
    };
    let (name, sha256) = (received.name.clone(), received.sha256.clone());
    {
        let _contents = state.audio.lock_contents(&state.db, runtime)?;
        // Meanwhile somebody else may have brought the same, or deleted it.
        let content = match (runtime.block_on(store::content(&state.db, &sha256))?, decoded) {
            (Some(content), _) => {
                runtime.block_on(Allowance::of(state, owner_id))?.check(content.stored_bytes())?;
                content
            }
            (None, Some(decoded)) => {
                let content = decoded.content(&received);
                runtime.block_on(Allowance::of(state, owner_id))?.check(content.stored_bytes())?;
                decoded.keep(received)?;
                content
            }
            (None, None) => {
                return Err(ApiError::Conflict {
                    code: "try_again",
                    detail: format!("`{name}` was deleted at the same moment; send it again."),
                });
            }
        };
        runtime.block_on(store::insert(&state.db, owner_id, &name, &content))?;
    }
    let found = runtime
        .block_on(store::by_content(&state.db, owner_id, &sha256))?
        .ok_or_else(|| ApiError::internal(anyhow::anyhow!("a file that was stored is not there")))?;
    Ok(Ingested { file: found.file, known: false })
}

/// A decoded file whose parts have no names yet. Dropped, they are gone.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) report: Report,
    pub(super) samples: BlobWriter,
    peaks: BlobWriter,
}

impl Decoded {
    fn content(&self, received: &Received) -> Content {
        let Report { channels, frames, .. } = self.report;
        Content {
            sha256: received.sha256.clone(),
            size_bytes: received.size_bytes,
            samples_bytes: float_wav::file_bytes(channels, frames),
            peaks_bytes: Shape { channels, frames }.file_bytes(),
            report: self.report.clone(),
        }
    }

    /// Gives the three files their names.
    fn keep(self, received: Received) -> ApiResult<()> {
        let keys = ContentKeys::new(&received.sha256)?;
        received.writer.finish_as(&keys.original)?;
        self.samples.finish_as(&keys.samples)?;
        self.peaks.finish_as(&keys.peaks)?;
        Ok(())
    }
}

/// Decodes a received file in a process of its own.
pub(super) fn decode(
    state: &AppState,
    allowance: &Allowance,
    received: &Received,
    observer: Observer<'_>,
) -> ApiResult<Decoded> {
    let samples = state.blobs.unnamed_writer(FOLDER)?;
    let peaks = state.blobs.unnamed_writer(FOLDER)?;
    let folder = samples.temporary().parent().unwrap_or(Path::new(".")).to_owned();
    let quota_room = allowance.left_bytes().saturating_sub(received.size_bytes);
    let room_bytes = allowance.room_bytes(&folder)?.min(quota_room);
    let limits = &state.config.limits.audio;
    let job = Job {
        input: file_name(&received.writer)?.into(),
        samples: file_name(&samples)?.into(),
        peaks: file_name(&peaks)?.into(),
        limits: Limits {
            max_secs: limits.max_secs,
            max_channels: limits.max_channels,
            max_output_bytes: room_bytes,
            wall_secs: limits.decode_max_secs,
        },
    };
    let report = state.audio.decoder.run(&folder, &job, observer).map_err(|failure| match failure {
        Failure::Refused(Refusal::NoRoom) => {
            match allowance.check_at_least(received.size_bytes.saturating_add(room_bytes + 1)) {
                Err(over_quota) => over_quota,
                Ok(()) => ApiError::StorageFull,
            }
        }
        Failure::Refused(refusal) => refused(&received.name, refusal),
        Failure::Cancelled => {
            ApiError::Conflict { code: "cancelled", detail: "The upload was cancelled.".to_owned() }
        }
        Failure::Io(error) => error.into(),
    })?;
    Ok(Decoded { report, samples, peaks })
}

/// The nameless file's own name within its folder.
fn file_name(writer: &BlobWriter) -> io::Result<&Path> {
    writer.temporary().file_name().map(Path::new).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The refusal of one file, by name.
fn refused(name: &str, refusal: Refusal) -> ApiError {
    let sentence = |why: &str| format!("`{name}` cannot be used: it {why}.");
    match refusal {
        Refusal::Unsupported(why) => ApiError::UnsupportedMedia {
            detail: format!("{} Taken are: {}.", sentence(&why), FORMATS.join(", ")),
        },
        Refusal::Malformed(why) => ApiError::Unprocessable { code: "audio_damaged", detail: sentence(&why) },
        Refusal::Limit(why) => ApiError::Unprocessable { code: "audio_limit", detail: sentence(&why) },
        Refusal::NoRoom => ApiError::StorageFull,
        Refusal::Io(text) => ApiError::internal(anyhow::anyhow!("decoding: {text}")),
    }
}

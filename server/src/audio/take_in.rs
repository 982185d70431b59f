//! Audio files that other slices bring and take along: bundles of projects, bounced tracks.

use std::fs::File;
use std::io::Read;

use tokio::runtime::Handle;

use super::ingest::{self, Observer};
use super::intake::{Allowance, Destination, Intake};
use super::{AudioFile, ContentKeys, deleted, store};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// What a user knows of a file that is stored as it came, or `None` where the user has no such
/// file. Blocks.
pub(crate) fn original(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    id: &str,
) -> ApiResult<Option<AudioFile>> {
    let Some(found) = runtime.block_on(store::by_id(&state.db, owner_id, id))? else { return Ok(None) };
    let is_stored = state.blobs.contains(&ContentKeys::new(&found.content.sha256)?.original)?;
    Ok(is_stored.then_some(found.file))
}

/// The bytes of a file as it came, or `None` where it is not stored any more. Blocks.
pub(crate) fn open_original(state: &AppState, sha256: &str) -> ApiResult<Option<File>> {
    Ok(state.blobs.read(&ContentKeys::new(sha256)?.original)?)
}

/// Takes what `content` gives as a file of `owner_id`, under all limits of an upload, and says
/// whether the user had it before. Blocks.
///
/// # Errors
/// As for an upload; what cannot be read is 400 `unreadable`.
pub(crate) fn take_in(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    name: &str,
    content: &mut dyn Read,
    observer: Observer<'_>,
) -> ApiResult<(AudioFile, bool)> {
    let allowance = runtime.block_on(Allowance::of(state, owner_id))?;
    let mut intake = Intake::new(state, runtime, allowance, Destination::audio(state))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = content.read(&mut chunk).map_err(|error| {
            ApiError::bad_request("unreadable", format!("`{name}` cannot be read to its end: {error}."))
        })?;
        if count == 0 {
            break;
        }
        intake.add(&chunk[..count])?;
        if !observer(0.0) {
            return Err(ApiError::Conflict { code: "cancelled", detail: "It was cancelled.".to_owned() });
        }
    }
    let taken = ingest::ingest(state, runtime, owner_id, intake.finish(name)?, observer)?;
    Ok((taken.file, taken.known))
}

/// Deletes a user's file again that was just taken in, as its user would: it stays where a song
/// names it by now. Blocks.
///
/// # Errors
/// When the database or the storage refuses.
pub(crate) fn give_up(state: &AppState, runtime: &Handle, owner_id: &str, id: &str) -> ApiResult<()> {
    match deleted::delete(state, runtime, owner_id, id, id) {
        // Its user was faster.
        Err(ApiError::NotFound { .. } | ApiError::Conflict { code: "audio_in_use", .. }) => Ok(()),
        other => other,
    }
}

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

/// A file as it came.
#[derive(Debug)]
pub(crate) struct Original {
    /// What its owner knows of it.
    pub(crate) about: AudioFile,
    /// Its bytes.
    pub(crate) file: File,
}

/// The bytes of a user's file as it came, or `None` where the user has no such file. Blocks.
pub(crate) fn original(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    id: &str,
) -> ApiResult<Option<Original>> {
    let Some(found) = runtime.block_on(store::by_id(&state.db, owner_id, id))? else { return Ok(None) };
    let file = state.blobs.read(&ContentKeys::new(&found.content.sha256)?.original)?;
    Ok(file.map(|file| Original { about: found.file, file }))
}

/// Takes what `content` gives as a file of `owner_id`, under all limits of an upload, and says whether the user had it
/// before. Blocks.
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

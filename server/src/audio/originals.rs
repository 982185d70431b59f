//! Original files of uploads, which bundles of projects contain.

use std::fs::File;

use tokio::runtime::Handle;

use super::{AudioFile, ContentKeys, store};
use crate::error::ApiResult;
use crate::state::AppState;

/// Describes a user's original file. Returns `None` if the user has no such file, or if it is not
/// stored. Blocks.
pub(crate) fn find_original(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    id: &str,
) -> ApiResult<Option<AudioFile>> {
    let Some(stored_file) = runtime.block_on(store::find_by_id(&state.db, owner_id, id))? else {
        return Ok(None);
    };
    let is_stored = state.blobs.contains(&ContentKeys::new(&stored_file.content.sha256)?.original)?;
    Ok(is_stored.then_some(stored_file.file))
}

/// Opens an original file. Returns `None` if it is no longer stored. Blocks.
pub(crate) fn open_original(state: &AppState, sha256: &str) -> ApiResult<Option<File>> {
    Ok(state.blobs.read(&ContentKeys::new(sha256)?.original)?)
}

//! Reads the text of an autosave.

use tokio::runtime::Handle;

use super::store::{self, StoredAutosave};
use crate::error::{ApiError, ApiResult};
use crate::extract::with_unread_document;
use crate::projects::document::StoredDocument;
use crate::projects::stored_text::changed_document_error;
use crate::state::AppState;

/// Reads the autosave of a song (without `project_id`, the one that was written last), and runs
/// `work` on it, on a thread that may block.
///
/// # Errors
/// Those of `work`; 404 `no_autosave` if there is none; 503 `busy` if too many requests wait for
/// documents, or if a longer autosave replaced this one in the meantime.
pub(in crate::projects) async fn read_autosave<T: Send + 'static>(
    state: &AppState,
    owner_id: &str,
    project_id: Option<String>,
    work: impl FnOnce(StoredAutosave) -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    let autosave = store::find(&state.db, owner_id, project_id.as_deref()).await?;
    let autosave = autosave.ok_or_else(|| ApiError::NotFound {
        code: "no_autosave",
        detail: match project_id {
            Some(_) => "This account has no autosave of the project with this `project_id`.".to_owned(),
            None => "This account has no autosave.".to_owned(),
        },
    })?;
    let (runtime, db, owner, size_bytes) =
        (Handle::current(), state.db.clone(), owner_id.to_owned(), autosave.size_bytes);
    let reading = move || {
        let autosave_text = runtime.block_on(store::read(&db, &owner, &autosave.project_id, size_bytes))?;
        let source = StoredDocument::Autosave(autosave.project_id);
        work(autosave_text.ok_or_else(|| changed_document_error(&source.describe()))?)
    };
    with_unread_document(owner_id, usize::try_from(size_bytes).unwrap_or_default(), reading).await
}

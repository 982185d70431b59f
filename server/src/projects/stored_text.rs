//! Reads the text of stored documents.
//!
//! A request first reads only the length of its document. It then waits for a permit, whose weight
//! depends on that length, and reads the text afterwards. Waiting requests therefore keep neither
//! documents in memory nor connections to the database.

use tokio::runtime::Handle;

use super::document::StoredDocument;
use super::store;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};
use crate::extract::with_unread_document;
use crate::state::AppState;

/// A kept revision of a project whose text has not been read yet.
#[derive(Debug)]
pub(super) struct UnreadDocument {
    owner_id: String,
    project_id: String,
    pub(super) revision: i64,
    size_bytes: usize,
    source: StoredDocument,
}

impl UnreadDocument {
    /// Finds the current revision of a project.
    ///
    /// # Errors
    /// 404 if the user has no such project.
    pub(super) async fn find_current(state: &AppState, owner_id: &str, id: &str) -> ApiResult<Self> {
        let current_size = store::find_current_size(&state.db, owner_id, id).await?;
        let (revision, size_bytes) = current_size.ok_or_else(|| ApiError::not_found("project", id))?;
        let source = StoredDocument::Current(id.to_owned());
        Ok(Self { owner_id: owner_id.to_owned(), project_id: id.to_owned(), revision, size_bytes, source })
    }

    /// Finds a kept revision of a project.
    ///
    /// # Errors
    /// 404 if the revision does not exist or is no longer kept.
    pub(super) async fn find_revision(
        state: &AppState,
        owner_id: &str,
        id: &str,
        revision: i64,
    ) -> ApiResult<Self> {
        let size = store::find_revision_size(&state.db, owner_id, id, revision).await?;
        let size_bytes = size.ok_or_else(|| ApiError::not_found("stored revision", &revision.to_string()))?;
        let source = StoredDocument::Revision(id.to_owned(), revision);
        Ok(Self { owner_id: owner_id.to_owned(), project_id: id.to_owned(), revision, size_bytes, source })
    }

    /// Reads the text and runs `work` on it, on a thread that may block.
    ///
    /// # Errors
    /// Those of `work`; 503 `busy` if too many requests wait for documents, or if this revision was
    /// deleted in the meantime.
    pub(super) async fn read<T: Send + 'static>(
        self,
        state: &AppState,
        work: impl FnOnce(&StoredDocument, String) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (runtime, db) = (Handle::current(), state.db.clone());
        let (owner_id, size_bytes) = (self.owner_id.clone(), self.size_bytes);
        let read_document = move || {
            let text = runtime.block_on(self.read_text(&db))?;
            work(&self.source, text)
        };
        with_unread_document(&owner_id, size_bytes, read_document).await
    }

    /// Reads the text. The caller must already have a permit.
    ///
    /// # Errors
    /// 503 `busy` if this revision was deleted in the meantime.
    pub(super) async fn read_text(&self, db: &Db) -> ApiResult<String> {
        let text = store::read_revision_text(db, &self.owner_id, &self.project_id, self.revision).await?;
        text.ok_or_else(|| changed_document_error(&self.source.describe()))
    }
}

/// Returns the error 503 for a document that was replaced or deleted while the request waited.
pub(super) fn changed_document_error(document: &str) -> ApiError {
    ApiError::Busy {
        detail: format!("The {document} was replaced or deleted while this request waited; try again."),
        retry_after_secs: 1,
    }
}

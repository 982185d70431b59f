//! Stores documents as projects. A save must fit within the user's quota, and it must start from
//! the current revision.

use futures_util::future::BoxFuture;

use super::Saved;
use super::document::Document;
use super::store::{self, InsertOutcome, SaveOutcome};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Callback that runs after a document was stored. It gets the owner's id and the document's text.
pub(crate) type OnSaved = for<'a> fn(&'a AppState, &'a str, &'a str) -> BoxFuture<'a, ()>;

/// Stores a new project. Returns `None` if a project with its id already exists.
///
/// # Errors
/// 507 if the user would exceed the quota; an error if the query fails.
pub(crate) async fn insert(
    state: &AppState,
    owner_id: &str,
    document: &Document,
) -> ApiResult<Option<Saved>> {
    match store::insert(&state.db, owner_id, document, state.document_quota).await? {
        InsertOutcome::Saved(saved_project) => {
            (state.project_saved)(state, owner_id, &document.text).await;
            Ok(Some(saved_project))
        }
        InsertOutcome::Full(used_bytes) => Err(quota_exceeded_error(state, document, used_bytes)),
        InsertOutcome::IdExists => Ok(None),
    }
}

/// Stores the next revision of a project.
///
/// # Errors
/// 404 if the user has no such project; 412 if `base_revision` is not its current revision; 507 if
/// the user would exceed the quota.
pub(super) async fn save_next(
    state: &AppState,
    owner_id: &str,
    document: &Document,
    base_revision: i64,
) -> ApiResult<Saved> {
    match store::save(&state.db, owner_id, document, base_revision, state.document_quota).await? {
        SaveOutcome::Saved(saved_project) => {
            (state.project_saved)(state, owner_id, &document.text).await;
            Ok(saved_project)
        }
        SaveOutcome::Full(used_bytes) => Err(quota_exceeded_error(state, document, used_bytes)),
        SaveOutcome::Missing => Err(ApiError::not_found("project", &document.project_id)),
        SaveOutcome::Stale(current) => Err(ApiError::PreconditionFailed {
            code: "stale_revision",
            detail: format!(
                "This save started from revision {base_revision}, but the project is now at revision {current}. Nothing was \
                 overwritten; load the project again."
            ),
        }),
    }
}

/// Returns the error 507: the user's projects and tasks would exceed the quota.
fn quota_exceeded_error(state: &AppState, document: &Document, used_bytes: u64) -> ApiError {
    let (quota_bytes, needed_bytes) = (state.document_quota.quota_bytes(), document.text.len() as u64);
    ApiError::QuotaExceeded { quota_bytes, used_bytes, needed_bytes, is_exact: true }
}

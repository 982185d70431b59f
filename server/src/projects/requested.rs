//! The project of a request: either the id of a stored project, or a document.

use schemas::Project;
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};

use super::{checked_document, load_document, with_stored_document};
use crate::error::{ApiError, ApiResult};
use crate::extract::with_document;
use crate::state::AppState;

/// The project of a request, loaded but not yet validated. [`Self::into_project`] validates it, and
/// must run on a thread that may block.
#[derive(Serialize, Deserialize)]
pub(crate) enum RequestedProject {
    /// A stored document. It was valid when it was saved.
    Stored(JsonText),
    /// A document that the request contains.
    Sent(JsonText),
}

impl RequestedProject {
    /// Loads the project of a request. The request must have either a project id or a document.
    ///
    /// # Errors
    /// 400 `one_project` if the request has both or neither; 404 if the user has no such project.
    pub(crate) async fn load(
        state: &AppState,
        owner_id: &str,
        project_id: Option<String>,
        project: Option<JsonText>,
    ) -> ApiResult<Self> {
        match (project_id, project) {
            (Some(id), None) => Ok(Self::Stored(load_document(state, owner_id, &id).await?)),
            (None, Some(document)) => Ok(Self::Sent(document)),
            _ => Err(not_one_project_error()),
        }
    }

    /// Runs `work` on the project that [`Self::load`] returns, on a thread that may block. Loads a
    /// stored project only after the request has a permit, so that waiting requests do not keep
    /// projects in memory.
    ///
    /// # Errors
    /// Those of [`Self::load`], and those of `work`.
    pub(crate) async fn with_project<T: Send + 'static>(
        state: &AppState,
        owner_id: &str,
        project_id: Option<String>,
        project: Option<JsonText>,
        work: impl FnOnce(Self) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        match (project_id, project) {
            (Some(id), None) => {
                let work = |document| work(Self::Stored(document));
                with_stored_document(state, owner_id, &id, work).await
            }
            (None, Some(document)) => {
                with_document(document.as_str().len(), move || work(Self::Sent(document))).await
            }
            _ => Err(not_one_project_error()),
        }
    }

    /// Returns the length of the document in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Self::Stored(document) | Self::Sent(document) => document.as_str().len(),
        }
    }

    /// Validates the document and reads its project. Blocks.
    ///
    /// # Errors
    /// 400 `invalid_project` if the document is invalid; 422 `not_playable` if no project can be
    /// read from it.
    pub(crate) fn into_project(self) -> ApiResult<(JsonText, Project)> {
        let document = match self {
            Self::Stored(document) | Self::Sent(document) => checked_document(&document)?,
        };
        let project = schemas::read::project(&document).map_err(|error| ApiError::Unprocessable {
            code: "not_playable",
            detail: format!("The project cannot be read: {error}"),
        })?;
        Ok((document, project))
    }
}

fn not_one_project_error() -> ApiError {
    ApiError::bad_request(
        "one_project",
        "Send exactly one of `project_id` (a stored project) and `project` (a document).",
    )
}

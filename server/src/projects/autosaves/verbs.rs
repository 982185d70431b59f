//! Handlers that list, read, write and discard autosaves.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemas::json::{JsonText, ObjectWriter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::queries::{AutosaveQuery, DiscardQuery};
use super::store::{self, NewAutosave, StoredAutosave};
use super::summary::{Autosave, PROJECT_ID_MAX_BYTES, name_in, valid_project_id};
use super::text::read_autosave;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, JsonBytes, LongFields, Query, parse_long, with_document};
use crate::large_answer::Recipient;
use crate::projects::document::{StoredDocument, read_stored, upgrade_document};
use crate::projects::reserve_storing;
use crate::reserve;
use crate::state::AppState;

/// Maximum length of a window's id, in bytes.
const CLIENT_ID_MAX_BYTES: usize = 128;

/// An autosave in a request.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::projects) struct TempSave {
    /// Id of the browser window that writes the autosave. The window uses it to recognize its own
    /// writes.
    #[schema(min_length = 1, max_length = 128)]
    client_id: String,
    /// The project. It is upgraded, and stored even if it is invalid. It replaces the autosave of
    /// the song with the same `project_id`; a project without an id gets a new one.
    #[schema(value_type = Object)]
    project: JsonText,
}

impl LongFields for TempSave {
    const NAMES: &'static [&'static str] = &["project"];
}

/// The autosaves of a user.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::projects) struct AutosaveList {
    /// The autosaves, newest first: at most 20.
    items: Vec<Autosave>,
}

/// Time and song of an autosave, and the window that wrote it.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(in crate::projects) struct TempRevision {
    /// Time of writing, RFC 3339; null if there is no autosave.
    updated_at: Option<String>,
    /// Id of the window that wrote the autosave; null if there is no autosave.
    client_id: Option<String>,
    /// Id of the song; null if there is no autosave.
    project_id: Option<String>,
}

/// An autosave with its project.
#[derive(Debug, ToSchema)]
pub(in crate::projects) struct TempDocument {
    /// Time of writing, RFC 3339.
    updated_at: String,
    /// Id of the window that wrote the autosave.
    client_id: String,
    /// The project, upgraded to the current schema version. It may be invalid, because autosaves
    /// are not validated.
    #[schema(value_type = Object)]
    project: JsonText,
}

impl TempDocument {
    fn into_json(self) -> String {
        let mut text = String::with_capacity(self.project.as_str().len() + 256);
        let mut object = ObjectWriter::new(&mut text);
        object.text("updated_at", &self.updated_at);
        object.text("client_id", &self.client_id);
        object.json("project", self.project.as_str());
        object.end();
        text
    }
}

/// Replaces the autosave of a song. If the user already has 20 autosaves, the oldest one is
/// deleted.
#[utoipa::path(put, path = "/projects/temp", tag = "projects", request_body = TempSave,
    responses((status = 200, body = TempRevision)))]
pub(in crate::projects) async fn write(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Json<TempRevision>> {
    let (client_id, project_id, name, text) = with_document(body.len(), move || {
        let save: TempSave = parse_long(body)?;
        if save.client_id.is_empty() || save.client_id.len() > CLIENT_ID_MAX_BYTES {
            return Err(ApiError::bad_request(
                "bad_client_id",
                format!(
                    "`client_id` has {} bytes; expected 1 to {CLIENT_ID_MAX_BYTES}.",
                    save.client_id.len()
                ),
            ));
        }
        let document = upgrade_document(&save.project)?;
        let project_id = valid_project_id(&document).ok_or_else(|| {
            ApiError::bad_request(
                "bad_project_id",
                format!(
                    "The `project_id` of the project must have 1 to {PROJECT_ID_MAX_BYTES} letters, digits, dots, \
                     underscores and hyphens."
                ),
            )
        })?;
        Ok((save.client_id, project_id, name_in(&document), document.into_string()))
    })
    .await?;
    let _reserved = reserve_storing(&state, &user.id, text.len())?;
    let autosave = NewAutosave { project_id: &project_id, name: &name, client_id: &client_id, text: &text };
    let updated_at = store::put(&state.db, &user.id, autosave).await?;
    (state.project_saved)(&state, &user.id, &text).await;
    Ok(Json(TempRevision {
        updated_at: Some(updated_at),
        client_id: Some(client_id),
        project_id: Some(project_id),
    }))
}

/// Reads the autosave of a song, or the one that was written last.
#[utoipa::path(get, path = "/projects/temp", tag = "projects", params(AutosaveQuery),
    responses((status = 200, body = TempDocument),
        (status = 404, description = "`no_autosave`", body = Problem, content_type = "application/problem+json")))]
pub(in crate::projects) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<AutosaveQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let recipient = Recipient::new(&state, &user.id, &headers);
    let respond = move |StoredAutosave { summary, text }| {
        let project = read_stored(&StoredDocument::Autosave(summary.project_id), &text)?;
        let autosave = TempDocument { updated_at: summary.updated_at, client_id: summary.client_id, project };
        recipient.answer_json(autosave.into_json())
    };
    read_autosave(&state, &user.id, query.project_id, respond).await
}

/// Returns the time and the song of an autosave, and the window that wrote it. Without
/// `project_id`, this is the autosave that was written last. All values are null if there is none.
#[utoipa::path(get, path = "/projects/temp/revision", tag = "projects", params(AutosaveQuery),
    responses((status = 200, body = TempRevision)))]
pub(in crate::projects) async fn revision(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<AutosaveQuery>,
) -> ApiResult<Json<TempRevision>> {
    let autosave = store::find(&state.db, &user.id, query.project_id.as_deref()).await?;
    let revision = autosave.map(|autosave| TempRevision {
        updated_at: Some(autosave.updated_at),
        client_id: Some(autosave.client_id),
        project_id: Some(autosave.project_id),
    });
    Ok(Json(revision.unwrap_or_default()))
}

/// Lists the caller's autosaves, newest first.
#[utoipa::path(get, path = "/projects/temp/songs", tag = "projects",
    responses((status = 200, body = AutosaveList)))]
pub(in crate::projects) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
) -> ApiResult<Json<AutosaveList>> {
    Ok(Json(AutosaveList { items: store::read_all(&state.db, &user.id).await? }))
}

/// Discards the autosave of a song, or the one that was written last.
#[utoipa::path(delete, path = "/projects/temp", tag = "projects", params(DiscardQuery),
    responses((status = 204, description = "The autosave is deleted")))]
pub(in crate::projects) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<DiscardQuery>,
) -> ApiResult<StatusCode> {
    let deleting = || async {
        let Some(autosave) = store::find(&state.db, &user.id, query.project_id.as_deref()).await? else {
            return Ok(());
        };
        store::delete(&state.db, &user.id, &autosave.project_id, query.client_id.as_deref()).await?;
        Ok::<_, ApiError>(())
    };
    reserve::retry_with_reserve(&state, deleting).await?;
    Ok(StatusCode::NO_CONTENT)
}

//! The temporary autosave. Each user has one, and the web page restores it when it is opened again.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemas::json::{JsonText, ObjectWriter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::document::{StoredDocument, read_stored, upgrade_document};
use super::reserve_storing;
use super::store::{self, StoredTemp};
use super::stored_text::read_autosave;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, JsonBytes, LongFields, parse_long, with_document};
use crate::large_answer::Recipient;
use crate::reserve;
use crate::state::AppState;

/// Maximum length of a window's id, in bytes.
const CLIENT_ID_MAX_BYTES: usize = 128;

/// An autosave in a request.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TempSave {
    /// Id of the browser window that writes the autosave. The window uses it to recognize its own
    /// writes.
    #[schema(min_length = 1, max_length = 128)]
    client_id: String,
    /// The project. It is upgraded, and stored even if it is invalid.
    #[schema(value_type = Object)]
    project: JsonText,
}

impl LongFields for TempSave {
    const NAMES: &'static [&'static str] = &["project"];
}

/// Time of an autosave, and the window that wrote it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TempRevision {
    /// Time of writing, RFC 3339; null if there is no autosave.
    updated_at: Option<String>,
    /// Id of the window that wrote the autosave; null if there is no autosave.
    client_id: Option<String>,
}

/// The autosave of a user with its project.
#[derive(Debug, ToSchema)]
pub(super) struct TempDocument {
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

/// Replaces the autosave.
#[utoipa::path(put, path = "/projects/temp", tag = "projects", request_body = TempSave,
    responses((status = 200, body = TempRevision)))]
pub(super) async fn write(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Json<TempRevision>> {
    let (client_id, text) = with_document(body.len(), move || {
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
        Ok((save.client_id, upgrade_document(&save.project)?.into_string()))
    })
    .await?;
    let _reserved = reserve_storing(&state, &user.id, text.len())?;
    let updated_at = store::put_temp(&state.db, &user.id, &client_id, &text).await?;
    (state.project_saved)(&state, &user.id, &text).await;
    Ok(Json(TempRevision { updated_at: Some(updated_at), client_id: Some(client_id) }))
}

/// Reads the autosave.
#[utoipa::path(get, path = "/projects/temp", tag = "projects",
    responses((status = 200, body = TempDocument),
        (status = 404, description = "`no_autosave`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let recipient = Recipient::new(&state, &user.id, &headers);
    let respond = move |autosave: StoredTemp| {
        let project = read_stored(&StoredDocument::Autosave, &autosave.text)?;
        let autosave =
            TempDocument { updated_at: autosave.updated_at, client_id: autosave.client_id, project };
        recipient.answer_json(autosave.into_json())
    };
    read_autosave(&state, &user.id, respond).await
}

/// Returns the time of the autosave and the window that wrote it; both are null if there is none.
#[utoipa::path(get, path = "/projects/temp/revision", tag = "projects",
    responses((status = 200, body = TempRevision)))]
pub(super) async fn revision(
    State(state): State<AppState>,
    user: CurrentUser,
) -> ApiResult<Json<TempRevision>> {
    let (client_id, updated_at) = store::find_temp_revision(&state.db, &user.id).await?.unzip();
    Ok(Json(TempRevision { updated_at, client_id }))
}

/// Discards the autosave.
#[utoipa::path(delete, path = "/projects/temp", tag = "projects",
    responses((status = 204, description = "The autosave is deleted")))]
pub(super) async fn delete(State(state): State<AppState>, user: CurrentUser) -> ApiResult<StatusCode> {
    let deleting = || async { Ok::<_, ApiError>(store::delete_temp(&state.db, &user.id).await?) };
    reserve::retry_with_reserve(&state, deleting).await?;
    Ok(StatusCode::NO_CONTENT)
}

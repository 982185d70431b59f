//! Downloads of stored JSON text. They work even if the text can no longer be read as a project.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use super::autosaves::{AutosaveQuery, StoredAutosave, read_autosave};
use super::document::StoredDocument;
use super::headers::{not_modified, private_cache_control, revision_tag};
use super::stored_text::UnreadDocument;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Path, Query};
use crate::large_answer::Recipient;
use crate::state::AppState;

/// Downloads the stored JSON of a kept revision without changes, even if it can no longer be read.
#[utoipa::path(get, path = "/projects/{id}/revisions/{n}/raw", tag = "projects",
    params(("id", description = "Id of the project"), ("n" = i64, Path, description = "The revision")),
    responses((status = 200, description = "The stored text", content_type = "application/json", body = Object,
        headers(("ETag" = String, description = "The revision"))),
        (status = 304, description = "`If-None-Match` names the revision")))]
pub(super) async fn revision(
    State(state): State<AppState>,
    user: CurrentUser,
    Path((id, revision)): Path<(String, i64)>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let unread_document = UnreadDocument::find_revision(&state, &user.id, &id, revision).await?;
    download(&state, &user, &headers, &format!("{id}-{revision}"), unread_document).await
}

/// Downloads the stored JSON of the autosave of a song, or of the autosave that was written last.
/// The text is unchanged, even if it can no longer be read as a project.
#[utoipa::path(get, path = "/projects/temp/raw", tag = "projects", params(AutosaveQuery),
    responses((status = 200, description = "The stored text", content_type = "application/json", body = Object),
        (status = 404, description = "`no_autosave`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn autosave(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<AutosaveQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let recipient = Recipient::new(&state, &user.id, &headers);
    let respond = move |autosave: StoredAutosave| recipient.answer_json(autosave.text);
    let answer = read_autosave(&state, &user.id, query.project_id, respond).await?;
    Ok((download_headers("autosave")?, answer).into_response())
}

/// Answers with the JSON of a revision, which browsers save as `<stem>.json`. Answers 304 if
/// `If-None-Match` names the revision.
pub(super) async fn download(
    state: &AppState,
    user: &CurrentUser,
    headers: &HeaderMap,
    stem: &str,
    unread_document: UnreadDocument,
) -> ApiResult<Response> {
    if let Some(not_modified) = not_modified(headers, unread_document.revision) {
        return Ok(not_modified);
    }
    let tag = (header::ETAG, revision_tag(unread_document.revision));
    let recipient = Recipient::new(state, &user.id, headers);
    let respond = move |_: &StoredDocument, text: String| recipient.answer_json(text);
    let answer = unread_document.read(state, respond).await?;
    Ok(([tag], download_headers(stem)?, answer).into_response())
}

fn download_headers(stem: &str) -> ApiResult<[(HeaderName, HeaderValue); 2]> {
    let disposition = format!("attachment; filename=\"{stem}.json\"");
    let disposition = HeaderValue::from_str(&disposition).map_err(ApiError::internal)?;
    Ok([(header::CONTENT_DISPOSITION, disposition), private_cache_control()])
}

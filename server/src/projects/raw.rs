//! Downloads of stored JSON as it is, even if it no longer loads.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use super::document::json_answer;
use super::store;
use super::temp::no_autosave;
use super::verbs::{no_store, not_modified, revision_tag};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Path, with_document};
use crate::state::AppState;

/// Downloads the stored JSON of a kept revision as it is, even if it no longer loads.
#[utoipa::path(get, path = "/projects/{id}/revisions/{n}/raw", tag = "projects",
    params(("id", description = "Id of the project"), ("n" = i64, Path, description = "The revision")),
    responses((status = 200, description = "The stored text", content_type = "application/json", body = Object,
        headers(("ETag" = String, description = "The revision"))),
        (status = 304, description = "`If-None-Match` names the revision"), CommonErrors))]
pub(super) async fn revision(
    State(state): State<AppState>,
    user: CurrentUser,
    Path((id, revision)): Path<(String, i64)>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let found = store::load_revision(&state.db, &user.id, &id, revision)
        .await?
        .ok_or_else(|| ApiError::not_found("kept revision", &revision.to_string()))?;
    if let Some(not_modified) = not_modified(&headers, found.revision) {
        return Ok(not_modified);
    }
    let tag = (header::ETAG, revision_tag(found.revision));
    Ok(([tag], download(&state, &user, &format!("{id}-{revision}"), found.text).await?).into_response())
}

/// Downloads the stored JSON of the autosave as it is, even if it no longer loads.
#[utoipa::path(get, path = "/projects/temp/raw", tag = "projects",
    responses((status = 200, description = "The stored text", content_type = "application/json", body = Object),
        (status = 404, description = "`no_autosave`", body = Problem, content_type = "application/problem+json"),
        CommonErrors))]
pub(super) async fn autosave(State(state): State<AppState>, user: CurrentUser) -> ApiResult<Response> {
    let found = store::temp(&state.db, &user.id).await?.ok_or_else(no_autosave)?;
    download(&state, &user, "autosave", found.text).await
}

/// An answer of JSON that browsers save as a file of this name.
pub(super) async fn download(
    state: &AppState,
    user: &CurrentUser,
    stem: &str,
    text: String,
) -> ApiResult<Response> {
    let save_as = format!("attachment; filename=\"{stem}.json\"");
    let save_as = HeaderValue::from_str(&save_as).map_err(ApiError::internal)?;
    let (state, user_id) = (state.clone(), user.id.clone());
    let answer = with_document(text.len(), move || json_answer(&state, &user_id, text)).await?;
    Ok(([(header::CONTENT_DISPOSITION, save_as), no_store()], answer).into_response())
}

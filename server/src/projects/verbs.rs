//! Handlers that list, read, save and delete projects.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::document::{Document, ProjectDocument, StoredDocument, read_stored, upgrade_document};
use super::headers::{not_modified, parse_expected_revision, private_cache_control, revision_tag};
use super::raw::download;
use super::saving::{insert, save_next};
use super::store;
use super::stored_text::UnreadDocument;
use super::{ProjectSummary, Saved, reserve_storing};
use crate::audit::{self, Action};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, JsonBytes, Path, Query, read_text, with_document};
use crate::large_answer::Recipient;
use crate::paging::{Page, PageQuery, Position};
use crate::reserve;
use crate::state::AppState;

/// An answer to a save: the body, and the new revision as `ETag`.
pub(super) type SavedAnswer = (StatusCode, [(HeaderName, HeaderValue); 1], Json<Saved>);

pub(super) fn saved_answer(status: StatusCode, saved_project: Saved) -> SavedAnswer {
    (status, [(header::ETAG, revision_tag(saved_project.revision))], Json(saved_project))
}

/// Lists the caller's projects. The project that was saved last comes first.
#[utoipa::path(get, path = "/projects", tag = "projects", params(PageQuery),
    responses((status = 200, body = Page<ProjectSummary>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<ProjectSummary>>> {
    let limit = query.limit()?;
    let projects = store::read_page(&state.db, &user.id, query.position()?.as_ref(), limit + 1).await?;
    let position_of = |project: &ProjectSummary| Position {
        time: project.updated_at.clone(),
        id: project.project_id.clone(),
    };
    Ok(Json(Page::from_overfetched(projects, limit, position_of)))
}

/// Stores a new project. A project without a `project_id` gets a new id.
#[utoipa::path(post, path = "/projects", tag = "projects", request_body = ProjectDocument,
    responses((status = 201, body = Saved, headers(("ETag" = String), ("Location" = String))),
        (status = 409, description = "`project_exists`: the caller has a project with this id", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`; nothing was changed", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn create(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    let document = Document::from_bytes(body, None).await?;
    create_project(&state, &user, &document).await
}

/// Stores `document` as a new project and answers 201.
pub(super) async fn create_project(
    state: &AppState,
    user: &CurrentUser,
    document: &Document,
) -> ApiResult<Response> {
    let _reserved = reserve_storing(state, &user.id, document.text.len())?;
    let saved_project = insert(state, &user.id, document).await?.ok_or_else(|| ApiError::Conflict {
        code: "project_exists",
        detail: format!(
            "A project `{}` already exists; save it with PUT, or send another project_id.",
            document.project_id
        ),
    })?;
    let location = format!("/api/v1/projects/{}", saved_project.project_id);
    let location = HeaderValue::from_str(&location).map_err(ApiError::internal)?;
    Ok(([(header::LOCATION, location)], saved_answer(StatusCode::CREATED, saved_project)).into_response())
}

/// Reads a project, upgraded to the current schema version.
#[utoipa::path(get, path = "/projects/{id}", tag = "projects", params(("id", description = "Id of the project")),
    responses((status = 200, body = ProjectDocument, headers(("ETag" = String, description = "The revision"))),
        (status = 304, description = "`If-None-Match` names the current revision"),
        (status = 422, description = "`project_unreadable`: the project is stored but can no longer be read", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let unread_document = UnreadDocument::find_current(&state, &user.id, &id).await?;
    if let Some(not_modified) = not_modified(&headers, unread_document.revision) {
        return Ok(not_modified);
    }
    let tag = revision_tag(unread_document.revision);
    let recipient = Recipient::new(&state, &user.id, &headers);
    let respond = move |source: &StoredDocument, text: String| {
        let project = read_stored(source, &text)?.into_string();
        drop(text);
        recipient.answer_json(project)
    };
    let project = unread_document.read(&state, respond).await?;
    Ok(([(header::ETAG, tag), private_cache_control()], project).into_response())
}

/// Saves a project. `If-Match` must have the revision from which the save started.
#[utoipa::path(put, path = "/projects/{id}", tag = "projects", request_body = ProjectDocument,
    params(("id", description = "Id of the project"),
        ("If-Match" = String, Header, pattern = r#"^"\d{1,18}"$"#,
            description = "The revision as an entity tag, such as \"3\"")),
    responses((status = 200, body = Saved, headers(("ETag" = String))),
        (status = 412, description = "`stale_revision`: another save came first; nothing was overwritten",
            body = Problem, content_type = "application/problem+json"),
        (status = 428, description = "`if_match_required`", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`; nothing was changed", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn save(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
    JsonBytes(body): JsonBytes,
) -> ApiResult<SavedAnswer> {
    let base_revision = parse_expected_revision(&headers)?.ok_or_else(|| ApiError::PreconditionRequired {
        code: "if_match_required",
        detail: "Send the header `If-Match` with the revision from which this save started, such as `If-Match: \"3\"`."
            .to_owned(),
    })?;
    let document = Document::from_bytes(body, Some(id)).await?;
    save_over(&state, &user, &document, base_revision).await
}

/// Stores the next revision. Answers 412 if `base_revision` is not the current revision, and 404 if
/// the project does not exist.
pub(super) async fn save_over(
    state: &AppState,
    user: &CurrentUser,
    document: &Document,
    base_revision: i64,
) -> ApiResult<SavedAnswer> {
    let _reserved = reserve_storing(state, &user.id, document.text.len())?;
    Ok(saved_answer(StatusCode::OK, save_next(state, &user.id, document, base_revision).await?))
}

/// Deletes a project with all its revisions.
#[utoipa::path(delete, path = "/projects/{id}", tag = "projects", params(("id", description = "Id of the project")),
    responses((status = 204, description = "Deleted")))]
pub(super) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let deleting = || async { Ok::<_, ApiError>(store::delete(&state.db, &user.id, &id).await?) };
    let name = reserve::retry_with_reserve(&state, deleting).await?;
    let name = name.ok_or_else(|| ApiError::not_found("project", &id))?;
    audit::record(&state.db, &user.who(), Action::ProjectDeleted, &name, &id).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Reads the stored JSON without changes, even if it can no longer be read as a project.
#[utoipa::path(get, path = "/projects/{id}/raw", tag = "projects", params(("id", description = "Id of the project")),
    responses((status = 200, description = "The stored text", content_type = "application/json",
        body = ProjectDocument, headers(("ETag" = String, description = "The revision"))),
        (status = 304, description = "`If-None-Match` names the current revision")))]
pub(super) async fn raw(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let unread_document = UnreadDocument::find_current(&state, &user.id, &id).await?;
    download(&state, &user, &headers, &id, unread_document).await
}

/// Upgrades a project to the current schema version. Neither stores nor validates it.
#[utoipa::path(post, path = "/projects/upgrade", tag = "projects", request_body = ProjectDocument,
    responses((status = 200, description = "The document, upgraded to the current schema version; only saving validates it",
        content_type = "application/json", body = Object)))]
pub(super) async fn upgrade(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    let bytes = body.len();
    let recipient = Recipient::new(&state, &user.id, &headers);
    let upgrade = move || {
        let document = read_text(&body)?;
        drop(body);
        recipient.answer_json(upgrade_document(&document)?.into_string())
    };
    with_document(bytes, upgrade).await
}

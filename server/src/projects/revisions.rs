//! Handlers for older revisions of projects, and for copies of projects.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::document::{Document, StoredDocument};
use super::headers::parse_expected_revision;
use super::stored_text::UnreadDocument;
use super::verbs::{SavedAnswer, create_project, save_over};
use super::{RevisionSummary, Saved, store};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery};
use crate::state::AppState;

/// Maximum length of a project name in characters, as in the project schema.
const NAME_MAX_CHARS: usize = 500;

/// Lists the kept revisions, newest first.
#[utoipa::path(get, path = "/projects/{id}/revisions", tag = "projects",
    params(("id", description = "Id of the project"), PageQuery),
    responses((status = 200, body = Page<RevisionSummary>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<RevisionSummary>>> {
    let items = store::read_revisions(&state.db, &user.id, &id).await?;
    if items.is_empty() {
        return Err(ApiError::not_found("project", &id));
    }
    Page::of_whole(items, &query, |revision| revision.revision.to_string()).map(Json)
}

/// Stores an older revision again as the newest one. The revisions between the two are kept.
#[utoipa::path(post, path = "/projects/{id}/revisions/{n}/restore", tag = "projects",
    params(("id", description = "Id of the project"), ("n" = i64, Path, description = "The revision to restore"),
        ("If-Match" = Option<String>, Header, pattern = r#"^"\d{1,18}"$"#,
            description = "Restore only if this is the current revision")),
    responses((status = 200, body = Saved, headers(("ETag" = String))),
        (status = 412, description = "`stale_revision`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn restore(
    State(state): State<AppState>,
    user: CurrentUser,
    Path((id, revision)): Path<(String, i64)>,
    headers: HeaderMap,
) -> ApiResult<SavedAnswer> {
    let not_found_error = || ApiError::not_found("project", &id);
    let current_revision =
        store::find_current_revision(&state.db, &user.id, &id).await?.ok_or_else(not_found_error)?;
    let base_revision = parse_expected_revision(&headers)?.unwrap_or(current_revision);
    let unread_document = UnreadDocument::find_revision(&state, &user.id, &id, revision).await?;
    let copy =
        move |source: &StoredDocument, text: String| Document::copy_of(source, &text, &id, str::to_owned);
    let document = unread_document.read(&state, copy).await?;
    save_over(&state, &user, &document, base_revision).await
}

/// Copies a project under a new id.
#[utoipa::path(post, path = "/projects/{id}/duplicate", tag = "projects",
    params(("id", description = "Id of the project")),
    responses((status = 201, body = Saved, headers(("ETag" = String), ("Location" = String)))))]
pub(super) async fn duplicate(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Response> {
    let unread_document = UnreadDocument::find_current(&state, &user.id, &id).await?;
    let new_id = uuid::Uuid::new_v4().to_string();
    let rename = |name: &str| {
        const COPY_SUFFIX: &str = " (copy)";
        let shortened_name: String = name.chars().take(NAME_MAX_CHARS - COPY_SUFFIX.len()).collect();
        shortened_name + COPY_SUFFIX
    };
    let copy = move |source: &StoredDocument, text: String| Document::copy_of(source, &text, &new_id, rename);
    let document = unread_document.read(&state, copy).await?;
    create_project(&state, &user, &document).await
}

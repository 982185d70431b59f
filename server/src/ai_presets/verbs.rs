//! Handlers of `/ai_presets`.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::queries::TemplateQuery;
use super::template_body::TemplateBody;
use super::{PromptTemplate, store, template};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, FieldError, Problem};
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::searches::read_list;
use crate::state::AppState;

/// Maximum size of a rendered template, in bytes.
const RENDERED_MAX_BYTES: usize = 1024 * 1024;

/// Lists the caller's prompt templates, the newest first.
#[utoipa::path(get, path = "/ai_presets", tag = "ai_presets", params(PageQuery, TemplateQuery),
    responses((status = 200, body = Page<PromptTemplate>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(page): Query<PageQuery>,
    Query(query): Query<TemplateQuery>,
) -> ApiResult<Json<Page<PromptTemplate>>> {
    let limit = page.limit()?;
    let (position, is_search) = (page.position()?, query.search.is_some() || query.keyword.is_some());
    let (db, owner_id) = (state.db.clone(), user.id.clone());
    let read_presets =
        async move { Ok(store::read_page(&db, &owner_id, &query, position.as_ref(), limit + 1).await?) };
    let templates = read_list(&state, &user.id, is_search, read_presets).await?;
    let position_of =
        |template: &PromptTemplate| Position { time: template.created_at.clone(), id: template.id.clone() };
    Ok(Json(Page::from_overfetched(templates, limit, position_of)))
}

/// Stores a prompt template of the caller.
#[utoipa::path(post, path = "/ai_presets", tag = "ai_presets", request_body = TemplateBody,
    responses((status = 201, body = PromptTemplate, headers(("Location" = String))),
        (status = 409, description = "`too_many_templates`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn create(
    State(state): State<AppState>,
    user: CurrentUser,
    Json(body): Json<TemplateBody>,
) -> ApiResult<Response> {
    let template = store::insert(&state.db, &user.id, &body.into_validated()?).await?;
    let location = HeaderValue::from_str(&format!("/api/v1/ai_presets/{}", template.id));
    let location = location.map_err(ApiError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(template)).into_response())
}

fn require_found(id: &str, template: Option<PromptTemplate>) -> ApiResult<PromptTemplate> {
    template.ok_or_else(|| ApiError::not_found("prompt template", id))
}

/// Reads a prompt template of the caller.
#[utoipa::path(get, path = "/ai_presets/{id}", tag = "ai_presets",
    params(("id", description = "Id of the template")),
    responses((status = 200, body = PromptTemplate)))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Json<PromptTemplate>> {
    require_found(&id, store::find_by_id(&state.db, &user.id, &id).await?).map(Json)
}

/// Replaces a prompt template of the caller.
#[utoipa::path(put, path = "/ai_presets/{id}", tag = "ai_presets", request_body = TemplateBody,
    params(("id", description = "Id of the template")),
    responses((status = 200, body = PromptTemplate),
        (status = 409, description = "`too_many_templates`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn replace(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Json(body): Json<TemplateBody>,
) -> ApiResult<Json<PromptTemplate>> {
    require_found(&id, store::replace(&state.db, &user.id, &id, &body.into_validated()?).await?).map(Json)
}

/// Whether a template is a favourite.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Favourite {
    /// Whether the template is a favourite.
    favourite: bool,
}

/// Sets whether a prompt template of the caller is a favourite.
#[utoipa::path(put, path = "/ai_presets/{id}/favourite", tag = "ai_presets", request_body = Favourite,
    params(("id", description = "Id of the template")),
    responses((status = 200, body = PromptTemplate)))]
pub(super) async fn set_favourite(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Json(Favourite { favourite }): Json<Favourite>,
) -> ApiResult<Json<PromptTemplate>> {
    require_found(&id, store::set_favourite(&state.db, &user.id, &id, favourite).await?).map(Json)
}

/// Deletes a prompt template of the caller.
#[utoipa::path(delete, path = "/ai_presets/{id}", tag = "ai_presets",
    params(("id", description = "Id of the template")),
    responses((status = 204, description = "Deleted")))]
pub(super) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    match store::delete(&state.db, &user.id, &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("prompt template", &id)),
    }
}

/// Values of a template's variables.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RenderTemplate {
    /// Texts by the names of variables; unused ones are ignored.
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

/// A template with the values of its variables.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RenderedTemplate {
    /// Text of the template, with all variables replaced by their values.
    text: String,
}

/// Fills in the variables of a prompt template of the caller. Braces in a value have no meaning.
#[utoipa::path(post, path = "/ai_presets/{id}/render", tag = "ai_presets", request_body = RenderTemplate,
    params(("id", description = "Id of the template")),
    responses((status = 200, body = RenderedTemplate)))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Json(RenderTemplate { variables }): Json<RenderTemplate>,
) -> ApiResult<Json<RenderedTemplate>> {
    let template = require_found(&id, store::find_by_id(&state.db, &user.id, &id).await?)?;
    // The size is checked before rendering, because a short template can produce gigabytes.
    if template::rendered_bytes(&template.body, &variables) > RENDERED_MAX_BYTES {
        let limit_bytes = RENDERED_MAX_BYTES as u64;
        return Err(ApiError::TooLarge { subject: "A rendered template", limit_bytes });
    }
    let text = template::render(&template.body, &variables).map_err(|missing| ApiError::Invalid {
        code: "missing_variables",
        detail: format!("The template `{}` needs values for: {}.", template.title, missing.join(", ")),
        errors: missing
            .into_iter()
            .map(|name| FieldError { pointer: format!("/variables/{name}"), detail: "is missing".to_owned() })
            .collect(),
    })?;
    Ok(Json(RenderedTemplate { text }))
}

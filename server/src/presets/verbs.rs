//! Handlers of `/presets`.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::preset_body::PresetBody;
use super::queries::PresetQuery;
use super::{PresetSource, PresetSummary, StoredPreset, factory, store};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, LongJson, Path, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::searches::read_list;
use crate::state::AppState;

/// Lists presets: first the caller's own, newest first, then the factory presets.
#[utoipa::path(get, path = "/presets", tag = "presets", params(PageQuery, PresetQuery),
    responses((status = 200, body = Page<PresetSummary>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(page): Query<PageQuery>,
    Query(query): Query<PresetQuery>,
) -> ApiResult<Json<Page<PresetSummary>>> {
    let limit = page.limit()?;
    let page_position = page.position()?;
    let count = limit + 1;
    let mut presets = Vec::new();
    let in_factory = page_position.as_ref().is_some_and(|position| factory::is_id(&position.id));
    if query.includes(PresetSource::User) && !in_factory {
        let is_search = query.search_key().is_some() || query.category_key().is_some();
        let (db, owner_id) = (state.db.clone(), user.id.clone());
        let (query, page_position) = (query.clone(), page_position.clone());
        let reading =
            async move { Ok(store::read_page(&db, &owner_id, &query, page_position.as_ref(), count).await?) };
        presets = read_list(&state, &user.id, is_search, reading).await?;
    }
    if query.includes(PresetSource::Factory) {
        let page_position = page_position.filter(|_| in_factory);
        let matching =
            factory::matching_presets(&query, page_position.as_ref().map(|position| position.id.as_str()));
        presets.extend(matching.take(count as usize - presets.len()));
    }
    let position_of = |preset: &PresetSummary| Position {
        time: preset.created_at.clone().unwrap_or_default(),
        id: preset.id.clone(),
    };
    Ok(Json(Page::from_overfetched(presets, limit, position_of)))
}

/// Stores a preset of the caller.
#[utoipa::path(post, path = "/presets", tag = "presets", request_body = PresetBody,
    responses((status = 201, body = StoredPreset, headers(("Location" = String))),
        (status = 409, description = "`too_many_presets`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn create(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(body): LongJson<PresetBody>,
) -> ApiResult<Response> {
    let preset = store::insert(&state.db, &user.id, &body.into_validated()?).await?;
    let location = format!("/api/v1/presets/{}", preset.summary.id);
    let location = HeaderValue::from_str(&location).map_err(ApiError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(preset)).into_response())
}

/// Reads a preset of the caller, or a factory preset.
#[utoipa::path(get, path = "/presets/{id}", tag = "presets", params(("id", description = "Id of the preset")),
    responses((status = 200, body = StoredPreset)))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Json<StoredPreset>> {
    let preset = match factory::is_id(&id) {
        true => factory::find_by_id(&id).cloned(),
        false => store::find_by_id(&state.db, &user.id, &id).await?,
    };
    preset.map(Json).ok_or_else(|| ApiError::not_found("preset", &id))
}

/// Replaces a preset of the caller.
#[utoipa::path(put, path = "/presets/{id}", tag = "presets", request_body = PresetBody,
    params(("id", description = "Id of the preset")),
    responses((status = 200, body = StoredPreset),
        (status = 409, description = "`too_many_presets`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn replace(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    LongJson(body): LongJson<PresetBody>,
) -> ApiResult<Json<StoredPreset>> {
    refuse_factory(&id)?;
    let preset = store::replace(&state.db, &user.id, &id, &body.into_validated()?).await?;
    preset.map(Json).ok_or_else(|| ApiError::not_found("preset", &id))
}

/// Deletes a preset of the caller.
#[utoipa::path(delete, path = "/presets/{id}", tag = "presets", params(("id", description = "Id of the preset")),
    responses((status = 204, description = "Deleted")))]
pub(super) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    refuse_factory(&id)?;
    match store::delete(&state.db, &user.id, &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("preset", &id)),
    }
}

/// Refuses to change a factory preset: 403 if it exists, 404 if no factory preset has this id.
fn refuse_factory(id: &str) -> ApiResult<()> {
    match factory::find_by_id(id) {
        Some(preset) => Err(ApiError::Forbidden {
            code: "factory_preset",
            detail: format!(
                "`{}` comes with the program and cannot be changed; store a copy of it instead.",
                preset.summary.name
            ),
        }),
        None if factory::is_id(id) => Err(ApiError::not_found("preset", id)),
        None => Ok(()),
    }
}

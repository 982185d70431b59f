//! `/presets`.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use schemas::json::JsonText;
use serde::Deserialize;
use utoipa::ToSchema;

use super::queries::PresetQuery;
use super::{PRESETS_MAX, PresetKind, PresetSource, PresetSummary, StoredPreset, content, factory, store};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, FieldError, Problem};
use crate::extract::{Json, LongFields, LongJson, Path, Query, check_count};
use crate::paging::{Page, PageQuery, Position};
use crate::state::AppState;

/// Longest texts, in characters.
const NAME_MAX_CHARS: usize = 200;
const CATEGORY_MAX_CHARS: usize = 64;
const DESCRIPTION_MAX_CHARS: usize = 2_000;

/// A preset to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetBody {
    /// What it is for.
    pub(super) kind: PresetKind,
    /// Its name: 1 to 200 characters.
    pub(super) name: String,
    /// Where to look for it: at most 64 characters; empty by default.
    #[serde(default)]
    pub(super) category: String,
    /// What it does: at most 2000 characters; empty by default.
    #[serde(default)]
    pub(super) description: String,
    /// `effects` as on a track of a project; for an instrument `synth_engine`, and `effects` if it
    /// has some. Ids of effects and side-chains, which mean something in one project only, are not
    /// stored.
    #[schema(value_type = Object)]
    pub(super) content: JsonText,
}

impl LongFields for PresetBody {
    const NAMES: &'static [&'static str] = &["content"];
}

impl PresetBody {
    /// The preset as it is stored.
    ///
    /// # Errors
    /// 400 `invalid_preset` with every place that is wrong.
    fn checked(mut self) -> ApiResult<Self> {
        let mut errors = Vec::new();
        for (pointer, text, min, max) in [
            ("/name", &mut self.name, 1, NAME_MAX_CHARS),
            ("/category", &mut self.category, 0, CATEGORY_MAX_CHARS),
            ("/description", &mut self.description, 0, DESCRIPTION_MAX_CHARS),
        ] {
            *text = text.trim().to_owned();
            let chars = text.chars().count();
            if !(min..=max).contains(&chars) || text.chars().any(char::is_control) {
                let detail = format!("expected {min} to {max} printable characters, and it has {chars}");
                errors.push(FieldError { pointer: pointer.to_owned(), detail });
            }
        }
        // A tree of it is only made for as long as it is checked.
        check_count(self.content.as_str().as_bytes())?;
        match content::checked(self.kind, &self.content.view().to_value()) {
            Ok(kept) => self.content = JsonText::of_value(&kept),
            Err(faults) => errors.extend(faults),
        }
        let Some(first) = errors.first() else { return Ok(self) };
        let detail = format!("The preset is not valid. First, at {}: {}", first.pointer, first.detail);
        Err(ApiError::Invalid { code: "invalid_preset", detail, errors })
    }
}

/// Lists presets: the caller's own, the newest first, then the factory's.
#[utoipa::path(get, path = "/presets", tag = "presets", params(PageQuery, PresetQuery),
    responses((status = 200, body = Page<PresetSummary>), CommonErrors))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(page): Query<PageQuery>,
    Query(query): Query<PresetQuery>,
) -> ApiResult<Json<Page<PresetSummary>>> {
    let limit = page.limit()?;
    let after = page.position()?;
    let wanted = limit + 1;
    let mut found = Vec::new();
    let in_factory = after.as_ref().is_some_and(|position| factory::is_id(&position.id));
    if query.wants(PresetSource::User) && !in_factory {
        found = store::page(&state.db, &user.id, &query, after.as_ref(), wanted).await?;
    }
    if query.wants(PresetSource::Factory) {
        let after = after.filter(|_| in_factory);
        let rest = factory::matching(&query, after.as_ref().map(|position| position.id.as_str()));
        found.extend(rest.take(wanted as usize - found.len()));
    }
    let position = |one: &PresetSummary| Position {
        time: one.created_at.clone().unwrap_or_default(),
        id: one.id.clone(),
    };
    Ok(Json(Page::from_overfetched(found, limit, position)))
}

/// Stores a preset of the caller.
#[utoipa::path(post, path = "/presets", tag = "presets", request_body = PresetBody,
    responses((status = 201, body = StoredPreset, headers(("Location" = String))),
        (status = 409, description = "`too_many_presets`", body = Problem,
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn create(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(body): LongJson<PresetBody>,
) -> ApiResult<Response> {
    let stored = store::insert(&state.db, &user.id, &body.checked()?).await?;
    let stored = stored.ok_or_else(|| ApiError::Conflict {
        code: "too_many_presets",
        detail: format!("You have {PRESETS_MAX} presets, and nobody may have more; delete one first."),
    })?;
    let location = format!("/api/v1/presets/{}", stored.summary.id);
    let location = HeaderValue::from_str(&location).map_err(ApiError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(stored)).into_response())
}

/// Reads a preset of the caller or of the factory.
#[utoipa::path(get, path = "/presets/{id}", tag = "presets", params(("id", description = "Id of the preset")),
    responses((status = 200, body = StoredPreset), CommonErrors))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Json<StoredPreset>> {
    let found = match factory::is_id(&id) {
        true => factory::by_id(&id).cloned(),
        false => store::by_id(&state.db, &user.id, &id).await?,
    };
    found.map(Json).ok_or_else(|| ApiError::not_found("preset", &id))
}

/// Replaces a preset of the caller.
#[utoipa::path(put, path = "/presets/{id}", tag = "presets", request_body = PresetBody,
    params(("id", description = "Id of the preset")),
    responses((status = 200, body = StoredPreset), CommonErrors))]
pub(super) async fn replace(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    LongJson(body): LongJson<PresetBody>,
) -> ApiResult<Json<StoredPreset>> {
    refuse_factory(&id)?;
    let stored = store::replace(&state.db, &user.id, &id, &body.checked()?).await?;
    stored.map(Json).ok_or_else(|| ApiError::not_found("preset", &id))
}

/// Deletes a preset of the caller.
#[utoipa::path(delete, path = "/presets/{id}", tag = "presets", params(("id", description = "Id of the preset")),
    responses((status = 204, description = "It is gone"), CommonErrors))]
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

/// 403 for a preset of the factory, 404 for one that there is not.
fn refuse_factory(id: &str) -> ApiResult<()> {
    match factory::by_id(id) {
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

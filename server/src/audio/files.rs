//! Handlers that list, describe and delete audio files.

use axum::extract::State;
use axum::http::StatusCode;
use tokio::runtime::Handle;

use super::queries::ListQuery;
use super::search_key::search_key;
use super::store::{self, Filter, find};
use super::{AudioFile, deleted};
use crate::audit::{self, Action};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::reserve;
use crate::searches::read_list;
use crate::state::AppState;

/// Lists the caller's audio files, the newest first.
#[utoipa::path(get, path = "/audio", tag = "audio", params(PageQuery, ListQuery),
    responses((status = 200, body = Page<AudioFile>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(page): Query<PageQuery>,
    Query(query): Query<ListQuery>,
) -> ApiResult<Json<Page<AudioFile>>> {
    let limit = page.limit()?;
    let (search, tag) =
        (search_term("search", query.search.as_deref())?, search_term("tag", query.tag.as_deref())?);
    let is_search = search.is_some() || tag.is_some();
    let (filter, position) = (Filter { search, tag }, page.position()?);
    let (db, owner_id) = (state.db.clone(), user.id.clone());
    let reading =
        async move { Ok(store::read_page(&db, &owner_id, &filter, position.as_ref(), limit + 1).await?) };
    let audio_files = read_list(&state, &user.id, is_search, reading).await?;
    let position_of = |file: &AudioFile| Position { time: file.created_at.clone(), id: file.id.clone() };
    Ok(Json(Page::from_overfetched(audio_files, limit, position_of)))
}

/// Returns a search term in the form in which it is compared, or `None` if it is empty.
fn search_term(name: &str, text: Option<&str>) -> ApiResult<Option<String>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    if text.chars().any(char::is_control) {
        return Err(ApiError::bad_request(
            "bad_query",
            format!("`{name}` contains a control character; remove it."),
        ));
    }
    Ok(Some(search_key(text)))
}

/// Describes an audio file.
#[utoipa::path(get, path = "/audio/{id}", tag = "audio", params(("id", description = "Id of the file")),
    responses((status = 200, body = AudioFile)))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Json<AudioFile>> {
    Ok(Json(find(&state, &user.id, &id).await?.file))
}

/// Deletes an audio file, unless a project or an autosave refers to it. Until
/// `SF_DELETED_KEPT_SECS` have passed, saving a project that refers to the file restores it.
#[utoipa::path(delete, path = "/audio/{id}", tag = "audio", params(("id", description = "Id of the file")),
    responses((status = 204, description = "Deleted"),
        (status = 409, description = "`audio_in_use`: a project uses it", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn delete(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let file = find(&state, &user.id, &id).await?.file;
    reserve::retry_with_reserve(&state, || {
        let (runtime, state, owner_id) = (Handle::current(), state.clone(), user.id.clone());
        let (id, name) = (file.id.clone(), file.name.clone());
        async move {
            tokio::task::spawn_blocking(move || deleted::delete(&state, &runtime, &owner_id, &id, &name))
                .await?
        }
    })
    .await?;
    audit::record(&state.db, &user.who(), Action::AudioDeleted, &file.name, &file.id).await;
    Ok(StatusCode::NO_CONTENT)
}

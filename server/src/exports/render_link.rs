//! Links with which people without an account can download a render: `POST
//! /plugins/renders/{render_id}/link` and `GET /shared/render`.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::queries::LinkQuery;
use super::render_files;
use crate::audit::{self, Action};
use crate::auth::{self, CurrentUser, management};
use crate::clock;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path, Query};
use crate::state::AppState;

/// Default, minimum and maximum time until a link ends, in seconds.
const DEFAULT_SECS: f64 = 7.0 * 86_400.0;
const MIN_SECS: f64 = 60.0;
const MAX_SECS: f64 = 90.0 * 86_400.0;

/// A request for a link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkRequest {
    /// Time until the link expires, in seconds; a week by default.
    // JSON Schema counts 60.0 as an integer.
    #[schema(value_type = Option<u32>, minimum = 60, maximum = 7_776_000)]
    expires_secs: Option<f64>,
}

/// A link to a render.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RenderLink {
    /// Path of the file, for everybody who has the link.
    url: String,
    /// Time when the link expires, RFC 3339.
    expires_at: String,
}

/// Makes a link with which people without an account can download a render. It ends after
/// `expires_secs`, when the render is deleted, and when its owner logs out everywhere or is
/// disabled.
#[utoipa::path(post, path = "/plugins/renders/{render_id}/link", tag = "plugins", request_body = LinkRequest,
    params(("render_id", description = "Id of the render")),
    responses((status = 201, body = RenderLink)))]
pub(super) async fn create(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(render_id): Path<String>,
    Json(request): Json<LinkRequest>,
) -> ApiResult<(StatusCode, Json<RenderLink>)> {
    let secs = request.expires_secs.unwrap_or(DEFAULT_SECS);
    if !(MIN_SECS..=MAX_SECS).contains(&secs) || secs.fract() != 0.0 {
        return Err(ApiError::bad_request(
            "bad_expiry",
            format!("`expires_secs` is {secs}; expected a whole number from {MIN_SECS} to {MAX_SECS}."),
        ));
    }
    let (blobs, owner_id, id) = (state.blobs.clone(), user.id.clone(), render_id.clone());
    let description_task =
        tokio::task::spawn_blocking(move || render_files::read_description(&blobs, &owner_id, &id));
    if description_task.await??.is_none() {
        return Err(ApiError::not_found("render", &render_id));
    }
    let expires_at = clock::now_unix_secs() + secs as i64;
    let owner = management::user(&state.db, &user.id).await?;
    let token = auth::issue_link(&state.tokens, &owner, &render_id, expires_at)?;
    audit::record(&state.db, &user.who(), Action::RenderShared, &render_id, "").await;
    let expires_at = clock::text_of_unix_secs(expires_at);
    // The log of requests does not contain queries, so it does not contain tokens.
    let url = format!("/api/v1/shared/render?token={token}");
    Ok((StatusCode::CREATED, Json(RenderLink { url, expires_at })))
}

/// Sends the file of a render to anybody who has a link to it.
#[utoipa::path(get, path = "/shared/render", tag = "plugins", security(()), params(LinkQuery),
    responses((status = 200, description = "The file", content_type = "audio/wav", headers(("ETag" = String))),
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the file"),
        (status = 404, description = "`link_ended`, or the render was deleted", body = Problem,
            content_type = "application/problem+json"),
        (status = 416, description = "The range is outside the file")))]
pub(super) async fn read(
    State(state): State<AppState>,
    Query(query): Query<LinkQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let linked = auth::linked_render(&state, &query.token).await?;
    render_files::send(&state, linked.owner_id, linked.render_id, &headers).await
}

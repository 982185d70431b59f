//! The API's description at `/api/v1/openapi.json`, a page to browse it at `/api/docs`, and a table
//! of all operations with their access and errors at `/api/operations`.

mod document;
mod examples;
mod operations;
#[cfg(test)]
mod tests;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use utoipa_swagger_ui::{Config as SwaggerConfig, SwaggerUi};

use crate::auth::CurrentUser;
use crate::config::ApiDocsAccess;
use crate::state::AppState;

pub(crate) use document::{BearerScheme, complete, is_for_users};

#[derive(Clone)]
struct Document {
    /// All answers share these bytes, because an HTTP/2 client may send thousands of requests and
    /// read no answers.
    json: Bytes,
    etag: HeaderValue,
}

/// Returns the routes of `document` and its pages. The setting `SF_API_DOCS` decides whether they
/// are open to everybody, or only to users and local callers.
pub(crate) fn make_routes(document: &Value, state: &AppState) -> Router<AppState> {
    let json = Bytes::from(document.to_string());
    let etag = format!("\"{:x}\"", Sha256::digest(&json));
    let etag = HeaderValue::from_str(&etag).unwrap_or_else(|_| HeaderValue::from_static("\"\""));
    let table = Bytes::from(operations::render_page(document));
    let ui = SwaggerUi::new("/api/docs").config(SwaggerConfig::from("/api/v1/openapi.json"));
    let routes = Router::new()
        .route("/api/v1/openapi.json", get(openapi).with_state(Document { json, etag }))
        .route("/api/operations", get(move || async move { Html(table) }))
        .merge(Router::from(ui));
    match state.config.api_docs {
        ApiDocsAccess::Open => routes,
        ApiDocsAccess::Users => routes.layer(middleware::from_fn_with_state(state.clone(), only_users)),
    }
}

/// Middleware that refuses callers who have no valid credentials and are not local.
async fn only_users(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match CurrentUser::from_request_parts(&mut parts, &state).await {
        Ok(_) => next.run(Request::from_parts(parts, body)).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn openapi(State(document): State<Document>, headers: HeaderMap) -> Response {
    let common = [
        (header::ETAG, document.etag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    if crate::etag::matches_if_none_match(&headers, document.etag.to_str().unwrap_or("")) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    (common, Body::from(document.json)).into_response()
}

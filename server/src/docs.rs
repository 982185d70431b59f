//! The API's description: `/api/v1/openapi.json`, and a page to browse it at `/api/docs`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest as _, Sha256};
use utoipa::Modify;
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa_swagger_ui::{Config as SwaggerConfig, SwaggerUi};

use crate::state::AppState;

/// Adds the bearer token to the document.
pub(crate) struct BearerScheme;

impl Modify for BearerScheme {
    fn modify(&self, document: &mut OpenApi) {
        let scheme =
            SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build());
        document.components.get_or_insert_default().add_security_scheme("bearer", scheme);
    }
}

#[derive(Clone)]
struct Document {
    json: Arc<str>,
    etag: HeaderValue,
}

/// Serves `document` and the page that shows it.
pub(crate) fn routes(document: OpenApi) -> Router<AppState> {
    let json: Arc<str> =
        document.to_json().unwrap_or_else(|error| panic!("the API's description: {error}")).into();
    let etag = format!("\"{:x}\"", Sha256::digest(json.as_bytes()));
    let etag = HeaderValue::from_str(&etag).unwrap_or_else(|_| HeaderValue::from_static("\"\""));
    let ui = SwaggerUi::new("/api/docs").config(SwaggerConfig::from("/api/v1/openapi.json"));
    Router::new()
        .route("/api/v1/openapi.json", get(openapi).with_state(Document { json, etag }))
        .merge(Router::from(ui))
}

async fn openapi(State(document): State<Document>, headers: HeaderMap) -> Response {
    let common = [
        (header::ETAG, document.etag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    if crate::etag::matches_none(&headers, document.etag.to_str().unwrap_or("")) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    (common, document.json.to_string()).into_response()
}

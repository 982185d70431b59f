//! Serves the web page and its assets from the folder that the page's build writes.

mod files;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use crate::compression;
use crate::error::ApiError;
use crate::etag;
use crate::listen::Https;
use crate::state::AppState;

pub(crate) use files::PageFiles;

/// Restricts the page to files of this service, WebAssembly, and workers and worklets from blob
/// URLs.
const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:; \
     worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
     media-src 'self' blob:; font-src 'self' data:; connect-src 'self' blob:; object-src 'none'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Answer if the folder of the page is missing.
const NO_PAGE: &str = include_str!("no-page.html");

/// Makes browsers use only HTTPS for half a year (RFC 6797). Browsers ignore this header for IP
/// addresses.
const STRICT_TRANSPORT_SECURITY: &str = "max-age=15552000";

/// Middleware: sets the headers that make the page cross-origin isolated and forbid framing.
pub(crate) async fn security_headers(request: Request, next: Next) -> Response {
    let is_encrypted = request.extensions().get::<Https>().is_some();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("cross-origin-resource-policy", "same-origin"),
        ("content-security-policy", CONTENT_SECURITY_POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ] {
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    if is_encrypted {
        let value = HeaderValue::from_static(STRICT_TRANSPORT_SECURITY);
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// Answers paths without a route with a file of the page, or with 404.
pub(crate) async fn fallback(State(state): State<AppState>, request: Request) -> Response {
    let path = request.uri().path();
    let is_under_api = path == "/api" || path.starts_with("/api/");
    if !is_under_api && (request.method() == Method::GET || request.method() == Method::HEAD) {
        let has_version = query_has_version(request.uri().query());
        return match serve(&state, path, has_version, request.headers()).await {
            Ok(response) => response,
            Err(error) => error.into_response(),
        };
    }
    no_such_path_error(path).into_response()
}

fn no_such_path_error(path: &str) -> ApiError {
    let shown_path: String = path.chars().take(200).collect();
    ApiError::NotFound {
        code: "no_such_path",
        detail: format!("There is no route and no file at the path `{shown_path}`."),
    }
}

fn query_has_version(query: Option<&str>) -> bool {
    query.unwrap_or("").split('&').any(|pair| pair.strip_prefix("v=").is_some_and(|hash| !hash.is_empty()))
}

async fn serve(
    state: &AppState,
    path: &str,
    has_version: bool,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let folder = state.config.web_dir.as_deref().filter(|dir| dir.join("index.html").is_file());
    let Some(folder) = folder else {
        return match path {
            "/" | "/index.html" => Ok((StatusCode::NOT_FOUND, Html(NO_PAGE)).into_response()),
            _ => Err(no_such_path_error(path)),
        };
    };
    let relative = if path == "/" { "/index.html" } else { path };
    let file = state.page_files.read(folder, relative).await?.ok_or_else(|| no_such_path_error(path))?;
    let cache_control = if has_version { "public, max-age=31536000, immutable" } else { "no-cache" };
    let common = [
        (header::ETAG, HeaderValue::from_str(&file.etag).map_err(ApiError::internal)?),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache_control)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    if etag::matches_if_none_match(headers, &file.etag) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type))];
    if let Some(brotli) = file.brotli.clone().filter(|_| compression::accepts("br", headers)) {
        let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("br"))];
        return Ok((common, kind, encoding, Body::from(brotli)).into_response());
    }
    Ok((common, kind, Body::from(file.bytes.clone())).into_response())
}

#[cfg(test)]
mod tests;

//! Refuses cross-origin requests, unless the settings allow their origin (`SF_CORS_ORIGINS`).
//!
//! An allowed origin may call the API with a token in the `Authorization` header. The service never
//! allows credentials such as cookies (it has none), and trusts local callers only on its own page.
//! So each cross-origin request needs a token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

/// Methods that browsers may use across origins. Routes may still refuse them.
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// Answer headers that scripts may read, in addition to those that are always readable.
const EXPOSED_HEADERS: &str = "etag, location, retry-after, www-authenticate, content-disposition, content-range, \
     accept-ranges, x-request-id, tus-resumable, tus-version, tus-extension, tus-max-size, upload-offset, \
     upload-length, upload-expires, x-soundfont-id, x-soundfont-fallback, x-soundfont-missing-presets";

/// Time for which a browser may cache the answer to a preflight request, in seconds.
const MAX_AGE_SECS: &str = "600";

/// Middleware that answers preflight requests, and lets allowed origins read answers.
pub(crate) async fn allow_origins(
    State(origins): State<Arc<[String]>>,
    request: Request,
    next: Next,
) -> Response {
    if origins.is_empty() || !request.uri().path().starts_with("/api/") {
        return next.run(request).await;
    }
    let mut response = match allowed(&origins, request.headers()) {
        Some(origin) => answer(origin, request, next).await,
        None => next.run(request).await,
    };
    // Refusals depend on the origin too, so a cache must not send a refusal to an allowed origin.
    response.headers_mut().append(header::VARY, HeaderValue::from_static("origin"));
    response
}

/// Returns the answer for an allowed origin.
async fn answer(origin: HeaderValue, request: Request, next: Next) -> Response {
    let is_preflight = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let requested_headers = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let mut response = match is_preflight {
        true => StatusCode::NO_CONTENT.into_response(),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    if is_preflight {
        set_header(headers, header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        set_header(headers, header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECS);
        if let Some(requested_names) = requested_headers {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested_names);
        }
    } else {
        set_header(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    response
}

fn set_header(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}

/// Returns the request's origin, if the settings allow it.
fn allowed(origins: &[String], headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    origins
        .iter()
        .any(|allowed_origin| allowed_origin.as_bytes() == origin.as_bytes())
        .then(|| origin.clone())
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use serde_json::json;

    use crate::test_app::{Answer, TestApp};

    const ORIGIN: &str = "https://studio.example";
    const PATH: &str = "/api/v1/projects";

    async fn preflight(app: &TestApp, path: &str, origin: &str) -> Answer {
        let call = app.remote(Method::OPTIONS, path).header("origin", origin);
        let call = call.header("access-control-request-method", "PUT");
        call.header("access-control-request-headers", "authorization,if-match").send().await
    }

    #[tokio::test]
    async fn other_origins_are_refused() {
        let app = TestApp::start().await;
        let answer = preflight(&app, PATH, ORIGIN).await;
        assert_eq!((answer.status.as_u16(), answer.header("access-control-allow-origin")), (405, ""));
        let token = app.admin_token().await;
        let answer = app.remote(Method::GET, PATH).token(&token).header("origin", ORIGIN).send().await;
        answer.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }

    #[tokio::test]
    async fn an_allowed_origin_needs_a_token() {
        let app = TestApp::with(&[("SF_CORS_ORIGINS", ORIGIN)]).await;
        let answer = preflight(&app, PATH, ORIGIN).await;
        assert_eq!(answer.status.as_u16(), 204);
        assert_eq!(answer.header("access-control-allow-origin"), ORIGIN);
        assert!(answer.header("access-control-allow-methods").contains("PUT"));
        assert_eq!(answer.header("access-control-allow-headers"), "authorization,if-match");
        assert_eq!(answer.header("access-control-allow-credentials"), "");

        let token = app.admin_token().await;
        let body = json!({ "name": "From elsewhere", "tracks": [] });
        let call = app.remote(Method::POST, PATH).token(&token).header("origin", ORIGIN);
        let answer = call.json(&body).send().await;
        answer.expect(201);
        assert_eq!(answer.header("access-control-allow-origin"), ORIGIN);
        let readable = answer.header("access-control-expose-headers");
        for name in ["etag", "x-soundfont-id", "x-soundfont-fallback", "x-soundfont-missing-presets"] {
            assert!(readable.split(", ").any(|readable_name| readable_name == name), "{name}: {readable}");
        }
        let varies: Vec<_> = answer.headers.get_all("vary").iter().collect();
        assert!(varies.iter().any(|value| *value == "origin"), "{varies:?}");
        // A local caller on a page of that site is not trusted.
        let answer = app.local(Method::GET, PATH).header("origin", ORIGIN).send().await;
        answer.problem(401, "token_missing");
        // Scripts of the site can read refusals too.
        assert_eq!(answer.header("access-control-allow-origin"), ORIGIN);
    }

    #[tokio::test]
    async fn origins_must_match_exactly_and_only_the_api_is_open() {
        let app = TestApp::with(&[("SF_CORS_ORIGINS", ORIGIN)]).await;
        for origin in
            ["https://studio.example.evil", "http://studio.example", "https://Studio.example", "null"]
        {
            let answer = preflight(&app, PATH, origin).await;
            assert_eq!(answer.header("access-control-allow-origin"), "", "{origin}");
            assert!(answer.header("vary").contains("origin"), "{origin}");
        }
        assert_eq!(preflight(&app, "/index.html", ORIGIN).await.header("access-control-allow-origin"), "");
    }

    #[tokio::test]
    async fn the_options_request_of_the_upload_protocol_is_answered() {
        let app = TestApp::with(&[("SF_CORS_ORIGINS", ORIGIN)]).await;
        let token = app.admin_token().await;
        let call = app.remote(Method::OPTIONS, "/api/v1/audio/uploads").token(&token);
        let answer = call.header("origin", ORIGIN).send().await;
        assert_eq!((answer.status.as_u16(), answer.header("tus-resumable")), (204, "1.0.0"));
        assert_eq!(answer.header("access-control-allow-origin"), ORIGIN);
    }
}

//! One log line for each request.
//!
//! The path is logged and the query is not: a token may stand there.

use std::net::SocketAddr;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Middleware: runs the request inside a span, and logs its outcome.
pub(crate) async fn log(request: Request, next: Next) -> Response {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip());
    let span = tracing::info_span!(
        "request",
        id,
        method = %request.method(),
        path = request.uri().path(),
        peer = peer.map(tracing::field::display),
    );
    async move {
        let begun = Instant::now();
        let mut response = next.run(request).await;
        let millis = begun.elapsed().as_secs_f64() * 1000.0;
        let status = response.status().as_u16();
        if status >= 500 {
            tracing::warn!(status, millis, "answered");
        } else {
            tracing::debug!(status, millis, "answered");
        }
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID.clone(), value);
        }
        response
    }
    .instrument(span)
    .await
}

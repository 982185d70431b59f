//! Writes one log line for each request, with its path but without its query, which may contain a
//! token.

use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

use crate::client_address::client_address;
use crate::peer::peer_of;
use crate::state::AppState;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Middleware: runs the request in a span and logs its outcome. `client` is the address of the
/// peer, or the one that a proxy of `SF_TRUSTED_PROXIES` reports.
pub(crate) async fn log(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let trusted_proxies = &state.config.network.trusted_proxies;
    let peer = peer_of(request.extensions());
    let client = peer.map(|peer| client_address(peer, request.headers(), trusted_proxies));
    let span = tracing::info_span!(
        "request",
        id,
        method = %request.method(),
        path = request.uri().path(),
        client = client.map(tracing::field::display),
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

//! Writes one log line for each request. The line has the path of the request but not its query,
//! because the query may contain a token.

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

/// Middleware that runs the request in a tracing span and logs its outcome. `client` is the address
/// of the connection's peer or, behind a proxy of `SF_TRUSTED_PROXIES`, the address that the proxy
/// reports.
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
        let started_at = Instant::now();
        let mut response = next.run(request).await;
        let millis = started_at.elapsed().as_secs_f64() * 1000.0;
        let status = response.status().as_u16();
        if status >= 500 {
            tracing::warn!(status, millis, "answered a request with a server error");
        } else {
            tracing::debug!(status, millis, "answered a request");
        }
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID.clone(), value);
        }
        response
    }
    .instrument(span)
    .await
}

//! Limits the rate of requests, per log-in, or per address for requests without a log-in.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::user::claims_of;
use crate::client_address::Client;
use crate::error::DatabaseBusy;
use crate::peer::connection_of;
use crate::rate_limits::is_limited;
use crate::state::AppState;

/// Middleware that refuses requests above the rate limit or the limit of active requests.
pub(crate) async fn limit_addresses(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let Some(peer) = connection_of(request.extensions()).filter(|_| is_limited(request.uri().path())) else {
        return next.run(request).await;
    };
    let (parts, body) = request.into_parts();
    let mut active_request = None;
    let peer_address = peer.ip().to_canonical();
    if state.local_rule.check(peer_address, &parts).is_err() {
        let session = claims_of(&parts.headers, &state.tokens);
        let client = Client::from_peer(peer, &parts.headers, &state.config.network.trusted_proxies);
        let admission = match session {
            Some(claims) => state.active_requests.begin_for_account(&claims.sub).and_then(|request| {
                active_request = Some(request);
                state.rate_limits.admit_session(claims.session_id())
            }),
            None => state.active_requests.begin_for_address(&client).and_then(|request| {
                active_request = Some(request);
                state.rate_limits.admit_address(client.address, parts.uri.path())
            }),
        };
        if let Err(refusal) = admission {
            return refusal.into_response();
        }
    }
    let Some(active_request) = active_request else {
        return next.run(Request::from_parts(parts, body)).await;
    };
    let request = Request::from_parts(parts, active_request.watch_body(body));
    match active_request.run(next.run(request)).await {
        Ok(response) => {
            if response.extensions().get::<DatabaseBusy>().is_some() {
                active_request.record_busy_database();
            }
            active_request.until_sent(response)
        }
        Err(refusal) => refusal.into_response(),
    }
}

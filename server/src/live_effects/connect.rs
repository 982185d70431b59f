//! The handshake of a WebSocket: checks its origin and its caller.

use std::sync::Arc;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use super::connection::{self, CLOSE_TRY_AGAIN};
use crate::auth::{access_ended, of_handshake};
use crate::error::{ApiError, ApiResult};
use crate::listen::Https;
use crate::state::AppState;

/// The protocol that the service selects.
const PROTOCOL: &str = "songfoundry.v1";

/// Maximum size of a message in bytes.
const MESSAGE_MAX_BYTES: usize = 256 * 1024;

/// Close code for a caller without valid credentials.
const CLOSE_UNAUTHORIZED: u16 = 4401;

/// Opens a WebSocket that processes blocks of audio with a chain of effects in real time. A local
/// caller needs no token. Others send their token as the protocol `bearer.<token>`, beside
/// `songfoundry.v1`, or as `token`. Without a valid one, the WebSocket is closed with the code 4401.
#[utoipa::path(get, path = "/plugins/ws/fx-realtime", tag = "plugins", security(()),
    params(("token" = Option<String>, Query, description = "Token or API key of the caller")),
    responses((status = 101, description = "The WebSocket is open"),
        (status = 400, description = "`not_a_websocket`: the request is no handshake of a WebSocket"),
        (status = 403, description = "`foreign_origin`: a page of another site opened the WebSocket")))]
pub(super) async fn connect(
    State(state): State<AppState>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    request: Request,
) -> ApiResult<Response> {
    let upgrade = upgrade.map_err(|rejection| ApiError::BadRequest {
        code: "not_a_websocket",
        detail: format!("This path is a WebSocket: {rejection}."),
    })?;
    let (mut parts, _) = request.into_parts();
    let is_https = parts.extensions.get::<Https>().is_some();
    if !is_allowed_origin(&parts.headers, is_https, &state.config.network.cors_origins) {
        return Err(ApiError::Forbidden {
            code: "foreign_origin",
            detail: "Only pages of this service and of SF_CORS_ORIGINS may open this WebSocket.".to_owned(),
        });
    }
    let upgrade =
        upgrade.protocols([PROTOCOL]).max_message_size(MESSAGE_MAX_BYTES).max_frame_size(MESSAGE_MAX_BYTES);
    let user = match of_handshake(&mut parts, &state).await {
        Ok(user) => user,
        Err(error @ (ApiError::Unauthorized { .. } | ApiError::Forbidden { .. })) => {
            return Ok(refuse(upgrade, CLOSE_UNAUTHORIZED, error.to_string()));
        }
        Err(error) => return Err(error),
    };
    Ok(match state.live_effects.open_streams.open(&user.id) {
        Ok(open_stream) => {
            let access_ended = access_ended(&parts.headers, &state);
            upgrade.on_upgrade(async move |socket| {
                let runtime_state = state.clone();
                state.live_effects.runtime.spawn(async move {
                    connection::run(socket, &runtime_state, Arc::new(user), access_ended).await;
                    drop(open_stream);
                });
            })
        }
        Err(reason) => refuse(upgrade, CLOSE_TRY_AGAIN, reason),
    })
}

/// Opens the WebSocket only to close it with a code and a reason, which browsers do not show for a
/// refused handshake.
fn refuse(upgrade: WebSocketUpgrade, code: u16, reason: String) -> Response {
    upgrade.on_upgrade(async move |mut socket| {
        // A client that has gone needs no reason.
        drop(
            socket
                .send(Message::Close(Some(CloseFrame { code, reason: connection::shortened(reason) })))
                .await,
        );
    })
}

/// Whether a handshake comes from a page of this service or of an allowed origin, or from a program
/// that is no browser.
fn is_allowed_origin(headers: &HeaderMap, is_https: bool, allowed_origins: &[String]) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return true };
    let Some(host) = headers.get(header::HOST).map(HeaderValue::as_bytes) else { return false };
    let scheme = if is_https { "https://" } else { "http://" };
    let is_own = origin.as_bytes().strip_prefix(scheme.as_bytes()) == Some(host);
    // A proxy may serve the page by HTTPS although this service does not.
    let is_own_behind_proxy = origin.as_bytes().strip_prefix(b"https://") == Some(host);
    let is_configured = allowed_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes());
    origins.next().is_none() && (is_own || is_own_behind_proxy || is_configured)
}

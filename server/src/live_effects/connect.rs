//! The handshake of a WebSocket: checks its origin and its caller.

use std::sync::Arc;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::response::Response;

use super::connection::{self, CLOSE_TRY_AGAIN};
use crate::auth::{access_ended, check_origin, of_handshake};
use crate::error::{ApiError, ApiResult};
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
    check_origin(&parts, &state.config.network.cors_origins)?;
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
                    let user = Arc::new(user);
                    connection::run(socket, &runtime_state, user, &open_stream, access_ended).await;
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

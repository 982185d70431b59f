//! The WebSocket of a window: passes the messages of the owner and of the window's server on.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, copy, split};
use tokio::time::timeout;

use super::connection::send;
use crate::auth::{access_ended, check_origin, of_handshake};
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Path;
use crate::state::AppState;

/// The protocol that the service selects, if the client offers it.
const PROTOCOL: &str = "songfoundry.v1";

/// How long a client may take to close the connection after the end of the server's messages.
pub(super) const CLOSE_MAX: Duration = Duration::from_secs(2);

/// Opens a WebSocket to a window. It sends changed parts of the picture as binary messages, and
/// parameters that the user changes in the window as text; the client sends input and new values.
/// Pages, which cannot set headers of WebSockets, send their token as the protocol
/// `bearer.<token>`, beside `songfoundry.v1`, or as `token`.
#[utoipa::path(get, path = "/plugins/fx-gui/{window_id}/live", tag = "plugins",
    params(("window_id" = String, Path, description = "Id of the window"),
        ("token" = Option<String>, Query, description = "Token or API key of the caller")),
    responses((status = 101, description = "The WebSocket is open"),
        (status = 400, description = "`not_a_websocket`: the request is no handshake of a WebSocket", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "`foreign_origin`: a page of another site opened the WebSocket", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`too_many_streams`", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`window_ended`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn connect(
    State(state): State<AppState>,
    Path(window_id): Path<String>,
    request: Request,
) -> ApiResult<Response> {
    let (mut parts, _) = request.into_parts();
    check_origin(&parts, &state.config.network.cors_origins)?;
    let user = of_handshake(&mut parts, &state).await?;
    let key = parts.headers.get(header::SEC_WEBSOCKET_KEY).cloned();
    let (Some(key), Some(upgrade)) = (key, parts.extensions.remove::<OnUpgrade>()) else {
        let detail = "This path is a WebSocket, over HTTP/1.1.".to_owned();
        return Err(ApiError::BadRequest { code: "not_a_websocket", detail });
    };
    let window = state.plugin_windows.find(&user.id, &window_id)?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(header::SEC_WEBSOCKET_KEY, key);
    let answer = send(&window, Method::GET, "/live", headers, Bytes::new()).await?;
    let accept = answer.headers().get(header::SEC_WEBSOCKET_ACCEPT).cloned();
    let accept =
        accept.ok_or_else(|| ApiError::internal(anyhow::anyhow!("the window opened no WebSocket")))?;
    let has_protocol = offers_protocol(&parts.headers);
    let access_ended = access_ended(&parts.headers, &state);
    tokio::spawn(async move {
        let client = window.add_client();
        let copying = async {
            let (Ok(outer), Ok(inner)) = tokio::join!(upgrade, hyper::upgrade::on(answer)) else { return };
            pass_on(TokioIo::new(outer), TokioIo::new(inner), CLOSE_MAX).await;
        };
        tokio::select! {
            () = copying => {}
            () = access_ended => {}
            () = window.ended.cancelled() => {}
            () = state.stop.cancelled() => {}
        }
        drop(client);
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if has_protocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    Ok(response)
}

/// Whether a client offers [`PROTOCOL`]. A client ends a WebSocket whose protocol it did not offer.
fn offers_protocol(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|protocol| protocol.trim() == PROTOCOL)
}

/// Passes bytes on in both directions until one of the ends has gone. A client that is out of reach
/// does not close its connection, so that is waited for only for `close_max`.
pub(super) async fn pass_on(
    client: impl AsyncRead + AsyncWrite,
    server: impl AsyncRead + AsyncWrite,
    close_max: Duration,
) {
    let (mut from_client, mut to_client) = split(client);
    let (mut from_server, mut to_server) = split(server);
    let mut receiving = std::pin::pin!(copy(&mut from_client, &mut to_server));
    tokio::select! {
        // Errors mean that one of them has gone.
        _ = &mut receiving => {}
        _ = copy(&mut from_server, &mut to_client) => {
            let closing = async {
                let _ = to_client.shutdown().await;
                let _ = receiving.await;
            };
            let _ = timeout(close_max, closing).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[test]
    fn only_an_offered_protocol_is_selected() {
        for (lists, expected) in [
            (vec!["songfoundry.v1, bearer.x"], true),
            (vec!["bearer.x", "songfoundry.v1"], true),
            (vec!["bearer.songfoundry.v1"], false),
            (vec![], false),
        ] {
            let mut headers = HeaderMap::new();
            for list in &lists {
                headers.append(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(list));
            }
            assert_eq!(offers_protocol(&headers), expected, "{lists:?}");
        }
    }

    #[tokio::test]
    async fn the_end_of_one_side_ends_the_other_although_it_stays_silent() {
        for ends_server in [true, false] {
            let (mut client, outer) = tokio::io::duplex(64);
            let (mut server, inner) = tokio::io::duplex(64);
            let passing = tokio::spawn(pass_on(outer, inner, Duration::ZERO));
            client.write_all(b"input").await.expect("sends");
            server.write_all(b"picture").await.expect("sends");
            let (mut input, mut picture) = ([0; 5], [0; 7]);
            server.read_exact(&mut input).await.expect("receives");
            client.read_exact(&mut picture).await.expect("receives");
            assert_eq!((&input, &picture), (b"input", b"picture"));
            let mut silent = if ends_server {
                server.write_all(b"end").await.expect("sends");
                drop(server);
                client
            } else {
                drop(client);
                server
            };
            passing.await.expect("ends");
            let mut rest = Vec::new();
            silent.read_to_end(&mut rest).await.expect("receives");
            assert_eq!(rest, if ends_server { b"end".as_slice() } else { b"" });
        }
    }
}

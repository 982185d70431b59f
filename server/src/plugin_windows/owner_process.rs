//! Windows that another process of the installation shows: finds that process, and passes requests
//! on to it.
//!
//! A process with `SF_NODE_ADDRESS` has a lease in the database for each of its windows. The holder
//! of the lease is the address. A process that gets a request for a window of another one checks
//! the caller, and then passes the request on as it came, so the other process checks the same
//! credentials.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::WINDOWS_PATH;
use super::connection::ended;
use super::live::{CLOSE_MAX, pass_on};
use super::open_windows::Window;
use crate::auth::{CurrentUser, access_ended, check_origin, of_handshake};
use crate::db::{delete_ended_leases, delete_lease, lease_holder, take_lease};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Start of the names of leases. The id of the window follows.
const LEASES: &str = "plugin-window/";

/// Duration of a lease, and time after which it is extended.
const LEASE: Duration = Duration::from_secs(60);
const EXTEND_AFTER: Duration = Duration::from_secs(20);

/// Header of a request that a process has passed on. It is not passed on again.
const PASSED_ON: HeaderName = HeaderName::from_static("x-songfoundry-passed-on");

/// How long the other process may take for the head of its answer.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// Headers about one connection (RFC 9110, section 7.6.1), and those of proxies, which could make
/// a caller look like one of the other process's machine.
const DROPPED_HEADERS: [HeaderName; 10] = [
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::FORWARDED,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-forwarded-host"),
];

/// Tells other processes that this one has a window, until the window ends.
///
/// # Errors
/// If a query fails.
pub(super) async fn announce(state: &AppState, window: &Window) -> ApiResult<()> {
    let Some(address) = &state.config.network.node_address else { return Ok(()) };
    let name = format!("{LEASES}{}", window.id);
    delete_ended_leases(&state.db, LEASES).await?;
    take_lease(&state.db, &name, address, LEASE).await?;
    let (state, ended) = (state.clone(), window.ended.clone());
    let address = address.clone();
    tokio::spawn(async move {
        while tokio::time::timeout(EXTEND_AFTER, ended.cancelled()).await.is_err() {
            if let Err(error) = take_lease(&state.db, &name, &address, LEASE).await {
                tracing::warn!(%error, "cannot extend the lease of a window");
            }
        }
        if let Err(error) = delete_lease(&state.db, &name).await {
            tracing::warn!(%error, "cannot delete the lease of a window");
        }
    });
    Ok(())
}

/// Returns the address of the other process that shows a window; `None` if this process must
/// answer.
async fn find_owner(state: &AppState, headers: &HeaderMap, window_id: &str) -> ApiResult<Option<String>> {
    if headers.contains_key(PASSED_ON) || state.plugin_windows.knows(window_id) {
        return Ok(None);
    }
    let holder = lease_holder(&state.db, &format!("{LEASES}{window_id}")).await?;
    Ok(holder.filter(|holder| Some(holder) != state.config.network.node_address.as_ref()))
}

/// Returns the id of a window in a path below it.
fn window_id_of(path: &str) -> Option<&str> {
    let (window_id, _) = path.strip_prefix(WINDOWS_PATH)?.strip_prefix('/')?.split_once('/')?;
    Some(window_id)
}

/// Middleware of the paths with the id of a window: passes requests for windows of other processes
/// on.
pub(crate) async fn pass_to_owner(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let owner = match window_id_of(request.uri().path()) {
        Some(id) => find_owner(&state, request.headers(), id).await,
        None => Ok(None),
    };
    match owner {
        Ok(None) => next.run(request).await,
        Ok(Some(address)) => {
            pass_request(&state, &address, request).await.unwrap_or_else(ApiError::into_response)
        }
        Err(error) => error.into_response(),
    }
}

/// Passes a request on that has the id of a window in its body. `path` is below [`WINDOWS_PATH`].
/// Returns `None` if this process must answer.
pub(super) async fn pass_body(
    state: &AppState,
    window_id: &str,
    path: &str,
    mut parts: Parts,
    body: String,
) -> ApiResult<Option<Response>> {
    let Some(address) = find_owner(state, &parts.headers, window_id).await? else { return Ok(None) };
    // Handlers see the path without the prefix of the API.
    parts.uri = format!("{WINDOWS_PATH}/{path}").parse().map_err(ApiError::internal)?;
    parts.headers.remove(header::CONTENT_LENGTH);
    let request = Request::from_parts(parts, Body::from(body));
    let answer = exchange(&address, request, false).await?;
    Ok(Some(without_connection(answer).map(Body::new)))
}

/// Checks the caller and passes a request on.
async fn pass_request(state: &AppState, address: &str, request: Request) -> ApiResult<Response> {
    let (mut parts, body) = request.into_parts();
    let sent_headers = parts.headers.clone();
    let upgrade = parts.extensions.remove::<OnUpgrade>();
    let is_handshake = sent_headers.contains_key(header::SEC_WEBSOCKET_KEY) && upgrade.is_some();
    if is_handshake {
        check_origin(&parts, &state.config.network.cors_origins)?;
        of_handshake(&mut parts, state).await?;
    } else {
        CurrentUser::from_request_parts(&mut parts, state).await?;
    }
    let ended = access_ended(&parts.headers, state);
    parts.headers = sent_headers;
    let answer = exchange(address, Request::from_parts(parts, body), is_handshake).await?;
    let (true, Some(upgrade), StatusCode::SWITCHING_PROTOCOLS) = (is_handshake, upgrade, answer.status())
    else {
        return Ok(without_connection(answer).map(Body::new));
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    *response.headers_mut() = answer.headers().clone();
    let stop = state.stop.clone();
    tokio::spawn(async move {
        let copying = async {
            let (Ok(outer), Ok(inner)) = tokio::join!(upgrade, hyper::upgrade::on(answer)) else { return };
            pass_on(TokioIo::new(outer), TokioIo::new(inner), CLOSE_MAX).await;
        };
        tokio::select! {
            () = copying => {}
            () = ended => {}
            () = stop.cancelled() => {}
        }
    });
    Ok(response)
}

/// Sends a request to another process. Returns its answer.
///
/// # Errors
/// 502 `window_ended` if the process cannot be reached or does not answer in time.
async fn exchange(address: &str, request: Request, is_handshake: bool) -> ApiResult<Response<Incoming>> {
    let failed = |error: &dyn std::fmt::Display| {
        ended(&format!("the process of the service that shows it cannot be reached ({error})"))
    };
    let (mut parts, body) = request.into_parts();
    let host = parts.uri.authority().map(|authority| authority.as_str().to_owned());
    for name in DROPPED_HEADERS {
        parts.headers.remove(name);
    }
    parts.headers.insert(PASSED_ON, HeaderValue::from_static("1"));
    if is_handshake {
        parts.headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        parts.headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    // HTTP/2 has the host in the URI.
    if let Some(host) = host.and_then(|host| HeaderValue::try_from(host).ok()) {
        parts.headers.entry(header::HOST).or_insert(host);
    }
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse().map_err(ApiError::internal)?;
    parts.version = Version::HTTP_11;
    let answering = async {
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| failed(&error))?;
        // The connection ends with the answer, or with the other process.
        tokio::spawn(connection.with_upgrades());
        sender.send_request(Request::from_parts(parts, body)).await.map_err(|error| failed(&error))
    };
    let answer = tokio::time::timeout(ANSWER_MAX, answering).await;
    answer.map_err(|_| failed(&format!("no answer within {} seconds", ANSWER_MAX.as_secs())))?
}

/// Removes the headers about the connection between the processes.
fn without_connection<B>(mut answer: Response<B>) -> Response<B> {
    for name in DROPPED_HEADERS {
        answer.headers_mut().remove(name);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_a_window_have_its_id() {
        for (path, expected) in [
            ("/api/v1/plugins/fx-gui/1-2/frame", Some("1-2")),
            ("/api/v1/plugins/fx-gui/1-2/live", Some("1-2")),
            ("/api/v1/plugins/fx-gui/close", None),
            ("/api/v1/plugins/open-fx-gui", None),
            ("/api/v1/plugins/fx-guis/1/frame", None),
        ] {
            assert_eq!(window_id_of(path), expected, "{path}");
        }
    }
}

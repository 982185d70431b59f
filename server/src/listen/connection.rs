//! Serves one connection over HTTP/1 or HTTP/2, with or without TLS.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, Version, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tower::ServiceExt as _;

use super::activity::{Activity, ConnectionState};
use super::departure::PendingRequest;
use super::shared_stream::SharedStream;
use super::stall_guard::StallGuard;
use super::{Https, Shared, redirect};
use crate::error::ApiError;

/// Time limit of a TLS handshake.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Size of a connection's buffer for the head of a request and for parts of bodies, in bytes.
const HTTP1_BUFFER_MAX_BYTES: usize = 64 * 1024;

/// Maximum number of concurrent requests of an HTTP/2 connection.
const STREAMS_MAX: u32 = 64;

/// Receive window of an HTTP/2 connection and of each of its streams, in bytes.
const HTTP2_WINDOW_BYTES: u32 = 1024 * 1024;

/// Maximum number of unsent bytes of an HTTP/2 answer, besides the last chunk of a file.
const HTTP2_SEND_MAX_BYTES: usize = 64 * 1024;

/// Maximum size of the headers of an HTTP/2 request, in bytes (RFC 9113, section 6.5.2).
const HTTP2_HEADERS_MAX_BYTES: u32 = 32 * 1024;

/// How long, and how many bytes, a connection is read after an answer that did not need the whole
/// body. Without this, the connection would be reset while the client still sends, and a proxy
/// would answer 502 instead of passing on the answer (RFC 9112, section 9.6).
const UNREAD_BODY_WITHIN: Duration = Duration::from_secs(5);
const UNREAD_BODY_MAX_BYTES: usize = 256 * 1024 * 1024;

/// First byte of a TLS handshake (RFC 8446, section 5.1). No HTTP request begins with it.
const TLS_HANDSHAKE: u8 = 22;

/// Serves a connection until it ends, is idle for too long, or the service stops.
pub(super) async fn run(shared: Shared, stream: TcpStream, peer: SocketAddr, activity: Arc<Activity>) {
    let Some(acceptor) = shared.tls.clone() else {
        let stream = SharedStream::new(stream);
        let io = TokioIo::new(StallGuard::new(stream.clone(), shared.idle_max));
        return over_http1(&shared, io, &stream, Client { peer, is_encrypted: false, activity }).await;
    };
    let handshake = handshake(acceptor, stream, shared.idle_max);
    let outcome = tokio::select! {
        () = shared.stop.cancelled() => return,
        outcome = tokio::time::timeout(HANDSHAKE_WITHIN, handshake) => outcome,
    };
    match outcome {
        Ok(Ok(Handshake::Encrypted(encrypted, stream))) => {
            let is_http2 = encrypted.get_ref().1.alpn_protocol() == Some(b"h2");
            let io = TokioIo::new(*encrypted);
            if is_http2 {
                over_http2(&shared, io, peer, activity).await;
            } else {
                over_http1(&shared, io, &stream, Client { peer, is_encrypted: true, activity }).await;
            }
        }
        Ok(Ok(Handshake::Plain(stream))) => redirect::serve(stream, shared.idle_max).await,
        // Typical causes are scanners, and browsers that do not trust the certificate.
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
        Err(_) => {
            let limit_secs = HANDSHAKE_WITHIN.as_secs();
            tracing::debug!(%peer, limit_secs, "a TLS handshake took too long");
        }
    }
}

/// The result of a handshake on the HTTPS port.
enum Handshake {
    Encrypted(Box<TlsStream<StallGuard<SharedStream>>>, SharedStream),
    /// The client uses HTTP without TLS.
    Plain(TcpStream),
}

async fn handshake(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    idle_max: Duration,
) -> std::io::Result<Handshake> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first[0] != TLS_HANDSHAKE {
        return Ok(Handshake::Plain(stream));
    }
    let stream = SharedStream::new(stream);
    let encrypted = acceptor.accept(StallGuard::new(stream.clone(), idle_max)).await?;
    Ok(Handshake::Encrypted(Box::new(encrypted), stream))
}

/// The client of an HTTP/1 connection.
struct Client {
    peer: SocketAddr,
    is_encrypted: bool,
    activity: Arc<Activity>,
}

async fn over_http1<Io>(shared: &Shared, io: TokioIo<Io>, stream: &SharedStream, client: Client)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Client { peer, is_encrypted, activity } = client;
    let (pending, requests) = (PendingRequest::new(), AtomicU64::new(0));
    let service = service_fn(|request| {
        let number = requests.fetch_add(1, Ordering::Relaxed) + 1;
        let (request, exchange) = activity.begin(prepared(request, peer, is_encrypted));
        let request = pending.watch(request, number);
        async {
            let answer = answer(shared, request).await;
            pending.end();
            answer.map(|answer| exchange.watch(answer))
        }
    });
    let mut builder = http1::Builder::new();
    // The time limit for request heads also applies between requests, so it also ends idle
    // connections.
    builder.timer(TokioTimer::new()).header_read_timeout(shared.idle_max);
    builder.max_buf_size(HTTP1_BUFFER_MAX_BYTES);
    let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
    let serving = async {
        tokio::select! {
            outcome = connection.as_mut() => outcome,
            () = shared.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    let closing = async {
        log_outcome(peer, serving.await);
        if pending.has_unread_body() {
            tokio::select! {
                _ = tokio::time::timeout(UNREAD_BODY_WITHIN, stream.discard(UNREAD_BODY_MAX_BYTES)) => {}
                () = shared.stop.cancelled() => {}
            }
        }
    };
    tokio::select! {
        () = closing => {}
        () = pending.client_disconnected(stream) => tracing::debug!(%peer, "a client disconnected, or sent more bytes while its request was waiting"),
    }
}

async fn over_http2<Io>(shared: &Shared, io: TokioIo<Io>, peer: SocketAddr, activity: Arc<Activity>)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(|request| {
        let (request, exchange) = activity.begin(prepared(request, peer, true));
        let shared = shared.clone();
        async move { answer(&shared, request).await.map(|answer| exchange.watch(answer)) }
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .max_send_buf_size(HTTP2_SEND_MAX_BYTES)
        .max_header_list_size(HTTP2_HEADERS_MAX_BYTES)
        // This ends connections whose peer no longer answers.
        .keep_alive_interval(shared.idle_max)
        .keep_alive_timeout(shared.idle_max);
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut is_ending = false;
    let outcome = loop {
        let remaining = shared.idle_max.saturating_sub(activity.idle_time());
        tokio::select! {
            outcome = connection.as_mut() => break outcome,
            () = shared.stop.cancelled(), if !is_ending => {}
            () = tokio::time::sleep(remaining) => {
                if activity.idle_time() < shared.idle_max {
                    continue;
                }
                match activity.state() {
                    ConnectionState::Stalled => {
                        return tracing::debug!(%peer, "a client stopped reading an answer");
                    }
                    ConnectionState::Unused => {
                        return tracing::debug!(%peer, "a connection without a request was closed");
                    }
                    ConnectionState::Idle if is_ending => {
                        return tracing::debug!(%peer, "an idle connection was closed");
                    }
                    ConnectionState::Idle | ConnectionState::Working => activity.record(),
                }
            }
        }
        if !is_ending {
            is_ending = true;
            // Active requests are still served to their end.
            connection.as_mut().graceful_shutdown();
        }
    };
    log_outcome(peer, outcome);
}

/// Logs a broken connection at the level `debug`, because it is not an error of the service.
fn log_outcome(peer: SocketAddr, outcome: hyper::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

/// Returns the request with the extensions and headers that the router expects.
fn prepared(request: hyper::Request<Incoming>, peer: SocketAddr, is_encrypted: bool) -> Request {
    let mut request: Request = request.map(Body::new);
    set_host(&mut request);
    request.extensions_mut().insert(ConnectInfo(peer));
    if is_encrypted {
        request.extensions_mut().insert(Https);
    }
    request
}

/// Passes a request to the router. Refuses an HTTP/1.1 request unless it has a single `Host`
/// (RFC 9112, section 3.2).
async fn answer(shared: &Shared, request: Request) -> Result<Response, Infallible> {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    if request.version() == Version::HTTP_11 && hosts != 1 {
        let detail = format!("A request over HTTP/1.1 must have one `Host` header; this one has {hosts}.");
        return Ok(ApiError::bad_request("bad_host", detail).into_response());
    }
    shared.router.clone().oneshot(request).await
}

/// Sets `Host` to the `:authority` of HTTP/2 (RFC 9113, section 8.3.1), because the router reads
/// `Host`.
fn set_host(request: &mut Request) {
    if request.version() != Version::HTTP_2 || request.headers().contains_key(header::HOST) {
        return;
    }
    let host = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().insert(header::HOST, host);
    }
}

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
use super::{Https, ServerContext, redirect};
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

/// Maximum time for which, and number of bytes that, a connection is read after an answer that did
/// not need the whole body. Otherwise the connection would be reset while the client is still
/// sending, and a proxy would answer 502 (RFC 9112, section 9.6).
const UNREAD_BODY_WITHIN: Duration = Duration::from_secs(5);
const UNREAD_BODY_MAX_BYTES: usize = 256 * 1024 * 1024;

/// First byte of a TLS handshake (RFC 8446, section 5.1). No HTTP request begins with it.
const TLS_HANDSHAKE: u8 = 22;

/// Serves a connection until it ends, is idle for too long, or the service stops.
pub(super) async fn run(
    server_context: ServerContext,
    stream: TcpStream,
    peer: SocketAddr,
    activity: Arc<Activity>,
) {
    let Some(acceptor) = server_context.tls.clone() else {
        let stream = SharedStream::new(stream);
        let io = TokioIo::new(StallGuard::new(stream.clone(), server_context.idle_max));
        return over_http1(&server_context, io, &stream, Client { peer, is_encrypted: false, activity })
            .await;
    };
    let handshake = complete_handshake(acceptor, stream, server_context.idle_max);
    let outcome = tokio::select! {
        () = server_context.stop.cancelled() => return,
        outcome = tokio::time::timeout(HANDSHAKE_WITHIN, handshake) => outcome,
    };
    match outcome {
        Ok(Ok(Handshake::Encrypted(encrypted_stream, stream))) => {
            let is_http2 = encrypted_stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let io = TokioIo::new(*encrypted_stream);
            if is_http2 {
                over_http2(&server_context, io, peer, activity).await;
            } else {
                over_http1(&server_context, io, &stream, Client { peer, is_encrypted: true, activity }).await;
            }
        }
        Ok(Ok(Handshake::Plain(stream))) => redirect::serve(stream, server_context.idle_max).await,
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

async fn complete_handshake(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    idle_max: Duration,
) -> std::io::Result<Handshake> {
    let mut first_byte = [0];
    if stream.peek(&mut first_byte).await? == 1 && first_byte[0] != TLS_HANDSHAKE {
        return Ok(Handshake::Plain(stream));
    }
    let stream = SharedStream::new(stream);
    let accept_result = acceptor.accept(StallGuard::new(stream.clone(), idle_max)).await?;
    Ok(Handshake::Encrypted(Box::new(accept_result), stream))
}

/// The client of an HTTP/1 connection.
struct Client {
    peer: SocketAddr,
    is_encrypted: bool,
    activity: Arc<Activity>,
}

async fn over_http1<Io>(
    server_context: &ServerContext,
    io: TokioIo<Io>,
    stream: &SharedStream,
    client: Client,
) where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Client { peer, is_encrypted, activity } = client;
    let (pending, requests) = (PendingRequest::new(), AtomicU64::new(0));
    let service = service_fn(|request| {
        let number = requests.fetch_add(1, Ordering::Relaxed) + 1;
        let (request, exchange) = activity.begin(prepare_request(request, peer, is_encrypted));
        let request = pending.watch(request, number);
        async {
            let answer = answer(server_context, request).await;
            pending.end();
            answer.map(|answer| exchange.watch(answer))
        }
    });
    let mut builder = http1::Builder::new();
    // The time limit for request heads also applies between requests, so it also ends idle
    // connections.
    builder.timer(TokioTimer::new()).header_read_timeout(server_context.idle_max);
    builder.max_buf_size(HTTP1_BUFFER_MAX_BYTES);
    let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
    let serving = async {
        tokio::select! {
            outcome = connection.as_mut() => outcome,
            () = server_context.stop.cancelled() => {
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
                () = server_context.stop.cancelled() => {}
            }
        }
    };
    tokio::select! {
        () = closing => {}
        () = pending.client_disconnected(stream) => tracing::debug!(%peer, "a client disconnected, or sent more bytes while its request was waiting"),
    }
}

async fn over_http2<Io>(
    server_context: &ServerContext,
    io: TokioIo<Io>,
    peer: SocketAddr,
    activity: Arc<Activity>,
) where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(|request| {
        let (request, exchange) = activity.begin(prepare_request(request, peer, true));
        let server_context = server_context.clone();
        async move { answer(&server_context, request).await.map(|answer| exchange.watch(answer)) }
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .max_send_buf_size(HTTP2_SEND_MAX_BYTES)
        .max_header_list_size(HTTP2_HEADERS_MAX_BYTES)
        // Ends connections whose peer no longer answers.
        .keep_alive_interval(server_context.idle_max)
        .keep_alive_timeout(server_context.idle_max);
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut is_ending = false;
    let outcome = loop {
        let remaining = server_context.idle_max.saturating_sub(activity.idle_time());
        tokio::select! {
            outcome = connection.as_mut() => break outcome,
            () = server_context.stop.cancelled(), if !is_ending => {}
            () = tokio::time::sleep(remaining) => {
                if activity.idle_time() < server_context.idle_max {
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
            // Active requests are still served completely.
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
fn prepare_request(request: hyper::Request<Incoming>, peer: SocketAddr, is_encrypted: bool) -> Request {
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
async fn answer(server_context: &ServerContext, request: Request) -> Result<Response, Infallible> {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    if request.version() == Version::HTTP_11 && hosts != 1 {
        let detail = format!("A request over HTTP/1.1 must have one `Host` header; this one has {hosts}.");
        return Ok(ApiError::bad_request("bad_host", detail).into_response());
    }
    server_context.router.clone().oneshot(request).await
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

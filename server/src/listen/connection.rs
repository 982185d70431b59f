//! One connection, from its first byte to its end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tower::ServiceExt as _;

use super::{Https, Shared, redirect};

/// How long a client may take to agree on encryption.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Requests of one HTTP/2 connection that may be under way at a time.
const STREAMS_MAX: u32 = 256;

/// First byte of a TLS handshake (RFC 8446, section 5.1): no request begins with it.
const TLS_HANDSHAKE: u8 = 22;

/// Serves a connection until it ends, rests for too long, or the service stops.
pub(super) async fn run(shared: Shared, stream: TcpStream, peer: SocketAddr) {
    let Some(acceptor) = shared.tls.clone() else {
        return over_http1(&shared, TokioIo::new(stream), peer, false).await;
    };
    let begun = tokio::select! {
        () = shared.stop.cancelled() => return,
        begun = tokio::time::timeout(HANDSHAKE_WITHIN, begin(acceptor, stream)) => begun,
    };
    match begun {
        Ok(Ok(Begun::Encrypted(stream))) => {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let stream = TokioIo::new(*stream);
            if is_http2 {
                over_http2(&shared, stream, peer).await;
            } else {
                over_http1(&shared, stream, peer, true).await;
            }
        }
        Ok(Ok(Begun::Plain(stream))) => redirect::serve(stream, shared.idle_max).await,
        // Scanners and browsers that distrust the certificate; nobody's fault here.
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a connection was not encrypted"),
        Err(_) => tracing::debug!(%peer, "a client was too slow to agree on encryption"),
    }
}

/// A connection to a port of HTTPS.
enum Begun {
    Encrypted(Box<TlsStream<TcpStream>>),
    /// Somebody speaks HTTP, most likely for having typed `http://`.
    Plain(TcpStream),
}

async fn begin(acceptor: TlsAcceptor, stream: TcpStream) -> std::io::Result<Begun> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first[0] != TLS_HANDSHAKE {
        return Ok(Begun::Plain(stream));
    }
    Ok(Begun::Encrypted(Box::new(acceptor.accept(stream).await?)))
}

async fn over_http1<Io>(shared: &Shared, io: TokioIo<Io>, peer: SocketAddr, is_encrypted: bool)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(|request| answer(shared, request, peer, is_encrypted));
    let mut builder = http1::Builder::new();
    // The time-out of a head also counts while none is on its way, so resting connections end by it too.
    builder.timer(TokioTimer::new()).header_read_timeout(shared.idle_max);
    let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = shared.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    note(peer, outcome);
}

async fn over_http2<Io>(shared: &Shared, io: TokioIo<Io>, peer: SocketAddr)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let asked = AtomicBool::new(false);
    let ever_asked = AtomicBool::new(false);
    let service = service_fn(|request| {
        asked.store(true, Ordering::Relaxed);
        ever_asked.store(true, Ordering::Relaxed);
        let shared = shared.clone();
        async move { answer(&shared, request, peer, true).await }
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        // A peer that is gone without a word does not answer these.
        .keep_alive_interval(shared.idle_max)
        .keep_alive_timeout(shared.idle_max);
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut is_ending = false;
    let outcome = loop {
        tokio::select! {
            outcome = connection.as_mut() => break outcome,
            () = shared.stop.cancelled(), if !is_ending => is_ending = true,
            () = tokio::time::sleep(shared.idle_max), if !is_ending => {
                if !ever_asked.load(Ordering::Relaxed) {
                    return tracing::debug!(%peer, "a connection on which nothing was asked was closed");
                }
                is_ending = !asked.swap(false, Ordering::Relaxed);
            }
        }
        if is_ending {
            // Answers that are under way go on to their end.
            connection.as_mut().graceful_shutdown();
        }
    };
    note(peer, outcome);
}

/// A connection that breaks off is no fault of the service.
fn note(peer: SocketAddr, outcome: hyper::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

/// Hands a request to the router, with what the router wants to know of the connection.
async fn answer(
    shared: &Shared,
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
    is_encrypted: bool,
) -> Result<Response, Infallible> {
    let mut request: Request = request.map(Body::new);
    name_host(&mut request);
    request.extensions_mut().insert(ConnectInfo(peer));
    if is_encrypted {
        request.extensions_mut().insert(Https);
    }
    shared.router.clone().oneshot(request).await
}

/// HTTP/2 has the host in `:authority` (RFC 9113, section 8.3.1); whoever checks it looks at `Host`.
fn name_host(request: &mut Request) {
    if request.headers().contains_key(header::HOST) {
        return;
    }
    let host = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(host) = host {
        request.headers_mut().insert(header::HOST, host);
    }
}

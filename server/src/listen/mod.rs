//! Accepts connections, with or without HTTPS, and closes idle ones.
//!
//! The router gets each request with the address of its peer, and with [`Https`] if it was
//! encrypted. It has a `Host` header in all versions of HTTP.

mod activity;
mod connection;
mod departure;
mod open_connections;
mod redirect;
mod shared_stream;
mod stall_guard;
pub(crate) mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use open_connections::OpenConnections;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::NetworkConfig;

/// Wait after a connection could not be accepted. The most likely cause is a lack of file
/// descriptors.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Extension of requests that arrived encrypted at this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Https;

/// State that all connections share.
#[derive(Clone)]
struct ServerContext {
    router: Router,
    tls: Option<TlsAcceptor>,
    idle_max: Duration,
    stop: CancellationToken,
}

/// Serves connections until `stop`. Then accepts no more connections, and waits for the open ones
/// to end.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    network: &NetworkConfig,
    stop: CancellationToken,
) {
    let connections = TaskTracker::new();
    let limits = &network.connections;
    let open_connections = OpenConnections::new(limits, &network.trusted_proxies);
    let server_context = ServerContext { router, tls, idle_max: limits.idle_max, stop };
    loop {
        let accept_result = tokio::select! {
            () = server_context.stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accept_result {
            Ok((stream, peer)) => {
                let Some(open_connection) = open_connections.admit(peer.ip()) else { continue };
                // Without this, small answers would be delayed until an acknowledgement (Nagle's
                // algorithm).
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection was closed before it was served");
                    continue;
                }
                let connection_task = connection::run(
                    server_context.clone(),
                    stream,
                    peer,
                    Arc::clone(&open_connection.activity),
                );
                connections.spawn(async move {
                    tokio::select! {
                        () = connection_task => {}
                        () = open_connection.eviction.cancelled() => tracing::debug!(%peer, "an idle connection was evicted"),
                    }
                });
            }
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
            }
        }
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

fn concerns_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Returns the URL at which a browser on this machine reaches an address.
pub(crate) fn url(scheme: &str, bound: SocketAddr) -> String {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("{scheme}://{}", SocketAddr::new(ip, bound.port()))
}

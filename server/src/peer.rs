//! Address of the client at the other end of a request's connection.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::error::ApiError;

/// IP address of the connection's peer. It comes from the socket, never from a header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        peer_of(&parts.extensions).map(Self).ok_or_else(|| {
            ApiError::internal(anyhow::anyhow!("the request's connection has no peer address"))
        })
    }
}

/// Returns the IP address of the peer of a request's connection.
pub(crate) fn peer_of(extensions: &Extensions) -> Option<IpAddr> {
    connection_of(extensions).map(|peer| peer.ip().to_canonical())
}

/// Returns the IP address and port of the peer of a request's connection.
pub(crate) fn connection_of(extensions: &Extensions) -> Option<SocketAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| *peer)
}

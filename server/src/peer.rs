//! The other end of a request's connection.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::error::ApiError;

/// The address of the connection's peer, from the socket, never from a header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        peer_of(&parts.extensions)
            .map(Self)
            .ok_or_else(|| ApiError::internal(anyhow::anyhow!("no peer address")))
    }
}

/// The address of the peer of a request's connection.
pub(crate) fn peer_of(extensions: &Extensions) -> Option<IpAddr> {
    connection_of(extensions).map(|peer| peer.ip().to_canonical())
}

/// The peer of a request's connection, with its port.
pub(crate) fn connection_of(extensions: &Extensions) -> Option<SocketAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| *peer)
}

//! The other end of a request's connection.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::error::ApiError;

/// Who is at the other end of the connection: the socket's own address, never a header's.
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

/// The address at the other end of a request's connection.
pub(crate) fn peer_of(extensions: &Extensions) -> Option<IpAddr> {
    connection_of(extensions).map(|peer| peer.ip().to_canonical())
}

/// The other end of a request's connection, with its port.
pub(crate) fn connection_of(extensions: &Extensions) -> Option<SocketAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| *peer)
}

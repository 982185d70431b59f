//! The caller of the handshake of a WebSocket. Browsers cannot set its headers.

use axum::extract::{FromRequestParts as _, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use serde::Deserialize;

use super::CurrentUser;
use crate::error::ApiError;
use crate::state::AppState;

/// Start of the protocol that contains a token.
const BEARER_PROTOCOL: &str = "bearer.";

/// Returns the caller of a handshake. The token is in the headers, in the list of protocols as
/// `bearer.<token>`, or in the query as `token`; it is moved to the headers.
///
/// # Errors
/// Those of [`CurrentUser`].
pub(crate) async fn of_handshake(parts: &mut Parts, state: &AppState) -> Result<CurrentUser, ApiError> {
    let token = protocol_token(&parts.headers).or_else(|| query_token(&parts.uri));
    if let Some(token) = token
        && let Ok(value) = HeaderValue::try_from(format!("Bearer {token}"))
    {
        parts.headers.entry(header::AUTHORIZATION).or_insert(value);
    }
    // Every handshake asks for an upgrade. A proxy that adds it to other requests does not make
    // this one less local.
    parts.headers.remove(header::CONNECTION);
    CurrentUser::from_request_parts(parts, state).await
}

fn protocol_token(headers: &HeaderMap) -> Option<String> {
    let lists = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|list| list.to_str().ok());
    let mut protocols = lists.flat_map(|list| list.split(','));
    protocols.find_map(|protocol| protocol.trim().strip_prefix(BEARER_PROTOCOL).map(str::to_owned))
}

/// The query of a handshake.
#[derive(Deserialize)]
struct TokenQuery {
    token: Option<String>,
}

fn query_token(uri: &Uri) -> Option<String> {
    Query::<TokenQuery>::try_from_uri(uri).ok()?.0.token
}

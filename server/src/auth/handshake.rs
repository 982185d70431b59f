//! The caller of the handshake of a WebSocket. Browsers cannot set its headers.

use axum::extract::{FromRequestParts as _, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use serde::Deserialize;

use super::CurrentUser;
use crate::error::ApiError;
use crate::listen::Https;
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
    // Every WebSocket handshake has the header `Connection: upgrade`. It is removed, so that it
    // does not count as a sign of a proxy, as it does in other requests.
    parts.headers.remove(header::CONNECTION);
    CurrentUser::from_request_parts(parts, state).await
}

/// Refuses a handshake from a page of another site.
///
/// # Errors
/// 403 `foreign_origin`.
pub(crate) fn check_origin(parts: &Parts, allowed_origins: &[String]) -> Result<(), ApiError> {
    let is_https = parts.extensions.get::<Https>().is_some();
    match is_allowed_origin(&parts.headers, is_https, allowed_origins) {
        true => Ok(()),
        false => Err(ApiError::Forbidden {
            code: "foreign_origin",
            detail: "Only pages of this service and of SF_CORS_ORIGINS may open this WebSocket.".to_owned(),
        }),
    }
}

/// Whether a handshake is from a page of this service or of an allowed origin, or from a program
/// that is not a browser.
fn is_allowed_origin(headers: &HeaderMap, is_https: bool, allowed_origins: &[String]) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return true };
    let Some(host) = headers.get(header::HOST).map(HeaderValue::as_bytes) else { return false };
    let scheme = if is_https { "https://" } else { "http://" };
    let is_own = origin.as_bytes().strip_prefix(scheme.as_bytes()) == Some(host);
    // A proxy may serve the page by HTTPS although this service does not.
    let is_own_behind_proxy = origin.as_bytes().strip_prefix(b"https://") == Some(host);
    let is_configured =
        allowed_origins.iter().any(|allowed_origin| allowed_origin.as_bytes() == origin.as_bytes());
    origins.next().is_none() && (is_own || is_own_behind_proxy || is_configured)
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

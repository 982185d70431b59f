//! Getting, renewing and ending tokens.

use std::net::IpAddr;

use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::passwords::PASSWORD_MAX_BYTES;
use super::store::{self, UserRow};
use super::throttle::Attempt;
use super::user::{AnyUser, UserView, local_admin};
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Json, Peer, RawBody, parse_json};
use crate::state::AppState;

/// A fresh token and whom it stands for.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenAnswer {
    /// The token: send it as `Authorization: Bearer <token>`.
    pub access_token: String,
    /// Always `bearer`.
    pub token_type: &'static str,
    /// Seconds until it expires.
    pub expires_in: u64,
    /// The account.
    pub user: UserView,
}

impl TokenAnswer {
    pub(super) fn for_user(state: &AppState, row: &UserRow) -> ApiResult<Self> {
        Ok(Self {
            access_token: state.tokens.issue(row)?,
            token_type: "bearer",
            expires_in: state.tokens.lifetime_secs(),
            user: row.into(),
        })
    }
}

/// Logs a local caller in as the administrator, without a password.
#[utoipa::path(post, path = "/auth/local", tag = "auth", security(()),
    responses((status = 200, body = TokenAnswer), (status = 403, description = "The caller is not local",
        body = Problem, content_type = "application/problem+json")))]
pub(super) async fn local(
    State(state): State<AppState>,
    Peer(peer): Peer,
    request: Request,
) -> ApiResult<Json<TokenAnswer>> {
    let (parts, _) = request.into_parts();
    state.local_rule.check(peer, &parts).map_err(|why| ApiError::Forbidden {
        code: "not_local",
        detail: format!("Only a program on this machine may log in without a password: {why}."),
    })?;
    let admin = local_admin(&state).await?;
    TokenAnswer::for_user(&state, &admin).map(Json)
}

/// A name and a password.
#[derive(Deserialize, ToSchema)]
pub(super) struct Credentials {
    /// Name of the account; case does not matter.
    pub username: String,
    /// Password.
    pub password: String,
}

impl<S: Send + Sync> FromRequest<S> for Credentials {
    type Rejection = ApiError;

    /// JSON, or the OAuth2 password form.
    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let kind =
            request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        let is_form = kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
        let is_json = kind.to_ascii_lowercase().starts_with("application/json");
        if !is_form && !is_json {
            return Err(ApiError::UnsupportedMedia {
                detail: "Send the credentials as `application/json` or as an OAuth2 password form."
                    .to_owned(),
            });
        }
        let RawBody(bytes) = RawBody::from_request(request, state).await?;
        if is_json {
            return parse_json(&bytes);
        }
        let uri = axum::http::Uri::builder()
            .path_and_query(format!("/?{}", String::from_utf8_lossy(&bytes).trim()))
            .build()
            .map_err(|_| bad_form("it is not form-encoded"))?;
        axum::extract::Query::try_from_uri(&uri)
            .map(|axum::extract::Query(credentials)| credentials)
            .map_err(|error| bad_form(&error.body_text()))
    }
}

fn bad_form(why: &str) -> ApiError {
    ApiError::bad_request("malformed_form", format!("The log-in form cannot be read: {why}"))
}

/// Logs in with a name and a password (JSON, or the OAuth2 password form).
#[utoipa::path(post, path = "/auth/login", tag = "auth", security(()), request_body = Credentials,
    responses((status = 200, body = TokenAnswer),
        (status = 401, description = "Unknown name or wrong password", body = Problem,
            content_type = "application/problem+json"),
        (status = 429, description = "Too many failed log-ins; `Retry-After` says how long to wait",
            body = Problem, content_type = "application/problem+json")))]
pub(super) async fn login(
    State(state): State<AppState>,
    Peer(peer): Peer,
    headers: HeaderMap,
    credentials: Credentials,
) -> ApiResult<Json<TokenAnswer>> {
    let username = credentials.username.trim().to_lowercase();
    let address = client_address(peer, &headers, &state.config.network.trusted_proxies);
    let attempt = Attempt::admit(&state.db, &username, address).await?;
    let row = store::by_username(&state.db, &username).await?.filter(|row| !row.disabled);
    // A password that could never have been set is replaced by one that never matches, at the same cost.
    let too_long = credentials.password.len() > PASSWORD_MAX_BYTES;
    let stored = row.as_ref().and_then(|row| row.password_hash.as_deref()).filter(|_| !too_long);
    let password = if too_long { String::new() } else { credentials.password };
    let matches = state.passwords.verify(password, stored).await?;
    match row {
        Some(row) if matches => {
            attempt.succeeded(&state.db).await?;
            TokenAnswer::for_user(&state, &row).map(Json)
        }
        _ => {
            tracing::warn!(%address, "failed log-in");
            Err(ApiError::Unauthorized {
                code: "bad_credentials",
                detail: "The name or the password is wrong.".to_owned(),
            })
        }
    }
}

/// Renews the token.
#[utoipa::path(post, path = "/auth/refresh", tag = "auth",
    responses((status = 200, body = TokenAnswer), CommonErrors))]
pub(super) async fn refresh(State(state): State<AppState>, user: AnyUser) -> ApiResult<Json<TokenAnswer>> {
    TokenAnswer::for_user(&state, &user.row).map(Json)
}

/// Logs out everywhere: every token of the account ends.
#[utoipa::path(post, path = "/auth/logout", tag = "auth",
    responses((status = 204, description = "All tokens of the account have ended"), CommonErrors))]
pub(super) async fn logout(State(state): State<AppState>, user: AnyUser) -> ApiResult<StatusCode> {
    store::bump_token_version(&state.db, &user.row.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The client's address for throttling: the peer's, or what the proxies named in the settings say it is.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpAddr]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted_proxies.contains(&address.to_canonical());
    if !is_trusted(&peer) {
        return peer;
    }
    let chain = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = chain.flat_map(|value| value.split(',')).map(str::trim).collect();
    let mut client = peer;
    // From the nearest hop outwards; what lies beyond the first untrusted one is hearsay.
    for hop in hops.iter().rev() {
        let Ok(address) = hop.parse::<IpAddr>() else { break };
        client = address.to_canonical();
        if !is_trusted(&client) {
            break;
        }
    }
    client
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], trusted: &[&str], expected: &str) {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let trusted: Vec<IpAddr> = trusted.iter().map(|one| one.parse().unwrap()).collect();
        let client = client_address(peer.parse().unwrap(), &headers, &trusted);
        assert_eq!(client, expected.parse::<IpAddr>().unwrap());
    }

    #[test]
    fn only_trusted_proxies_name_the_client() {
        check("192.0.2.1", &["10.9.9.9"], &[], "192.0.2.1");
        check("10.0.0.1", &["198.51.100.7"], &["10.0.0.1"], "198.51.100.7");
        check("10.0.0.1", &["1.1.1.1, 198.51.100.7", "10.0.0.2"], &["10.0.0.1", "10.0.0.2"], "198.51.100.7");
        check("10.0.0.1", &["nonsense"], &["10.0.0.1"], "10.0.0.1");
        check("10.0.0.1", &[], &["10.0.0.1"], "10.0.0.1");
    }
}

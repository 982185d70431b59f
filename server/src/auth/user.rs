//! Who is asking: the extractors that every other slice uses.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;

use super::store::{self, Role, UserRow};
use crate::error::ApiError;
use crate::extract::Peer;
use crate::state::AppState;

/// A user as the API shows it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UserView {
    /// Id, a UUID.
    pub id: String,
    /// Name to log in with.
    pub username: String,
    /// What the user may do.
    pub role: Role,
    /// Whether nothing else is allowed until the password is changed.
    pub must_change_password: bool,
}

impl From<&UserRow> for UserView {
    fn from(row: &UserRow) -> Self {
        Self {
            id: row.id.clone(),
            username: row.username.clone(),
            role: row.role,
            must_change_password: row.must_change_password,
        }
    }
}

/// Whoever is asking, even if the password must be changed first. Only the account's own routes take this.
#[derive(Debug, Clone)]
pub struct AnyUser {
    /// The account. For local callers `must_change_password` is false.
    pub row: UserRow,
}

/// The user who is asking, with full rights of the role.
///
/// Refusals: 401 without a token or with one that is not valid (any more); 403
/// `password_change_required` while the password must be changed.
#[derive(Debug, Clone)]
pub struct CurrentUser {
    /// Id, a UUID: the owner of everything the user stores.
    pub id: String,
    /// Name to log in with.
    pub username: String,
    /// What the user may do.
    pub role: Role,
}

impl FromRequestParts<AppState> for AnyUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let Peer(peer) = Peer::from_request_parts(parts, state).await?;
        let local = state.local_rule.check(peer, parts);
        let mut row = if parts.headers.contains_key(header::AUTHORIZATION) {
            by_token(bearer(parts)?, state).await?
        } else if local.is_ok() {
            local_admin(state).await?
        } else {
            return Err(ApiError::Unauthorized {
                code: "token_missing",
                detail: "Log in first and send the token as `Authorization: Bearer <token>`.".to_owned(),
            });
        };
        // A local caller is the administrator even without a token, so the flag would protect nothing.
        row.must_change_password &= local.is_err() || row.role != Role::Admin;
        Ok(Self { row })
    }
}

impl FromRequestParts<AppState> for CurrentUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let AnyUser { row } = AnyUser::from_request_parts(parts, state).await?;
        if row.must_change_password {
            return Err(ApiError::Forbidden {
                code: "password_change_required",
                detail:
                    "Change the password first (POST /auth/password); until then nothing else is allowed."
                        .to_owned(),
            });
        }
        Ok(Self { id: row.id, username: row.username, role: row.role })
    }
}

/// The administrator that local callers are.
pub(super) async fn local_admin(state: &AppState) -> Result<UserRow, ApiError> {
    let mut admin = store::first_admin(&state.db)
        .await?
        .ok_or_else(|| ApiError::internal(anyhow::anyhow!("there is no administrator account")))?;
    admin.must_change_password = false;
    Ok(admin)
}

fn bearer(parts: &Parts) -> Result<&str, ApiError> {
    let invalid = || ApiError::Unauthorized {
        code: "token_invalid",
        detail: "The Authorization header is not `Bearer <token>`.".to_owned(),
    };
    let mut values = parts.headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(invalid()) };
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(invalid());
    }
    Ok(token.trim())
}

async fn by_token(token: &str, state: &AppState) -> Result<UserRow, ApiError> {
    let claims = state.tokens.check(token)?;
    let ended = || ApiError::Unauthorized {
        code: "token_ended",
        detail: "The token was ended by a log-out or a change of the account; log in again.".to_owned(),
    };
    let row = store::by_id(&state.db, &claims.sub).await?.ok_or_else(ended)?;
    if row.disabled || row.token_version != claims.ver {
        return Err(ended());
    }
    Ok(row)
}

//! Extractors that authenticate the caller, for all slices.
//!
//! | extractor | accepts |
//! |---|---|
//! | [`AnyUser`] | everybody with valid credentials, even while the password must be changed |
//! | `AccountHolder` | everybody that [`AnyUser`] accepts, except by an API key |
//! | [`CurrentUser`] | everybody with valid credentials whose password need not be changed |
//! | [`LoggedIn`] | everybody that [`CurrentUser`] accepts, except by an API key |
//! | [`Admin`] | administrators |
//! | [`LoggedInAdmin`] | administrators, except by an API key |
//! | [`AdminOrLocal`] | administrators, and callers on this machine with any account |
//! | [`LoggedInAdminOrLocal`] | everybody that [`AdminOrLocal`] accepts, except by an API key |
//!
//! A leaked API key must not outlive its deletion, so no key may create keys or tokens, change
//! passwords or manage accounts.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::api_key_owner::{KEY_PREFIX, find_owner};
use super::store::{ActingUser, Role, UserRow, sessions, users};
use super::tokens::{Claims, Tokens};
use crate::audit::{Actor, Via};
use crate::client_address::client_address;
use crate::error::ApiError;
use crate::held_body::Sender;
use crate::peer::Peer;
use crate::rate_limits;
use crate::state::AppState;

/// A user as the API shows it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UserView {
    /// Id, a UUID.
    pub id: String,
    /// Name to log in with.
    pub username: String,
    /// Role of the user.
    pub role: Role,
    /// Whether the user must change the password before any other operation.
    pub must_change_password: bool,
    /// Whether the account has a password; in `standalone`, the administrator has none at first.
    pub has_password: bool,
}

impl From<&UserRow> for UserView {
    fn from(user_row: &UserRow) -> Self {
        Self {
            id: user_row.id.clone(),
            username: user_row.username.clone(),
            role: user_row.role,
            must_change_password: user_row.must_change_password,
            has_password: user_row.password_hash.is_some(),
        }
    }
}

/// The caller, even if the password must be changed before any other operation.
#[derive(Debug, Clone)]
pub struct AnyUser {
    /// The account. For local callers `must_change_password` is false.
    pub user_row: UserRow,
    /// Method by which the caller was authenticated.
    pub via: Via,
    /// The caller's address.
    pub address: IpAddr,
    /// Whether the caller is local, and so acts as the administrator even without a token.
    pub is_local: bool,
    /// The token that was sent, if one was.
    pub(super) token: Option<Claims>,
}

impl AnyUser {
    /// Returns the caller as an actor of the audit log.
    #[must_use]
    pub fn actor(&self) -> Actor {
        actor(&self.user_row.id, &self.user_row.username, self.via, self.address)
    }
}

/// The caller, with all rights of their role.
///
/// Refused are requests without valid credentials (401), and users who must change their password
/// first (403 `must_change_password`).
#[derive(Debug, Clone)]
pub struct CurrentUser {
    /// Id, a UUID. It is the owner of all data that the user stores.
    pub id: String,
    /// Name to log in with.
    pub username: String,
    /// Role of the user.
    pub role: Role,
    /// Method by which the caller was authenticated.
    pub via: Via,
    /// The caller's address.
    pub address: IpAddr,
    /// Whether the caller is on this machine, with any account.
    pub is_local: bool,
    /// Version of the account's tokens when the request began.
    token_version: i64,
}

impl CurrentUser {
    /// Whether the caller may use plugins. Administrators may, and so may callers on this machine,
    /// who can run any program there anyway. With an API key, only administrators may.
    #[must_use]
    pub fn may_use_plugins(&self) -> bool {
        self.role == Role::Admin || (self.is_local && self.via != Via::ApiKey)
    }

    /// Whether the caller may scan folders for plugins. A scan runs the code of plugins.
    #[must_use]
    pub fn may_scan(&self) -> bool {
        self.may_use_plugins() && self.via != Via::ApiKey
    }

    /// Returns the acting account, for a change that must not be stored if the account has lost the
    /// right to make it in the meantime.
    #[must_use]
    pub fn acting(&self) -> ActingUser {
        ActingUser { id: self.id.clone(), role: self.role.as_str(), token_version: self.token_version }
    }

    /// Returns the caller as an actor of the audit log.
    #[must_use]
    pub fn who(&self) -> Actor {
        actor(&self.id, &self.username, self.via, self.address)
    }
}

fn actor(id: &str, username: &str, via: Via, address: IpAddr) -> Actor {
    Actor { user_id: Some(id.to_owned()), username: username.to_owned(), via, address: Some(address) }
}

/// A caller with a token, or a local caller, even if the password must be changed first. An API key
/// is refused (403 `api_key_not_allowed`). Only the operations of the caller's account use this.
#[derive(Debug, Clone)]
pub(super) struct AccountHolder(pub(super) AnyUser);

/// A caller with a token, or a local caller. An API key is refused (403 `api_key_not_allowed`).
#[derive(Debug, Clone)]
pub struct LoggedIn(pub CurrentUser);

/// An administrator. Other users are refused (403 `admin_only`).
#[derive(Debug, Clone)]
pub struct Admin(pub CurrentUser);

/// An administrator, or a caller on this machine with any account. Others are refused (403
/// `admin_only`).
#[derive(Debug, Clone)]
pub struct AdminOrLocal(pub CurrentUser);

/// Like [`AdminOrLocal`], but an API key is refused (403 `api_key_not_allowed`).
#[derive(Debug, Clone)]
pub struct LoggedInAdminOrLocal(pub CurrentUser);

/// Like [`Admin`], but an API key is refused (403 `api_key_not_allowed`).
#[derive(Debug, Clone)]
pub struct LoggedInAdmin(pub CurrentUser);

impl FromRequestParts<AppState> for AnyUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let Peer(peer) = Peer::from_request_parts(parts, state).await?;
        let local_result = state.local_rule.check(peer, parts);
        let address = client_address(peer, &parts.headers, &state.config.network.trusted_proxies);
        let (mut user_row, via, token) = if parts.headers.contains_key(header::AUTHORIZATION) {
            match bearer_token(&parts.headers)? {
                api_key if api_key.starts_with(KEY_PREFIX) => {
                    (find_owner(state, api_key).await?, Via::ApiKey, None)
                }
                token => {
                    let (user_row, claims) = find_account_of_token(token, state).await?;
                    (user_row, Via::Token, Some(claims))
                }
            }
        } else if local_result.is_ok() {
            (find_local_admin(state).await?, Via::Local, None)
        } else {
            return Err(ApiError::Unauthorized {
                code: "token_missing",
                detail: "Log in first and send the token as `Authorization: Bearer <token>`.".to_owned(),
            });
        };
        if local_result.is_err() && rate_limits::is_limited(parts.uri.path()) {
            state.rate_limits.admit_user(&user_row.id)?;
        }
        parts.extensions.insert(Sender(user_row.id.clone()));
        // A local caller is the administrator even without a token, so requiring a new password
        // would protect nothing.
        user_row.must_change_password &= local_result.is_err() || user_row.role != Role::Admin;
        Ok(Self { user_row, via, address, is_local: local_result.is_ok(), token })
    }
}

impl FromRequestParts<AppState> for CurrentUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let AnyUser { user_row, via, address, is_local, .. } =
            AnyUser::from_request_parts(parts, state).await?;
        refuse_pending_password_change(&user_row)?;
        let UserRow { id, username, role, token_version, .. } = user_row;
        Ok(Self { id, username, role, via, address, is_local, token_version })
    }
}

impl FromRequestParts<AppState> for AccountHolder {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let user = AnyUser::from_request_parts(parts, state).await?;
        refuse_api_key(user.via)?;
        Ok(Self(user))
    }
}

impl FromRequestParts<AppState> for LoggedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let user = CurrentUser::from_request_parts(parts, state).await?;
        refuse_api_key(user.via)?;
        Ok(Self(user))
    }
}

impl FromRequestParts<AppState> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let user = CurrentUser::from_request_parts(parts, state).await?;
        if user.role != Role::Admin {
            return Err(ApiError::Forbidden {
                code: "admin_only",
                detail: format!(
                    "`{}` is not an administrator; ask an administrator to do this.",
                    user.username
                ),
            });
        }
        Ok(Self(user))
    }
}

impl FromRequestParts<AppState> for AdminOrLocal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let user = CurrentUser::from_request_parts(parts, state).await?;
        if user.role != Role::Admin && !user.is_local {
            return Err(ApiError::Forbidden {
                code: "admin_only",
                detail: format!(
                    "`{}` is not an administrator; ask an administrator, or do this on the machine of the service.",
                    user.username
                ),
            });
        }
        Ok(Self(user))
    }
}

impl FromRequestParts<AppState> for LoggedInAdminOrLocal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let AdminOrLocal(user) = AdminOrLocal::from_request_parts(parts, state).await?;
        refuse_api_key(user.via)?;
        Ok(Self(user))
    }
}

impl FromRequestParts<AppState> for LoggedInAdmin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let Admin(user) = Admin::from_request_parts(parts, state).await?;
        refuse_api_key(user.via)?;
        Ok(Self(user))
    }
}

/// Returns the error 403 if the password must be changed first.
pub(super) fn refuse_pending_password_change(user_row: &UserRow) -> Result<(), ApiError> {
    if !user_row.must_change_password {
        return Ok(());
    }
    Err(ApiError::Forbidden {
        code: "must_change_password",
        detail: "Change the password first (POST /auth/password); until then nothing else is allowed."
            .to_owned(),
    })
}

fn refuse_api_key(via: Via) -> Result<(), ApiError> {
    if via != Via::ApiKey {
        return Ok(());
    }
    Err(ApiError::Forbidden {
        code: "api_key_not_allowed",
        detail:
            "An API key may not manage accounts, passwords, keys, plugin folders or helpers; log in with the \
                 password."
                .to_owned(),
    })
}

/// Returns the administrator as whom local callers act.
pub(super) async fn find_local_admin(state: &AppState) -> Result<UserRow, ApiError> {
    let mut admin = users::find_first_admin(&state.db)
        .await?
        .ok_or_else(|| ApiError::internal(anyhow::anyhow!("there is no administrator account")))?;
    admin.must_change_password = false;
    Ok(admin)
}

/// Returns the token or API key in the headers.
pub(super) fn bearer_token(headers: &HeaderMap) -> Result<&str, ApiError> {
    let invalid = || ApiError::Unauthorized {
        code: "token_invalid",
        detail: "The Authorization header is not `Bearer <token>`; send it in this form.".to_owned(),
    };
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(invalid()) };
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(invalid());
    }
    Ok(token.trim())
}

/// Returns the claims of the token in a request; `None` if there is no token, or if it is not
/// genuine or has expired. Its log-in may have been ended.
pub(crate) fn claims_of(headers: &HeaderMap, tokens: &Tokens) -> Option<Claims> {
    tokens.check(bearer_token(headers).ok()?).ok()
}

async fn find_account_of_token(token: &str, state: &AppState) -> Result<(UserRow, Claims), ApiError> {
    let claims = state.tokens.check(token)?;
    Ok((find_account(&claims, state).await?, claims))
}

/// Returns the account of a genuine token.
///
/// # Errors
/// 401 `token_ended` if the log-in has been ended or the account is disabled.
pub(super) async fn find_account(claims: &Claims, state: &AppState) -> Result<UserRow, ApiError> {
    let user_row = users::find_by_id(&state.db, &claims.sub).await?.ok_or_else(ended_token_error)?;
    if user_row.is_disabled
        || user_row.token_version != claims.ver
        || sessions::has_ended(&state.db, claims.session_id()).await?
    {
        return Err(ended_token_error());
    }
    Ok(user_row)
}

/// Returns the error for a log-in that has been ended.
pub(super) fn ended_token_error() -> ApiError {
    ApiError::Unauthorized {
        code: "token_ended",
        detail: "The token is no longer valid, because you logged out or the account changed; log in again."
            .to_owned(),
    }
}

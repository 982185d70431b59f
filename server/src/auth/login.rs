//! Handlers that issue, renew and end tokens.

use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::password_check::{self, CheckOutcome, PasswordAttempt};
use super::queries::LogoutQuery;
use super::store::{UserRow, sessions, users};
use super::tokens::Claims;
use super::user::{AccountHolder, UserView, find_local_admin, refuse_pending_password_change};
use crate::audit::{self, Action, Actor, Via};
use crate::body_kind;
use crate::client_address::Client;
use crate::clock;
use crate::db::store_best_effort;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Query, RawBody, parse_object};
use crate::peer::Peer;
use crate::reserve;
use crate::state::AppState;

/// A new token and its account.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenAnswer {
    /// The token: send it as `Authorization: Bearer <token>`.
    pub access_token: String,
    /// Always `bearer`.
    pub token_type: &'static str,
    /// Seconds until the token expires.
    pub expires_in: u64,
    /// The account that has logged in.
    pub user: UserView,
}

impl TokenAnswer {
    /// Issues the first token of a new log-in.
    pub(super) fn for_user(state: &AppState, user_row: &UserRow) -> ApiResult<Self> {
        Self::for_session(state, user_row, None)
    }

    /// Issues a further token of the log-in `session_id`.
    fn for_session(state: &AppState, user_row: &UserRow, session_id: Option<&str>) -> ApiResult<Self> {
        Ok(Self {
            access_token: state.tokens.issue(user_row, session_id)?,
            token_type: "bearer",
            expires_in: state.tokens.lifetime_secs(),
            user: user_row.into(),
        })
    }
}

/// Logs a local caller in as the administrator, without a password.
#[utoipa::path(post, path = "/auth/local", tag = "auth", security(()),
    extensions(("x-who" = json!("local callers"))),
    responses((status = 200, body = TokenAnswer), (status = 403, description = "The caller is not local",
        body = Problem, content_type = "application/problem+json")))]
pub(super) async fn local(
    State(state): State<AppState>,
    Peer(peer): Peer,
    request: Request,
) -> ApiResult<Json<TokenAnswer>> {
    let (parts, _) = request.into_parts();
    state.local_rule.check(peer, &parts).map_err(|reason| ApiError::Forbidden {
        code: "not_local",
        detail: format!("Only a program on this machine may log in without a password: {reason}."),
    })?;
    let admin = find_local_admin(&state).await?;
    let actor = Actor {
        user_id: Some(admin.id.clone()),
        username: admin.username.clone(),
        via: Via::Local,
        address: Some(peer),
    };
    audit::record(&state.db, &actor, Action::LogIn, &admin.username, "").await;
    TokenAnswer::for_user(&state, &admin).map(Json)
}

/// Media types of credentials: JSON, and the form of OAuth 2.0 (RFC 6749, section 4.3.2).
const JSON_MEDIA_TYPE: &str = "application/json";
const OAUTH2_FORM: &str = "application/x-www-form-urlencoded";

/// The name and password of an account.
#[derive(Deserialize, ToSchema)]
pub(super) struct Credentials {
    /// Name of the account; case does not matter.
    pub username: String,
    /// Password of the account, as plain text.
    pub password: String,
}

impl<S: Send + Sync> FromRequest<S> for Credentials {
    type Rejection = ApiError;

    /// Reads JSON or the OAuth 2.0 password form, by the media type.
    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        body_kind::require(request.headers(), &[JSON_MEDIA_TYPE, OAUTH2_FORM])?;
        let is_json = body_kind::essence(request.headers()) == JSON_MEDIA_TYPE;
        let RawBody(bytes) = RawBody::from_request(request, state).await?;
        if is_json {
            return parse_object(&bytes);
        }
        let uri = axum::http::Uri::builder()
            .path_and_query(format!("/?{}", String::from_utf8_lossy(&bytes).trim()))
            .build()
            .map_err(|_| bad_form_error("it is not form-encoded."))?;
        axum::extract::Query::try_from_uri(&uri)
            .map(|axum::extract::Query(credentials)| credentials)
            .map_err(|error| bad_form_error(&error.body_text()))
    }
}

fn bad_form_error(reason: &str) -> ApiError {
    ApiError::bad_request("malformed_form", format!("The log-in form cannot be read: {reason}"))
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
    client: Client,
    credentials: Credentials,
) -> ApiResult<Json<TokenAnswer>> {
    let username = credentials.username.trim().to_lowercase();
    let address = client.address;
    let claim = PasswordAttempt { username, password: credentials.password, client, has_session: false };
    let CheckOutcome { user_row, is_match, refusal } = password_check::check(&state, claim).await?;
    // An unknown name may be a password that was typed into the wrong field, so the audit log omits
    // it.
    let target =
        user_row.as_ref().map_or("an unknown name", |user_row| user_row.username.as_str()).to_owned();
    let mut actor =
        Actor { user_id: None, username: "nobody".to_owned(), via: Via::Nobody, address: Some(address) };
    let Some(user_row) = user_row.filter(|_| is_match) else {
        tracing::warn!(%address, "failed log-in");
        audit::record(&state.db, &actor, Action::LogInFailed, &target, "").await;
        return Err(refusal.unwrap_or_else(|| ApiError::Unauthorized {
            code: "bad_credentials",
            detail: "The name or the password is wrong.".to_owned(),
        }));
    };
    store_best_effort("the time of a log-in", users::set_last_login(&state.db, &user_row.id)).await;
    actor = Actor {
        user_id: Some(user_row.id.clone()),
        username: user_row.username.clone(),
        via: Via::Token,
        ..actor
    };
    audit::record(&state.db, &actor, Action::LogIn, &user_row.username, "").await;
    TokenAnswer::for_user(&state, &user_row).map(Json)
}

/// Issues a new token of the caller's log-in. The old token stays valid until it expires.
#[utoipa::path(post, path = "/auth/refresh", tag = "auth", security(("bearer" = ["log_in"])),
    responses((status = 200, body = TokenAnswer)))]
pub(super) async fn refresh(
    State(state): State<AppState>,
    AccountHolder(user): AccountHolder,
) -> ApiResult<Json<TokenAnswer>> {
    refuse_pending_password_change(&user.user_row)?;
    let session_id = user.token.as_ref().map(Claims::session_id);
    TokenAnswer::for_session(&state, &user.user_row, session_id).map(Json)
}

/// Logs out. Ends all tokens of this log-in, or with `everywhere=true` of all log-ins of the
/// account. API keys stay valid.
#[utoipa::path(post, path = "/auth/logout", tag = "auth", security(("bearer" = ["log_in", "before_password_change"])), params(LogoutQuery),
    responses((status = 204, description = "The tokens have ended")))]
pub(super) async fn logout(
    State(state): State<AppState>,
    AccountHolder(user): AccountHolder,
    Query(query): Query<LogoutQuery>,
) -> ApiResult<StatusCode> {
    let ending = async || {
        if query.everywhere {
            users::increment_token_version(&state.db, &user.user_row.id).await?;
        } else if let Some(token) = &user.token {
            let now_secs = clock::now_unix_secs();
            // Another browser window may have just renewed the same log-in.
            let expires_secs = now_secs.saturating_add_unsigned(state.tokens.lifetime_secs());
            sessions::record_end(&state.db, token.session_id(), expires_secs, now_secs).await?;
        }
        Ok(())
    };
    reserve::retry_with_reserve(&state, ending).await?;
    let action = if query.everywhere { Action::LogOutEverywhere } else { Action::LogOut };
    audit::record(&state.db, &user.actor(), action, &user.user_row.username, "").await;
    Ok(StatusCode::NO_CONTENT)
}

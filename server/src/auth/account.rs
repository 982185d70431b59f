//! The account of the caller.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::login::TokenAnswer;
use super::password_check::{self, PasswordAttempt};
use super::passwords::PasswordStrength;
use super::store::users;
use super::user::{AccountHolder, AnyUser, UserView};
use crate::audit::{self, Action};
use crate::client_address::Client;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Json;
use crate::state::AppState;

/// The account of the caller.
#[derive(Serialize, ToSchema)]
pub(super) struct Me {
    /// The account of the caller.
    #[serde(flatten)]
    user: UserView,
    /// Whether the caller is trusted as local. If so, the caller acts as the administrator without
    /// a token, even after logging out.
    local: bool,
}

/// Returns the account of the caller.
#[utoipa::path(get, path = "/auth/me", tag = "auth", security(("bearer" = ["before_password_change"])), responses((status = 200, body = Me)))]
pub(super) async fn me(user: AnyUser) -> Json<Me> {
    Json(Me { user: (&user.user_row).into(), local: user.is_local })
}

/// A change of password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PasswordChange {
    /// The current password. It may be left out if the account has none.
    pub current_password: Option<String>,
    /// The new password. It must have a score of 3 or more, and at most 1024 bytes.
    pub new_password: String,
}

/// Changes the password. All older tokens become invalid; the answer contains a new one.
#[utoipa::path(post, path = "/auth/password", tag = "auth", security(("bearer" = ["log_in", "before_password_change"])), request_body = PasswordChange,
    responses((status = 200, body = TokenAnswer),
        (status = 429, description = "Too many wrong passwords", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn change_password(
    State(state): State<AppState>,
    AccountHolder(user): AccountHolder,
    client: Client,
    Json(change): Json<PasswordChange>,
) -> ApiResult<Json<TokenAnswer>> {
    let (actor, user_row) = (user.actor(), user.user_row);
    state.passwords.require_strong(&change.new_password, &user_row.username).await?;
    if user_row.password_hash.is_some() {
        let current = change.current_password.unwrap_or_default();
        let is_unchanged = current == change.new_password;
        let claim = PasswordAttempt {
            username: user_row.username.clone(),
            password: current,
            client,
            has_session: true,
        };
        let check_outcome = password_check::check(&state, claim).await?;
        if !check_outcome.is_match {
            audit::record(&state.db, &actor, Action::PasswordChangeFailed, &user_row.username, "").await;
            return Err(check_outcome.refusal.unwrap_or_else(|| ApiError::Forbidden {
                code: "wrong_password",
                detail: "The current password is wrong.".to_owned(),
            }));
        }
        if is_unchanged {
            return Err(ApiError::bad_request(
                "same_password",
                "The new password is the same as the current one; choose another.",
            ));
        }
    }
    let hash = state.passwords.hash(change.new_password).await?;
    let updated_user =
        users::set_password(&state.db, &user_row, &hash).await?.ok_or_else(|| ApiError::Conflict {
            code: "account_changed",
            detail: "Another request changed the account in the meantime; try again.".to_owned(),
        })?;
    audit::record(&state.db, &actor, Action::PasswordChanged, &user_row.username, "").await;
    TokenAnswer::for_user(&state, &updated_user).map(Json)
}

/// A password whose strength is measured.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PasswordCandidate {
    /// The password, which is not stored. Only its first 100 characters are scored.
    pub password: String,
}

/// Measures the strength of a password.
#[utoipa::path(post, path = "/auth/password-strength", tag = "auth", security(()),
    request_body = PasswordCandidate, responses((status = 200, body = PasswordStrength)))]
pub(super) async fn password_strength(
    State(state): State<AppState>,
    Json(candidate): Json<PasswordCandidate>,
) -> ApiResult<Json<PasswordStrength>> {
    state.passwords.strength(candidate.password).await.map(Json)
}

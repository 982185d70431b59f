//! Checks passwords. Checks are throttled against guessing and counted, and are completed even if
//! the client disconnects.

use tracing::Instrument as _;

use super::passwords::PASSWORD_MAX_BYTES;
use super::store::{UserRow, users};
use super::throttle::{AdmittedAttempt, LoginAttempt};
use crate::client_address::Client;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Credentials to check.
#[derive(Debug)]
pub(super) struct PasswordAttempt {
    /// Name of the account, in lower case.
    pub username: String,
    /// Password to check.
    pub password: String,
    /// The client that sent the credentials.
    pub client: Client,
    /// Whether the request has a token of the account.
    pub has_session: bool,
}

/// The outcome of a check.
#[derive(Debug)]
pub(super) struct CheckOutcome {
    /// The account with this name, if there is one.
    pub user_row: Option<UserRow>,
    /// Whether the account is enabled and the password is correct.
    pub is_match: bool,
    /// Error 429, if the password is wrong and too many attempts have failed.
    pub refusal: Option<ApiError>,
}

/// Checks credentials, and counts the result for the throttle.
///
/// # Errors
/// 503 `busy` if too many checks wait.
pub(super) async fn check(state: &AppState, password_attempt: PasswordAttempt) -> ApiResult<CheckOutcome> {
    let PasswordAttempt { username, password, client, has_session } = password_attempt;
    let user_row = users::find_by_username(&state.db, &username).await?;
    let subject =
        LoginAttempt { username: &username, user_row: user_row.as_ref(), client: &client, has_session };
    let attempt = state.throttle.begin(&state.db, &subject).await?;
    // A checked guess must count even if the client disconnects.
    let checking = verify_and_count(state.clone(), attempt, user_row, password);
    tokio::spawn(checking.in_current_span()).await?
}

async fn verify_and_count(
    state: AppState,
    attempt: AdmittedAttempt,
    user_row: Option<UserRow>,
    password: String,
) -> ApiResult<CheckOutcome> {
    // An overlong password is replaced by one that never matches, so that it costs the same time.
    let is_too_long = password.len() > PASSWORD_MAX_BYTES;
    let usable_row = user_row.as_ref().filter(|user_row| !user_row.is_disabled && !is_too_long);
    let stored_hash = usable_row.and_then(|user_row| user_row.password_hash.as_deref());
    let password = if is_too_long { String::new() } else { password };
    let is_match = state.passwords.verify(password, stored_hash, attempt.is_known).await?;
    let refusal = if is_match {
        attempt.record_success(&state.db).await;
        None
    } else {
        attempt.record_failure(&state.db).await?
    };
    Ok(CheckOutcome { user_row, is_match, refusal })
}

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
    pub row: Option<UserRow>,
    /// Whether the account is enabled and the password is correct.
    pub matches: bool,
    /// Error 429, if the password is wrong and too many attempts have failed.
    pub refusal: Option<ApiError>,
}

/// Checks credentials, and counts the result for the throttle.
///
/// # Errors
/// 503 `busy` if too many checks wait.
pub(super) async fn check(state: &AppState, claim: PasswordAttempt) -> ApiResult<CheckOutcome> {
    let PasswordAttempt { username, password, client, has_session } = claim;
    let row = users::by_username(&state.db, &username).await?;
    let subject = LoginAttempt { username: &username, row: row.as_ref(), client: &client, has_session };
    let attempt = state.throttle.begin(&state.db, &subject).await?;
    // A checked guess must count even if the client disconnects.
    let checking = verify_and_count(state.clone(), attempt, row, password);
    tokio::spawn(checking.in_current_span()).await?
}

async fn verify_and_count(
    state: AppState,
    attempt: AdmittedAttempt,
    row: Option<UserRow>,
    password: String,
) -> ApiResult<CheckOutcome> {
    // An overlong password is replaced by one that never matches, so that it costs the same time.
    let too_long = password.len() > PASSWORD_MAX_BYTES;
    let usable = row.as_ref().filter(|row| !row.disabled && !too_long);
    let stored = usable.and_then(|row| row.password_hash.as_deref());
    let password = if too_long { String::new() } else { password };
    let matches = state.passwords.verify(password, stored, attempt.is_known).await?;
    let refusal = if matches {
        attempt.succeeded(&state.db).await;
        None
    } else {
        attempt.failed(&state.db).await?
    };
    Ok(CheckOutcome { row, matches, refusal })
}

//! Checks a password: throttled against guessing, counted, and completed even if the caller hangs
//! up.

use tracing::Instrument as _;

use super::passwords::PASSWORD_MAX_BYTES;
use super::store::{UserRow, users};
use super::throttle::{Attempt, Subject};
use crate::client_address::Client;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Credentials to check.
#[derive(Debug)]
pub(super) struct Claim {
    /// Name of the account, in lower case.
    pub username: String,
    /// Its password.
    pub password: String,
    /// The client that sent the claim.
    pub client: Client,
    /// Whether the request has a token of the account.
    pub has_session: bool,
}

/// The outcome of a check.
#[derive(Debug)]
pub(super) struct Checked {
    /// The account with this name, if there is one.
    pub row: Option<UserRow>,
    /// Whether it is enabled and the password is right.
    pub matches: bool,
    /// 429 if the password is wrong and too many attempts have failed.
    pub refusal: Option<ApiError>,
}

/// Checks a claim and counts the outcome.
///
/// # Errors
/// 503 `busy`.
pub(super) async fn check(state: &AppState, claim: Claim) -> ApiResult<Checked> {
    let Claim { username, password, client, has_session } = claim;
    let row = users::by_username(&state.db, &username).await?;
    let subject = Subject { username: &username, row: row.as_ref(), client: &client, has_session };
    let attempt = state.throttle.begin(&state.db, &subject).await?;
    // A checked guess must count even if the client disconnects.
    let checking = verify_and_count(state.clone(), attempt, row, password);
    tokio::spawn(checking.in_current_span()).await?
}

async fn verify_and_count(
    state: AppState,
    attempt: Attempt,
    row: Option<UserRow>,
    password: String,
) -> ApiResult<Checked> {
    // Replaces a password that is too long to be valid by one that never matches, at the same cost.
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
    Ok(Checked { row, matches, refusal })
}

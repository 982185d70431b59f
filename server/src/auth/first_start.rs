//! Creates the first account, with a password if one is needed.

use super::passwords;
use super::store::{Role, users};
use crate::config::Environment;
use crate::state::AppState;

/// Name of the first account.
const ADMIN_USERNAME: &str = "admin";

/// Name of the first administrator if another account has the name [`ADMIN_USERNAME`].
const FALLBACK_ADMIN_USERNAME: &str = "administrator";

/// Reason why a password was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordReason {
    /// The account was created.
    FirstStart,
    /// No administrator had a password, and local callers must log in.
    NobodyCouldLogIn,
}

/// Creates the administrator's account if there is none, and ensures that an administrator can log
/// in.
///
/// In `container`, and wherever local callers are not trusted, an administrator needs a password.
/// The password is generated and must be changed. `announce` shows it once, before it is stored, so
/// that a crash cannot lose it. In `standalone`, the account has no password, because local callers
/// need none.
///
/// # Errors
/// If the database fails, or if there are no random bytes.
pub async fn ensure_admin(
    state: &AppState,
    announce: impl FnOnce(PasswordReason, &str, &str),
) -> anyhow::Result<()> {
    let existing = users::find_first_admin(&state.db).await?;
    let name = match users::find_by_username(&state.db, ADMIN_USERNAME).await? {
        None => ADMIN_USERNAME,
        Some(_) => FALLBACK_ADMIN_USERNAME,
    };
    if !needs_password(state) {
        if existing.is_none() {
            users::insert(&state.db, name, Role::Admin, None, false).await?;
        }
        return Ok(());
    }
    let Some(admin) = existing else {
        let password = passwords::generate()?;
        announce(PasswordReason::FirstStart, name, &password);
        let hash = state.passwords.hash(password).await?;
        if users::insert(&state.db, name, Role::Admin, Some(&hash), true).await?.is_none() {
            tracing::warn!(
                "another process created the account `{name}` first; use the password that it printed"
            );
        }
        return Ok(());
    };
    if !users::has_admin_password(&state.db).await? {
        let password = passwords::generate()?;
        announce(PasswordReason::NobodyCouldLogIn, &admin.username, &password);
        let hash = state.passwords.hash(password).await?;
        users::set_first_password(&state.db, &admin.id, &hash).await?;
    }
    Ok(())
}

/// Whether the administrator needs a password to log in.
fn needs_password(state: &AppState) -> bool {
    state.config.environment == Environment::Container || !state.local_rule.trusts_this_machine()
}

/// Returns the id of the administrator as whom local callers act.
///
/// # Errors
/// If the database fails, or if [`ensure_admin`] has not run yet.
pub async fn admin_id(state: &AppState) -> anyhow::Result<String> {
    let admin = users::find_first_admin(&state.db).await?;
    admin.map(|db_row| db_row.id).ok_or_else(|| anyhow::anyhow!("there is no administrator account"))
}

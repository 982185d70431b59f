//! The first account.

use super::passwords;
use super::store::{Role, users};
use crate::config::Environment;
use crate::state::AppState;

/// Name of the first account.
const ADMIN: &str = "admin";

/// Makes the administrator's account if there is none.
///
/// In `container` it gets a generated password, which `announce` shows once and which must be
/// changed; it is shown before it is stored, so that no crash can hide it for good. In
/// `standalone` it has no password: local callers need none.
///
/// # Errors
/// When the database or the system's randomness fails.
pub async fn ensure_admin(state: &AppState, announce: impl FnOnce(&str, &str)) -> anyhow::Result<()> {
    if users::first_admin(&state.db).await?.is_some() {
        return Ok(());
    }
    match state.config.environment {
        Environment::Standalone => {
            users::insert(&state.db, ADMIN, Role::Admin, None, false).await?;
        }
        Environment::Container => {
            let password = passwords::generate()?;
            announce(ADMIN, &password);
            let hash = state.passwords.hash(password).await?;
            let made = users::insert(&state.db, ADMIN, Role::Admin, Some(&hash), true).await?;
            if made.is_none() {
                tracing::warn!(
                    "another process made the account `{ADMIN}` first; its password is the one that counts"
                );
            }
        }
    }
    Ok(())
}

/// Id of the administrator that local callers are.
///
/// # Errors
/// When the database fails, or before [`ensure_admin`].
pub async fn admin_id(state: &AppState) -> anyhow::Result<String> {
    let admin = users::first_admin(&state.db).await?;
    admin.map(|row| row.id).ok_or_else(|| anyhow::anyhow!("there is no administrator account"))
}

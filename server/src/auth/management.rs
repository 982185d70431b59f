//! Management of accounts by administrators, for the `admin` slice and the command line.

use super::names::clean_username;
use super::passwords::{self, Passwords};
use super::register::username_taken_error;
use super::secrets;
use super::store::invites::{self, InviteRow, NewInvite};
use super::store::users::{self, ChangeOutcome, ResetOutcome};
use super::store::{ActingUser, Role, UserRow};
use crate::clock;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};
use crate::paging::Position;

/// Prefix of invitation codes.
const INVITE_PREFIX: &str = "sfi_";

/// An account with a password that its owner must change at the first log-in.
#[derive(Debug)]
pub struct AccountWithPassword {
    /// The account as it is stored.
    pub user_row: UserRow,
    /// The generated password, which is not stored. `None` if the administrator chose the password.
    pub generated_password: Option<String>,
}

/// Returns the error for an administrator who has lost the role, or whose account was disabled,
/// since the request began.
fn no_longer_admin_error() -> ApiError {
    ApiError::Forbidden {
        code: "admin_only",
        detail: "You are no longer an administrator, so nothing was changed.".to_owned(),
    }
}

/// Creates an account on behalf of `admin`, or of the operator of the machine if `admin` is `None`.
/// If `password` is `None`, one is generated. The password must be changed at the first log-in.
///
/// # Errors
/// 400 `bad_username`, `weak_password` or `password_too_long`; 403 `admin_only` if `admin` is no
/// longer an administrator; 409 `username_taken`; 503 `busy`.
pub async fn create_user(
    db: &Db,
    hasher: &Passwords,
    admin: Option<&ActingUser>,
    username: &str,
    role: Role,
    password: Option<String>,
) -> ApiResult<AccountWithPassword> {
    let username = clean_username(username)?;
    if users::find_by_username(db, &username).await?.is_some() {
        return Err(username_taken_error(&username));
    }
    let (password, generated_password) = checked_or_generated(hasher, &username, password).await?;
    let hash = hasher.hash(password).await?;
    let mut transaction = db.begin().await?;
    if let Some(admin) = admin
        && !admin.lock(&mut transaction).await?
    {
        return Err(no_longer_admin_error());
    }
    let insert_result = users::insert(&mut *transaction, &username, role, Some(&hash), true).await?;
    let user_row = insert_result.ok_or_else(|| username_taken_error(&username))?;
    transaction.commit().await?;
    Ok(AccountWithPassword { user_row, generated_password })
}

/// Sets a new password, which must be changed at the next log-in. If `password` is `None`, one is
/// generated. All tokens and API keys of the account end, and its unused invitations are deleted.
///
/// # Errors
/// 400 `weak_password` or `password_too_long`; 403 `admin_only` if `admin` is no longer an
/// administrator; 404 if there is no such account; 503 `busy`.
pub async fn reset_password(
    db: &Db,
    hasher: &Passwords,
    admin: Option<&ActingUser>,
    id: &str,
    password: Option<String>,
) -> ApiResult<AccountWithPassword> {
    let missing = || ApiError::not_found("account", id);
    let user_row = users::find_by_id(db, id).await?.ok_or_else(missing)?;
    let (password, generated_password) = checked_or_generated(hasher, &user_row.username, password).await?;
    let hash = hasher.hash(password).await?;
    match users::reset_password(db, admin, id, &hash).await? {
        ResetOutcome::Done(user_row) => Ok(AccountWithPassword { user_row: *user_row, generated_password }),
        ResetOutcome::Missing => Err(missing()),
        ResetOutcome::AccessEnded => Err(no_longer_admin_error()),
    }
}

async fn checked_or_generated(
    hasher: &Passwords,
    username: &str,
    password: Option<String>,
) -> ApiResult<(String, Option<String>)> {
    match password {
        Some(password) => {
            hasher.require_strong(&password, username).await?;
            Ok((password, None))
        }
        None => {
            let password = passwords::generate().map_err(ApiError::internal)?;
            Ok((password.clone(), Some(password)))
        }
    }
}

/// Returns the account with this id.
///
/// # Errors
/// 404 if there is no such account.
pub async fn user(db: &Db, id: &str) -> ApiResult<UserRow> {
    users::find_by_id(db, id).await?.ok_or_else(|| ApiError::not_found("account", id))
}

/// Returns the account with this name. Upper and lower case count as equal.
///
/// # Errors
/// 404 if there is no such account.
pub async fn user_named(db: &Db, username: &str) -> ApiResult<UserRow> {
    let name = username.trim().to_lowercase();
    users::find_by_username(db, &name).await?.ok_or_else(|| ApiError::not_found("account", &name))
}

/// Returns at most `count` accounts whose name contains `search`, the newest first. An empty
/// `search` matches all.
///
/// # Errors
/// If the query fails.
pub async fn read_users(
    db: &Db,
    search: &str,
    after: Option<&Position>,
    count: u32,
) -> ApiResult<Vec<UserRow>> {
    Ok(users::read_page(db, search, after, count).await?)
}

/// Returns ids and names of all accounts, sorted by name.
///
/// # Errors
/// If the query fails.
pub async fn user_names(db: &Db) -> ApiResult<Vec<(String, String)>> {
    Ok(users::read_names(db).await?)
}

/// Changes the role of an account, or enables or disables it. Returns the account before and after.
///
/// # Errors
/// 403 `admin_only` if `admin` is no longer an administrator; 404 if there is no such account; 409
/// `last_admin` if no administrator would be left.
pub async fn change_user(
    db: &Db,
    admin: &ActingUser,
    id: &str,
    role: Option<Role>,
    is_disabled: Option<bool>,
) -> ApiResult<(UserRow, UserRow)> {
    match users::update_user(db, admin, id, role, is_disabled).await? {
        ChangeOutcome::Done(before_and_after) => Ok(*before_and_after),
        ChangeOutcome::Missing => Err(ApiError::not_found("account", id)),
        ChangeOutcome::AccessEnded => Err(no_longer_admin_error()),
        ChangeOutcome::LastAdmin => Err(ApiError::Conflict {
            code: "last_admin",
            detail: "This account is the last administrator that is enabled; create another one first."
                .to_owned(),
        }),
    }
}

/// A new invitation.
#[derive(Debug)]
pub struct MadeInvite {
    /// The code, which is not stored.
    pub code: String,
    /// The stored invitation.
    pub invite_row: InviteRow,
}

/// Creates an invitation for one account with this role, valid for `lifetime_secs`.
///
/// # Errors
/// If the database fails, or if there are no random bytes; 403 `admin_only` if `admin` is no longer
/// an administrator.
pub async fn create_invite(
    db: &Db,
    admin: &ActingUser,
    created_by: &str,
    role: Role,
    note: &str,
    lifetime_secs: u32,
) -> ApiResult<MadeInvite> {
    let code = secrets::generate(INVITE_PREFIX)?;
    let new = NewInvite {
        code_sha256: &secrets::sha256(&code),
        role,
        note,
        created_by,
        expires_at: &clock::text_in(i64::from(lifetime_secs)),
    };
    let invite_row = invites::insert(db, admin, &new).await?.ok_or_else(no_longer_admin_error)?;
    Ok(MadeInvite { code, invite_row })
}

/// Returns at most `count` invitations, the newest first.
///
/// # Errors
/// If the query fails.
pub async fn read_invites(db: &Db, after: Option<&Position>, count: u32) -> ApiResult<Vec<InviteRow>> {
    Ok(invites::read_page(db, after, count).await?)
}

/// Deletes an invitation. An account that was created with it stays.
///
/// # Errors
/// 404 if there is no such invitation.
pub async fn delete_invite(db: &Db, id: &str) -> ApiResult<()> {
    match invites::delete(db, id).await? {
        true => Ok(()),
        false => Err(ApiError::not_found("invitation", id)),
    }
}

//! Accounts in the database.

use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::any::AnyRow;
use utoipa::ToSchema;

use super::{ActingUser, unused_invites};
use crate::clock;
use crate::db::Db;
use crate::paging::{Position, contains_pattern};

/// Role of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Has all rights, including administration.
    Admin,
    /// Has access to the service and to the user's own data.
    User,
}

impl Role {
    /// Returns the name that the database stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
        }
    }

    pub(super) fn from_stored(text: &str) -> Self {
        if text == "admin" { Self::Admin } else { Self::User }
    }
}

/// A user as stored.
#[derive(Debug, Clone)]
pub struct UserRow {
    /// Id, a UUID.
    pub id: String,
    /// Name to log in with.
    pub username: String,
    /// Role of the user.
    pub role: Role,
    /// Hash of the password as a PHC string; `None` if no password was ever set.
    pub password_hash: Option<String>,
    /// Whether the user must change the password before any other operation.
    pub must_change_password: bool,
    /// Whether the account is disabled.
    pub is_disabled: bool,
    /// Version that a valid token must contain.
    pub token_version: i64,
    /// When the account was created, RFC 3339.
    pub created_at: String,
    /// When somebody last logged in with the password, RFC 3339; `None` if never.
    pub last_login_at: Option<String>,
}

impl UserRow {
    pub(super) fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        let role: String = db_row.try_get("role")?;
        Ok(Self {
            id: db_row.try_get("id")?,
            username: db_row.try_get("username")?,
            role: Role::from_stored(&role),
            password_hash: db_row.try_get("password_hash")?,
            must_change_password: db_row.try_get::<i64, _>("must_change_password")? != 0,
            is_disabled: db_row.try_get::<i64, _>("disabled")? != 0,
            token_version: db_row.try_get("token_version")?,
            created_at: db_row.try_get("created_at")?,
            last_login_at: db_row.try_get("last_login_at")?,
        })
    }
}

/// Returns the user with this id.
pub(in crate::auth) async fn find_by_id(db: &Db, id: &str) -> Result<Option<UserRow>, sqlx::Error> {
    let db_row = sqlx::query("SELECT * FROM users WHERE id = $1").bind(id).fetch_optional(db).await?;
    db_row.as_ref().map(UserRow::from_row).transpose()
}

/// Returns the user with this name.
pub(in crate::auth) async fn find_by_username(
    db: &Db,
    username: &str,
) -> Result<Option<UserRow>, sqlx::Error> {
    let db_row =
        sqlx::query("SELECT * FROM users WHERE username = $1").bind(username).fetch_optional(db).await?;
    db_row.as_ref().map(UserRow::from_row).transpose()
}

/// Returns the administrator as whom local callers act: the oldest enabled one.
pub(in crate::auth) async fn find_first_admin(db: &Db) -> Result<Option<UserRow>, sqlx::Error> {
    let db_row = sqlx::query(
        "SELECT * FROM users WHERE role = 'admin' AND disabled = 0 ORDER BY created_at, id LIMIT 1",
    )
    .fetch_optional(db)
    .await?;
    db_row.as_ref().map(UserRow::from_row).transpose()
}

/// Whether an enabled administrator has a password.
pub(in crate::auth) async fn has_admin_password(db: &Db) -> Result<bool, sqlx::Error> {
    let admin_id: Option<String> = sqlx::query_scalar(
        "SELECT id FROM users WHERE role = 'admin' AND disabled = 0 AND password_hash IS NOT NULL LIMIT 1",
    )
    .fetch_optional(db)
    .await?;
    Ok(admin_id.is_some())
}

/// Sets the first password of an account that has none. The password must be changed.
pub(in crate::auth) async fn set_first_password(
    db: &Db,
    id: &str,
    password_hash: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE users SET password_hash = $1, must_change_password = 1 WHERE id = $2 AND password_hash IS NULL")
        .bind(password_hash)
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// Adds a user. Returns `None` if the name is taken.
pub(in crate::auth) async fn insert(
    db: impl sqlx::AnyExecutor<'_>,
    username: &str,
    role: Role,
    password_hash: Option<&str>,
    must_change_password: bool,
) -> Result<Option<UserRow>, sqlx::Error> {
    let db_row = sqlx::query(
        "INSERT INTO users (id, username, role, password_hash, must_change_password, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (username) DO NOTHING RETURNING *",
    )
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(username)
    .bind(role.as_str())
    .bind(password_hash)
    .bind(i64::from(must_change_password))
    .bind(clock::now_text())
    .fetch_optional(db)
    .await?;
    db_row.as_ref().map(UserRow::from_row).transpose()
}

/// Sets a password, ends all tokens, and deletes the user's unused invitations for administrators.
/// Returns `None` if another request has changed the password or ended the tokens since `user` was
/// read.
pub(in crate::auth) async fn set_password(
    db: &Db,
    user: &UserRow,
    password_hash: &str,
) -> Result<Option<UserRow>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let db_row = sqlx::query(
        "UPDATE users SET password_hash = $1, must_change_password = 0, token_version = token_version + 1 \
         WHERE id = $2 AND token_version = $3 RETURNING *",
    )
    .bind(password_hash)
    .bind(&user.id)
    .bind(user.token_version)
    .fetch_optional(&mut *transaction)
    .await?;
    if db_row.is_some() {
        unused_invites::delete(&mut transaction, &user.username, Role::Admin.as_str()).await?;
    }
    transaction.commit().await?;
    db_row.as_ref().map(UserRow::from_row).transpose()
}

/// Ends all tokens of a user.
pub(in crate::auth) async fn increment_token_version(db: &Db, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE users SET token_version = token_version + 1 WHERE id = $1")
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// Stores the time of a log-in.
pub(in crate::auth) async fn set_last_login(db: &Db, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE users SET last_login_at = $1 WHERE id = $2")
        .bind(clock::now_text())
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// Returns at most `count` accounts whose name contains `search`, the newest first. An empty
/// `search` matches all.
pub(in crate::auth) async fn read_page(
    db: &Db,
    search: &str,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<UserRow>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT * FROM users WHERE ($1 = '' OR username LIKE $1 ESCAPE '\\') \
         AND ($2 = '' OR created_at < $2 OR (created_at = $2 AND id > $3)) \
         ORDER BY created_at DESC, id LIMIT $4",
    )
    .bind(if search.is_empty() { String::new() } else { contains_pattern(search) })
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    db_rows.iter().map(UserRow::from_row).collect()
}

/// Returns ids and names of all accounts, sorted by name.
pub(in crate::auth) async fn read_names(db: &Db) -> Result<Vec<(String, String)>, sqlx::Error> {
    let db_rows = sqlx::query("SELECT id, username FROM users ORDER BY username").fetch_all(db).await?;
    db_rows.iter().map(|db_row| Ok((db_row.try_get("id")?, db_row.try_get("username")?))).collect()
}

/// The result of a change of an account.
#[derive(Debug)]
pub(in crate::auth) enum ChangeOutcome {
    /// The account before and after.
    Done(Box<(UserRow, UserRow)>),
    /// There is no such account.
    Missing,
    /// The account is the last enabled administrator, so it was not changed.
    LastAdmin,
    /// The administrator who makes the change has lost access, so nothing was changed.
    AccessEnded,
}

/// Changes the role of an account, or enables or disables it, for `admin`. Disabling ends its
/// tokens. The unused invitations of an account that is no longer an active administrator are
/// deleted.
pub(in crate::auth) async fn update_user(
    db: &Db,
    admin: &ActingUser,
    id: &str,
    role: Option<Role>,
    is_disabled: Option<bool>,
) -> Result<ChangeOutcome, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // This update changes nothing. It locks the rows, so that two administrators cannot disable
    // each other at the same time.
    sqlx::query("UPDATE users SET disabled = disabled WHERE role = 'admin'")
        .execute(&mut *transaction)
        .await?;
    if !admin.is_current(&mut transaction).await? {
        return Ok(ChangeOutcome::AccessEnded);
    }
    let db_row = sqlx::query("SELECT * FROM users WHERE id = $1").bind(id).fetch_optional(&mut *transaction);
    let Some(db_row) = db_row.await? else { return Ok(ChangeOutcome::Missing) };
    let user_before = UserRow::from_row(&db_row)?;
    let (role, is_disabled) =
        (role.unwrap_or(user_before.role), is_disabled.unwrap_or(user_before.is_disabled));
    let is_active_admin = |role: Role, is_disabled: bool| role == Role::Admin && !is_disabled;
    if is_active_admin(user_before.role, user_before.is_disabled) && !is_active_admin(role, is_disabled) {
        let other_admins: i64 = sqlx::query_scalar(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM users WHERE role = 'admin' AND disabled = 0 AND id <> $1",
        )
        .bind(id)
        .fetch_one(&mut *transaction)
        .await?;
        if other_admins == 0 {
            return Ok(ChangeOutcome::LastAdmin);
        }
    }
    let db_row = sqlx::query(
        "UPDATE users SET role = $1, disabled = $2, token_version = token_version + $3 WHERE id = $4 RETURNING *",
    )
    .bind(role.as_str())
    .bind(i64::from(is_disabled))
    .bind(i64::from(is_disabled && !user_before.is_disabled))
    .bind(id)
    .fetch_one(&mut *transaction)
    .await?;
    if !is_active_admin(role, is_disabled) {
        unused_invites::delete(&mut transaction, &user_before.username, "").await?;
    }
    transaction.commit().await?;
    Ok(ChangeOutcome::Done(Box::new((user_before, UserRow::from_row(&db_row)?))))
}

/// The result of a reset of a password.
#[derive(Debug)]
pub(in crate::auth) enum ResetOutcome {
    /// The account after the reset.
    Done(Box<UserRow>),
    /// There is no such account.
    Missing,
    /// The administrator who makes the change has lost access, so nothing was changed.
    AccessEnded,
}

/// Sets a password that must be changed, ends all tokens and API keys, and deletes unused
/// invitations. `admin` is the acting administrator; `None` is the operator of the machine.
pub(in crate::auth) async fn reset_password(
    db: &Db,
    admin: Option<&ActingUser>,
    id: &str,
    password_hash: &str,
) -> Result<ResetOutcome, sqlx::Error> {
    let mut transaction = db.begin().await?;
    if let Some(admin) = admin {
        // This update changes nothing. It locks both rows, so that two administrators who reset
        // each other's password wait for each other.
        sqlx::query("UPDATE users SET disabled = disabled WHERE id IN ($1, $2)")
            .bind(&admin.id)
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        if !admin.is_current(&mut transaction).await? {
            return Ok(ResetOutcome::AccessEnded);
        }
    }
    let db_row = sqlx::query(
        "UPDATE users SET password_hash = $1, must_change_password = 1, token_version = token_version + 1 \
         WHERE id = $2 RETURNING *",
    )
    .bind(password_hash)
    .bind(id)
    .fetch_optional(&mut *transaction)
    .await?;
    sqlx::query("DELETE FROM api_keys WHERE owner_id = $1").bind(id).execute(&mut *transaction).await?;
    let Some(db_row) = db_row else { return Ok(ResetOutcome::Missing) };
    unused_invites::delete(&mut transaction, db_row.try_get("username")?, "").await?;
    transaction.commit().await?;
    Ok(ResetOutcome::Done(Box::new(UserRow::from_row(&db_row)?)))
}

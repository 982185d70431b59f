//! Accounts and failed log-ins in the database.

use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::any::AnyRow;
use utoipa::ToSchema;

use crate::clock;
use crate::db::Db;

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    Admin,
    /// Everything that is the user's own.
    User,
}

impl Role {
    /// As stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
        }
    }
}

/// A user as stored.
#[derive(Debug, Clone)]
pub struct UserRow {
    /// Id, a UUID.
    pub id: String,
    /// Name to log in with.
    pub username: String,
    /// Role.
    pub role: Role,
    /// PHC string; `None` where no password was ever set.
    pub password_hash: Option<String>,
    /// Whether nothing else is allowed until the password is changed.
    pub must_change_password: bool,
    /// Whether the account is switched off.
    pub disabled: bool,
    /// Version that a token must carry.
    pub token_version: i64,
}

impl UserRow {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let role: String = row.try_get("role")?;
        Ok(Self {
            id: row.try_get("id")?,
            username: row.try_get("username")?,
            role: if role == "admin" { Role::Admin } else { Role::User },
            password_hash: row.try_get("password_hash")?,
            must_change_password: row.try_get::<i64, _>("must_change_password")? != 0,
            disabled: row.try_get::<i64, _>("disabled")? != 0,
            token_version: row.try_get("token_version")?,
        })
    }
}

/// The user with this id.
pub(super) async fn by_id(db: &Db, id: &str) -> Result<Option<UserRow>, sqlx::Error> {
    let row = sqlx::query("SELECT * FROM users WHERE id = $1").bind(id).fetch_optional(db).await?;
    row.as_ref().map(UserRow::from_row).transpose()
}

/// The user with this name.
pub(super) async fn by_username(db: &Db, username: &str) -> Result<Option<UserRow>, sqlx::Error> {
    let row =
        sqlx::query("SELECT * FROM users WHERE username = $1").bind(username).fetch_optional(db).await?;
    row.as_ref().map(UserRow::from_row).transpose()
}

/// The administrator that local callers are: the oldest enabled one.
pub(super) async fn first_admin(db: &Db) -> Result<Option<UserRow>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT * FROM users WHERE role = 'admin' AND disabled = 0 ORDER BY created_at, id LIMIT 1",
    )
    .fetch_optional(db)
    .await?;
    row.as_ref().map(UserRow::from_row).transpose()
}

/// Adds a user. A taken name is a unique violation.
pub(super) async fn insert(
    db: &Db,
    username: &str,
    role: Role,
    password_hash: Option<&str>,
    must_change_password: bool,
) -> Result<String, sqlx::Error> {
    let id = uuid::Uuid::new_v4().to_string();
    sqlx::query(
        "INSERT INTO users (id, username, role, password_hash, must_change_password, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(&id)
    .bind(username)
    .bind(role.as_str())
    .bind(password_hash)
    .bind(i64::from(must_change_password))
    .bind(clock::now_text())
    .execute(db)
    .await?;
    Ok(id)
}

/// Sets a password, which ends all tokens; `None` if the password was changed by somebody else meanwhile.
pub(super) async fn set_password(
    db: &Db,
    user: &UserRow,
    password_hash: &str,
) -> Result<Option<UserRow>, sqlx::Error> {
    let row = sqlx::query(
        "UPDATE users SET password_hash = $1, must_change_password = 0, token_version = token_version + 1 \
         WHERE id = $2 AND token_version = $3 RETURNING *",
    )
    .bind(password_hash)
    .bind(&user.id)
    .bind(user.token_version)
    .fetch_optional(db)
    .await?;
    row.as_ref().map(UserRow::from_row).transpose()
}

/// Ends all tokens of a user.
pub(super) async fn bump_token_version(db: &Db, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE users SET token_version = token_version + 1 WHERE id = $1")
        .bind(id)
        .execute(db)
        .await?;
    Ok(())
}

/// How often a subject failed to log in, and when it last did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failures {
    /// Failures in a row.
    pub count: i64,
    /// Time of the last one, in seconds since 1970.
    pub last_secs: i64,
}

/// The failures of a subject.
pub(super) async fn failures(db: &Db, subject: &str) -> Result<Option<Failures>, sqlx::Error> {
    let row = sqlx::query("SELECT failures, last_failed_secs FROM login_failures WHERE subject = $1")
        .bind(subject)
        .fetch_optional(db)
        .await?;
    row.map(|row| Ok(Failures { count: row.try_get(0)?, last_secs: row.try_get(1)? })).transpose()
}

/// Counts a failure at `now_secs`; after `forget_secs` of peace counting starts anew. Says how many there are now.
pub(super) async fn count_failure(
    db: &Db,
    subject: &str,
    now_secs: i64,
    forget_secs: i64,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "INSERT INTO login_failures (subject, failures, last_failed_secs) VALUES ($1, 1, $2) \
         ON CONFLICT (subject) DO UPDATE SET \
         failures = CASE WHEN login_failures.last_failed_secs < $3 THEN 1 ELSE login_failures.failures + 1 END, \
         last_failed_secs = excluded.last_failed_secs RETURNING failures",
    )
    .bind(subject)
    .bind(now_secs)
    .bind(now_secs - forget_secs)
    .fetch_one(db)
    .await
}

/// Forgets the failures of a subject, and of everybody whose last one lies before `before_secs`.
pub(super) async fn forget_failures(db: &Db, subject: &str, before_secs: i64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM login_failures WHERE subject = $1 OR last_failed_secs < $2")
        .bind(subject)
        .bind(before_secs)
        .execute(db)
        .await?;
    Ok(())
}

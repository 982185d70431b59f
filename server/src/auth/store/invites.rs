//! Invitations in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::{ActingUser, Role, UserRow, users};
use crate::clock;
use crate::db::Db;
use crate::paging::Position;

/// An invitation as stored, without its code.
#[derive(Debug, Clone)]
pub struct InviteRow {
    /// Id, a UUID.
    pub id: String,
    /// Role of the new account.
    pub role: Role,
    /// Note of the administrator.
    pub note: String,
    /// Name of the administrator who created the invitation.
    pub created_by: String,
    /// When the invitation was created, RFC 3339.
    pub created_at: String,
    /// When the invitation expires, RFC 3339.
    pub expires_at: String,
    /// When the invitation was used, RFC 3339; `None` if it is unused.
    pub used_at: Option<String>,
    /// Name of the account that was created with the invitation; `None` if it is unused.
    pub used_by: Option<String>,
}

impl InviteRow {
    fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        let role: String = db_row.try_get("role")?;
        Ok(Self {
            id: db_row.try_get("id")?,
            role: Role::from_stored(&role),
            note: db_row.try_get("note")?,
            created_by: db_row.try_get("created_by")?,
            created_at: db_row.try_get("created_at")?,
            expires_at: db_row.try_get("expires_at")?,
            used_at: db_row.try_get("used_at")?,
            used_by: db_row.try_get("used_by")?,
        })
    }
}

/// An invitation to store.
pub(in crate::auth) struct NewInvite<'i> {
    pub(in crate::auth) code_sha256: &'i str,
    pub(in crate::auth) role: Role,
    pub(in crate::auth) note: &'i str,
    pub(in crate::auth) created_by: &'i str,
    pub(in crate::auth) expires_at: &'i str,
}

/// Stores an invitation of `admin`. Returns `None` if `admin` has lost access.
pub(in crate::auth) async fn insert(
    db: &Db,
    admin: &ActingUser,
    invite: &NewInvite<'_>,
) -> Result<Option<InviteRow>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    if !admin.lock(&mut transaction).await? {
        return Ok(None);
    }
    let db_row = sqlx::query(
        "INSERT INTO invites (id, code_sha256, role, note, created_by, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *",
    )
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(invite.code_sha256)
    .bind(invite.role.as_str())
    .bind(invite.note)
    .bind(invite.created_by)
    .bind(clock::now_text())
    .bind(invite.expires_at)
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    InviteRow::from_row(&db_row).map(Some)
}

/// Returns at most `count` invitations, the newest first.
pub(in crate::auth) async fn read_page(
    db: &Db,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<InviteRow>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT * FROM invites WHERE ($1 = '' OR created_at < $1 OR (created_at = $1 AND id > $2)) \
         ORDER BY created_at DESC, id LIMIT $3",
    )
    .bind(after.map(|position| position.time.as_str()).unwrap_or_default())
    .bind(after.map(|position| position.id.as_str()).unwrap_or_default())
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    db_rows.iter().map(InviteRow::from_row).collect()
}

/// Deletes an invitation. Returns false if there is none.
pub(in crate::auth) async fn delete(db: &Db, id: &str) -> Result<bool, sqlx::Error> {
    let query_result = sqlx::query("DELETE FROM invites WHERE id = $1").bind(id).execute(db).await?;
    Ok(query_result.rows_affected() > 0)
}

/// Whether an invitation can be used now.
pub(in crate::auth) async fn is_open(db: &Db, code_sha256: &str) -> Result<bool, sqlx::Error> {
    let invite_id: Option<String> = sqlx::query_scalar(
        "SELECT id FROM invites WHERE code_sha256 = $1 AND used_at IS NULL AND expires_at > $2",
    )
    .bind(code_sha256)
    .bind(clock::now_text())
    .fetch_optional(db)
    .await?;
    Ok(invite_id.is_some())
}

/// The result of a registration by invitation.
#[derive(Debug)]
pub(in crate::auth) enum RegistrationOutcome {
    /// The new account.
    Done(UserRow),
    /// The invitation is unknown, used or expired.
    NotInvited,
    /// The name is taken. The invitation stays valid.
    NameTaken,
}

/// Creates an account and marks the invitation as used, in one transaction.
pub(in crate::auth) async fn register(
    db: &Db,
    code_sha256: &str,
    username: &str,
    password_hash: &str,
) -> Result<RegistrationOutcome, sqlx::Error> {
    let now = clock::now_text();
    let mut transaction = db.begin().await?;
    let role: Option<String> = sqlx::query_scalar(
        "UPDATE invites SET used_at = $1, used_by = $2 \
         WHERE code_sha256 = $3 AND used_at IS NULL AND expires_at > $1 RETURNING role",
    )
    .bind(&now)
    .bind(username)
    .bind(code_sha256)
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(role) = role else { return Ok(RegistrationOutcome::NotInvited) };
    let new_user =
        users::insert(&mut *transaction, username, Role::from_stored(&role), Some(password_hash), false)
            .await?;
    let Some(new_user) = new_user else { return Ok(RegistrationOutcome::NameTaken) };
    transaction.commit().await?;
    Ok(RegistrationOutcome::Done(new_user))
}

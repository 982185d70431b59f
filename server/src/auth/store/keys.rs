//! API keys in the database.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::{ActingUser, UserRow};
use crate::clock;
use crate::db::Db;

/// A key as stored, without the key itself.
#[derive(Debug, Clone)]
pub(in crate::auth) struct KeyRow {
    pub(in crate::auth) id: String,
    pub(in crate::auth) name: String,
    pub(in crate::auth) hint: String,
    pub(in crate::auth) created_at: String,
    pub(in crate::auth) last_used_at: Option<String>,
}

impl KeyRow {
    fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: db_row.try_get("id")?,
            name: db_row.try_get("name")?,
            hint: db_row.try_get("hint")?,
            created_at: db_row.try_get("created_at")?,
            last_used_at: db_row.try_get("last_used_at")?,
        })
    }
}

/// A key to store.
pub(in crate::auth) struct NewKey<'k> {
    pub(in crate::auth) name: &'k str,
    pub(in crate::auth) sha256: &'k str,
    pub(in crate::auth) hint: &'k str,
}

/// The result of storing a key.
pub(in crate::auth) enum InsertOutcome {
    /// The key is stored.
    Stored(KeyRow),
    /// The user already has the maximum number of keys. Nothing was changed.
    TooMany,
    /// The user has lost access since the request began. Nothing was changed.
    AccessEnded,
}

/// Stores a key of a user, who may have at most `max` keys.
pub(in crate::auth) async fn insert(
    db: &Db,
    owner: &ActingUser,
    new_key: &NewKey<'_>,
    max: i64,
) -> Result<InsertOutcome, sqlx::Error> {
    let mut transaction = db.begin().await?;
    // The lock also keeps concurrent requests from exceeding the limit.
    if !owner.lock(&mut transaction).await? {
        return Ok(InsertOutcome::AccessEnded);
    }
    let count: i64 = sqlx::query_scalar("SELECT CAST(COUNT(*) AS BIGINT) FROM api_keys WHERE owner_id = $1")
        .bind(&owner.id)
        .fetch_one(&mut *transaction)
        .await?;
    if count >= max {
        return Ok(InsertOutcome::TooMany);
    }
    let db_row = sqlx::query(
        "INSERT INTO api_keys (id, owner_id, name, key_sha256, hint, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING *",
    )
    .bind(uuid::Uuid::new_v4().to_string())
    .bind(&owner.id)
    .bind(new_key.name)
    .bind(new_key.sha256)
    .bind(new_key.hint)
    .bind(clock::now_text())
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    KeyRow::from_row(&db_row).map(InsertOutcome::Stored)
}

/// Returns the keys of a user, the newest first.
pub(in crate::auth) async fn read_of_user(db: &Db, owner_id: &str) -> Result<Vec<KeyRow>, sqlx::Error> {
    let db_rows = sqlx::query("SELECT * FROM api_keys WHERE owner_id = $1 ORDER BY created_at DESC, id")
        .bind(owner_id)
        .fetch_all(db)
        .await?;
    db_rows.iter().map(KeyRow::from_row).collect()
}

/// Deletes a key of a user and returns its name, or `None` if there is none.
pub(in crate::auth) async fn delete(
    db: &Db,
    owner_id: &str,
    id: &str,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("DELETE FROM api_keys WHERE owner_id = $1 AND id = $2 RETURNING name")
        .bind(owner_id)
        .bind(id)
        .fetch_optional(db)
        .await
}

/// A key with its owner.
pub(in crate::auth) struct OwnedKey {
    pub(in crate::auth) owner: UserRow,
    pub(in crate::auth) key_id: String,
    pub(in crate::auth) last_used_at: Option<String>,
}

/// Finds a key and its owner by the hash of the key.
pub(in crate::auth) async fn find(db: &Db, sha256: &str) -> Result<Option<OwnedKey>, sqlx::Error> {
    let db_row = sqlx::query(
        "SELECT u.*, k.id AS key_id, k.last_used_at AS key_used_at \
         FROM api_keys k JOIN users u ON u.id = k.owner_id WHERE k.key_sha256 = $1",
    )
    .bind(sha256)
    .fetch_optional(db)
    .await?;
    db_row
        .map(|db_row| {
            Ok(OwnedKey {
                owner: UserRow::from_row(&db_row)?,
                key_id: db_row.try_get("key_id")?,
                last_used_at: db_row.try_get("key_used_at")?,
            })
        })
        .transpose()
}

/// Sets the time when a key was last used to the current time.
pub(in crate::auth) async fn set_last_used(db: &Db, key_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE api_keys SET last_used_at = $1 WHERE id = $2")
        .bind(clock::now_text())
        .bind(key_id)
        .execute(db)
        .await?;
    Ok(())
}

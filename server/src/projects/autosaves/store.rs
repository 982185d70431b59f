//! Autosaves in the database.
//!
//! Every statement selects by owner, so it never finds autosaves of other users.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::summary::Autosave;
use crate::clock;
use crate::db::{Db, begin_locked};
use crate::storage::DocumentQuota;

/// Maximum number of autosaves of a user. An autosave beyond it replaces the oldest one.
const AUTOSAVES_MAX: usize = 20;

/// Maximum total size of a user's autosaves in bytes, apart from the newest one. The oldest
/// autosaves beyond it are deleted.
const OLDER_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// An autosave with its text.
#[derive(Debug)]
pub(in crate::projects) struct StoredAutosave {
    pub(in crate::projects) summary: Autosave,
    pub(in crate::projects) text: String,
}

/// A new autosave.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewAutosave<'a> {
    pub(super) project_id: &'a str,
    pub(super) name: &'a str,
    pub(super) client_id: &'a str,
    pub(super) text: &'a str,
}

/// Stores an autosave and replaces the earlier one of the same song. Deletes the oldest autosaves
/// of the user beyond [`AUTOSAVES_MAX`] and [`OLDER_MAX_BYTES`]. Returns the time of writing.
pub(super) async fn put(db: &Db, owner_id: &str, autosave: NewAutosave<'_>) -> Result<String, sqlx::Error> {
    let updated_at = clock::now_text();
    let mut transaction = begin_locked(db, &DocumentQuota::lock_name(owner_id)).await?;
    sqlx::query(
        "INSERT INTO song_autosaves (owner_id, project_id, name, client_id, updated_at, body) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (owner_id, project_id) DO UPDATE SET name = excluded.name, \
         client_id = excluded.client_id, updated_at = excluded.updated_at, body = excluded.body",
    )
    .bind(owner_id)
    .bind(autosave.project_id)
    .bind(autosave.name)
    .bind(autosave.client_id)
    .bind(&updated_at)
    .bind(autosave.text)
    .execute(&mut *transaction)
    .await?;
    let other_autosaves: Vec<(String, i64)> = sqlx::query_as(
        "SELECT project_id, CAST(octet_length(body) AS BIGINT) FROM song_autosaves \
         WHERE owner_id = $1 AND project_id <> $2 ORDER BY updated_at DESC, project_id",
    )
    .bind(owner_id)
    .bind(autosave.project_id)
    .fetch_all(&mut *transaction)
    .await?;
    for project_id in ids_beyond_limits(&other_autosaves) {
        sqlx::query("DELETE FROM song_autosaves WHERE owner_id = $1 AND project_id = $2")
            .bind(owner_id)
            .bind(project_id)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(updated_at)
}

/// Returns the ids of songs whose autosaves exceed the limits. `other_autosaves` has the id and the size in
/// bytes of each autosave except the one that was just written, newest first.
fn ids_beyond_limits(other_autosaves: &[(String, i64)]) -> Vec<&str> {
    let mut used_bytes = 0;
    let mut ids = Vec::new();
    for (index, (project_id, size_bytes)) in other_autosaves.iter().enumerate() {
        used_bytes += u64::try_from(*size_bytes).unwrap_or_default();
        if index + 1 >= AUTOSAVES_MAX || used_bytes > OLDER_MAX_BYTES {
            ids.push(project_id.as_str());
        }
    }
    ids
}

/// Returns the autosave of a song; without `project_id`, the one that was written last.
pub(super) async fn find(
    db: &Db,
    owner_id: &str,
    project_id: Option<&str>,
) -> Result<Option<Autosave>, sqlx::Error> {
    let db_row = match project_id {
        Some(project_id) => {
            sqlx::query(
                "SELECT project_id, name, client_id, updated_at, CAST(octet_length(body) AS BIGINT) AS size_bytes \
                 FROM song_autosaves WHERE owner_id = $1 AND project_id = $2",
            )
            .bind(owner_id)
            .bind(project_id)
            .fetch_optional(db)
            .await?
        }
        None => {
            sqlx::query(
                "SELECT project_id, name, client_id, updated_at, CAST(octet_length(body) AS BIGINT) AS size_bytes \
                 FROM song_autosaves WHERE owner_id = $1 ORDER BY updated_at DESC, project_id LIMIT 1",
            )
            .bind(owner_id)
            .fetch_optional(db)
            .await?
        }
    };
    db_row.as_ref().map(read_row).transpose()
}

/// Returns the autosaves of a user, newest first.
pub(super) async fn read_all(db: &Db, owner_id: &str) -> Result<Vec<Autosave>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT project_id, name, client_id, updated_at, CAST(octet_length(body) AS BIGINT) AS size_bytes \
         FROM song_autosaves WHERE owner_id = $1 ORDER BY updated_at DESC, project_id",
    )
    .bind(owner_id)
    .fetch_all(db)
    .await?;
    db_rows.iter().map(read_row).collect()
}

/// Returns the autosave of a song with its text, if the text has at most `max_bytes` bytes.
pub(super) async fn read(
    db: &Db,
    owner_id: &str,
    project_id: &str,
    max_bytes: i64,
) -> Result<Option<StoredAutosave>, sqlx::Error> {
    let db_row = sqlx::query(
        "SELECT project_id, name, client_id, updated_at, CAST(octet_length(body) AS BIGINT) AS size_bytes, body \
         FROM song_autosaves WHERE owner_id = $1 AND project_id = $2 AND octet_length(body) <= $3",
    )
    .bind(owner_id)
    .bind(project_id)
    .bind(max_bytes)
    .fetch_optional(db)
    .await?;
    db_row
        .map(|db_row| Ok(StoredAutosave { summary: read_row(&db_row)?, text: db_row.try_get("body")? }))
        .transpose()
}

/// Deletes the autosave of a song, if there is one. With `client_id`, deletes it only if that
/// window wrote it.
pub(super) async fn delete(
    db: &Db,
    owner_id: &str,
    project_id: &str,
    client_id: Option<&str>,
) -> Result<(), sqlx::Error> {
    let statement = match client_id {
        Some(client_id) => sqlx::query(
            "DELETE FROM song_autosaves WHERE owner_id = $1 AND project_id = $2 AND client_id = $3",
        )
        .bind(owner_id)
        .bind(project_id)
        .bind(client_id),
        None => sqlx::query("DELETE FROM song_autosaves WHERE owner_id = $1 AND project_id = $2")
            .bind(owner_id)
            .bind(project_id),
    };
    statement.execute(db).await?;
    Ok(())
}

/// Deletes the autosave of a project that is being deleted.
pub(in crate::projects) async fn delete_with_project(
    connection: &mut sqlx::AnyConnection,
    owner_id: &str,
    project_id: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM song_autosaves WHERE owner_id = $1 AND project_id = $2")
        .bind(owner_id)
        .bind(project_id)
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the owner of an autosave of an earlier version, and the text of the autosave. Such an
/// autosave has no id of its song.
pub(super) async fn find_earlier(db: &Db) -> Result<Option<(String, String)>, sqlx::Error> {
    sqlx::query_as("SELECT owner_id, body FROM song_autosaves WHERE project_id = '' LIMIT 1")
        .fetch_optional(db)
        .await
}

/// Sets the song of a user's autosave of an earlier version.
pub(super) async fn identify_earlier(
    db: &Db,
    owner_id: &str,
    project_id: &str,
    name: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE song_autosaves SET project_id = $1, name = $2 WHERE owner_id = $3 AND project_id = ''",
    )
    .bind(project_id)
    .bind(name)
    .bind(owner_id)
    .execute(db)
    .await?;
    Ok(())
}

fn read_row(db_row: &AnyRow) -> Result<Autosave, sqlx::Error> {
    Ok(Autosave {
        project_id: db_row.try_get("project_id")?,
        name: db_row.try_get("name")?,
        client_id: db_row.try_get("client_id")?,
        updated_at: db_row.try_get("updated_at")?,
        size_bytes: db_row.try_get("size_bytes")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_autosaves_beyond_the_number_and_the_size_are_deleted() {
        let check = |count: usize, size_bytes: u64, deleted: usize| {
            let size_bytes = i64::try_from(size_bytes).expect("a size");
            let other_autosaves: Vec<(String, i64)> =
                (0..count).map(|number| (number.to_string(), size_bytes)).collect();
            let ids: Vec<String> = (count - deleted..count).map(|number| number.to_string()).collect();
            assert_eq!(ids_beyond_limits(&other_autosaves), ids, "{count} autosaves of {size_bytes} bytes");
        };
        check(0, 0, 0);
        check(AUTOSAVES_MAX - 1, 1, 0);
        check(AUTOSAVES_MAX, 1, 1);
        check(4, OLDER_MAX_BYTES / 4, 0);
        check(5, OLDER_MAX_BYTES / 4, 1);
        check(1, OLDER_MAX_BYTES + 1, 1);
    }
}

//! Projects and their revisions in the database.
//!
//! Every statement selects by owner, so it never finds projects of other users. Every transaction
//! begins with a write. Therefore no other transaction can write between its reads and its writes.

use sqlx::Row as _;

use super::autosaves;
use super::document::Document;
use super::{ProjectSummary, ProjectUsage, REVISIONS_KEPT, RevisionSummary, Saved};
use crate::clock;
use crate::db::{Db, begin_locked};
use crate::paging::Position;
use crate::storage::DocumentQuota;

/// Outcome of a save.
#[derive(Debug)]
pub(super) enum SaveOutcome {
    /// The revision was stored.
    Saved(Saved),
    /// The expected revision is not the current one, which is given here.
    Stale(i64),
    /// The project does not exist.
    Missing,
    /// The save would exceed the quota, of which this many bytes are in use. Nothing was changed.
    Full(u64),
}

/// Outcome of storing a new project.
#[derive(Debug)]
pub(super) enum InsertOutcome {
    /// The project was stored.
    Saved(Saved),
    /// A project with this id already exists.
    IdExists,
    /// The project would exceed the quota, of which this many bytes are in use. Nothing was
    /// changed.
    Full(u64),
}

/// Stores a new project if its owner stays within the quota.
pub(super) async fn insert(
    db: &Db,
    owner_id: &str,
    document: &Document,
    quota: DocumentQuota,
) -> Result<InsertOutcome, sqlx::Error> {
    let mut transaction = begin_locked(db, &DocumentQuota::lock_name(owner_id)).await?;
    let Some(saved_project) = insert_within(&mut transaction, owner_id, document).await? else {
        transaction.rollback().await?;
        return Ok(InsertOutcome::IdExists);
    };
    let used_bytes = quota.used_bytes(&mut transaction, owner_id).await?;
    if used_bytes > quota.quota_bytes() {
        transaction.rollback().await?;
        return Ok(InsertOutcome::Full(used_bytes.saturating_sub(document.text.len() as u64)));
    }
    transaction.commit().await?;
    Ok(InsertOutcome::Saved(saved_project))
}

async fn insert_within(
    transaction: &mut sqlx::AnyConnection,
    owner_id: &str,
    document: &Document,
) -> Result<Option<Saved>, sqlx::Error> {
    let updated_at = clock::now_text();
    let outcome = sqlx::query(
        "INSERT INTO projects (owner_id, project_id, name, revision, size_bytes, updated_at) \
         VALUES ($1, $2, $3, 1, $4, $5) ON CONFLICT (owner_id, project_id) DO NOTHING",
    )
    .bind(owner_id)
    .bind(&document.project_id)
    .bind(&document.name)
    .bind(size_bytes_of(&document.text))
    .bind(&updated_at)
    .execute(&mut *transaction)
    .await?;
    if outcome.rows_affected() == 0 {
        return Ok(None);
    }
    // The insertion may have waited for a deletion of the project. Only a statement that begins
    // afterwards sees the deletion's row in `deleted_projects`.
    let revision: i64 = sqlx::query_scalar(
        "UPDATE projects SET revision = 1 + COALESCE((SELECT d.revision FROM deleted_projects d \
         WHERE d.owner_id = $1 AND d.project_id = $2), 0) WHERE owner_id = $1 AND project_id = $2 RETURNING revision",
    )
    .bind(owner_id)
    .bind(&document.project_id)
    .fetch_one(&mut *transaction)
    .await?;
    insert_revision(transaction, owner_id, document, revision, &updated_at).await?;
    Ok(Some(Saved { project_id: document.project_id.clone(), revision, updated_at }))
}

async fn insert_revision(
    transaction: &mut sqlx::AnyConnection,
    owner_id: &str,
    document: &Document,
    revision: i64,
    updated_at: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO project_revisions (owner_id, project_id, revision, size_bytes, updated_at, body) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(owner_id)
    .bind(&document.project_id)
    .bind(revision)
    .bind(size_bytes_of(&document.text))
    .bind(updated_at)
    .bind(&document.text)
    .execute(&mut *transaction)
    .await?;
    Ok(())
}

/// Stores the next revision of a project, if `base_revision` is the current revision and its owner
/// stays within the quota.
pub(super) async fn save(
    db: &Db,
    owner_id: &str,
    document: &Document,
    base_revision: i64,
    quota: DocumentQuota,
) -> Result<SaveOutcome, sqlx::Error> {
    let updated_at = clock::now_text();
    let mut transaction = begin_locked(db, &DocumentQuota::lock_name(owner_id)).await?;
    let revision: Option<i64> = sqlx::query_scalar(
        "UPDATE projects SET revision = revision + 1, name = $1, size_bytes = $2, updated_at = $3 \
         WHERE owner_id = $4 AND project_id = $5 AND revision = $6 RETURNING revision",
    )
    .bind(&document.name)
    .bind(size_bytes_of(&document.text))
    .bind(&updated_at)
    .bind(owner_id)
    .bind(&document.project_id)
    .bind(base_revision)
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(revision) = revision else {
        transaction.rollback().await?;
        let current_revision = find_current_revision(db, owner_id, &document.project_id).await?;
        return Ok(current_revision.map_or(SaveOutcome::Missing, SaveOutcome::Stale));
    };
    insert_revision(&mut transaction, owner_id, document, revision, &updated_at).await?;
    sqlx::query("DELETE FROM project_revisions WHERE owner_id = $1 AND project_id = $2 AND revision <= $3")
        .bind(owner_id)
        .bind(&document.project_id)
        .bind(revision - i64::from(REVISIONS_KEPT))
        .execute(&mut *transaction)
        .await?;
    let used_bytes = quota.used_bytes(&mut transaction, owner_id).await?;
    if used_bytes > quota.quota_bytes() {
        transaction.rollback().await?;
        return Ok(SaveOutcome::Full(used_bytes.saturating_sub(document.text.len() as u64)));
    }
    transaction.commit().await?;
    Ok(SaveOutcome::Saved(Saved { project_id: document.project_id.clone(), revision, updated_at }))
}

/// Returns the current revision of a project.
pub(super) async fn find_current_revision(
    db: &Db,
    owner_id: &str,
    id: &str,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT revision FROM projects WHERE owner_id = $1 AND project_id = $2")
        .bind(owner_id)
        .bind(id)
        .fetch_optional(db)
        .await
}

/// Returns the current revision of a project, and the length of its document in bytes.
pub(super) async fn find_current_size(
    db: &Db,
    owner_id: &str,
    id: &str,
) -> Result<Option<(i64, usize)>, sqlx::Error> {
    let db_row: Option<(i64, i64)> = sqlx::query_as(
        "SELECT r.revision, r.size_bytes FROM projects p JOIN project_revisions r \
         ON r.owner_id = p.owner_id AND r.project_id = p.project_id AND r.revision = p.revision \
         WHERE p.owner_id = $1 AND p.project_id = $2",
    )
    .bind(owner_id)
    .bind(id)
    .fetch_optional(db)
    .await?;
    Ok(db_row.map(|(revision, size_bytes)| (revision, to_usize(size_bytes))))
}

/// Returns the length of a kept revision of a project in bytes.
pub(super) async fn find_revision_size(
    db: &Db,
    owner_id: &str,
    id: &str,
    revision: i64,
) -> Result<Option<usize>, sqlx::Error> {
    let size_bytes: Option<i64> = sqlx::query_scalar(
        "SELECT size_bytes FROM project_revisions WHERE owner_id = $1 AND project_id = $2 AND revision = $3",
    )
    .bind(owner_id)
    .bind(id)
    .bind(revision)
    .fetch_optional(db)
    .await?;
    Ok(size_bytes.map(to_usize))
}

/// Returns the text of a kept revision of a project.
pub(super) async fn read_revision_text(
    db: &Db,
    owner_id: &str,
    id: &str,
    revision: i64,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT body FROM project_revisions WHERE owner_id = $1 AND project_id = $2 AND revision = $3",
    )
    .bind(owner_id)
    .bind(id)
    .bind(revision)
    .fetch_optional(db)
    .await
}

/// Returns at most `count` projects by the time of their last save, newest first.
pub(super) async fn read_page(
    db: &Db,
    owner_id: &str,
    after: Option<&Position>,
    count: u32,
) -> Result<Vec<ProjectSummary>, sqlx::Error> {
    let db_rows =
        match after {
            None => sqlx::query(
                "SELECT * FROM projects WHERE owner_id = $1 ORDER BY updated_at DESC, project_id LIMIT $2",
            )
            .bind(owner_id)
            .bind(i64::from(count))
            .fetch_all(db)
            .await?,
            Some(Position { time, id }) => {
                sqlx::query(
                    "SELECT * FROM projects WHERE owner_id = $1 \
                 AND (updated_at < $2 OR (updated_at = $2 AND project_id > $3)) \
                 ORDER BY updated_at DESC, project_id LIMIT $4",
                )
                .bind(owner_id)
                .bind(time)
                .bind(id)
                .bind(i64::from(count))
                .fetch_all(db)
                .await?
            }
        };
    db_rows
        .iter()
        .map(|db_row| {
            Ok(ProjectSummary {
                project_id: db_row.try_get("project_id")?,
                name: db_row.try_get("name")?,
                revision: db_row.try_get("revision")?,
                updated_at: db_row.try_get("updated_at")?,
                size_bytes: db_row.try_get("size_bytes")?,
            })
        })
        .collect()
}

/// Returns the kept revisions of a project, newest first.
pub(super) async fn read_revisions(
    db: &Db,
    owner_id: &str,
    id: &str,
) -> Result<Vec<RevisionSummary>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT revision, updated_at, size_bytes FROM project_revisions \
         WHERE owner_id = $1 AND project_id = $2 ORDER BY revision DESC",
    )
    .bind(owner_id)
    .bind(id)
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            Ok(RevisionSummary {
                revision: db_row.try_get("revision")?,
                updated_at: db_row.try_get("updated_at")?,
                size_bytes: db_row.try_get("size_bytes")?,
            })
        })
        .collect()
}

/// Deletes a project with its revisions and its autosave, and returns its name. Returns `None` if
/// it does not exist.
pub(super) async fn delete(db: &Db, owner_id: &str, id: &str) -> Result<Option<String>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    let deleted_row: Option<(String, i64)> = sqlx::query_as(
        "DELETE FROM projects WHERE owner_id = $1 AND project_id = $2 RETURNING name, revision",
    )
    .bind(owner_id)
    .bind(id)
    .fetch_optional(&mut *transaction)
    .await?;
    let Some((name, revision)) = deleted_row else {
        transaction.rollback().await?;
        return Ok(None);
    };
    sqlx::query(
        "INSERT INTO deleted_projects (owner_id, project_id, revision) VALUES ($1, $2, $3) \
         ON CONFLICT (owner_id, project_id) DO UPDATE SET revision = excluded.revision",
    )
    .bind(owner_id)
    .bind(id)
    .bind(revision)
    .execute(&mut *transaction)
    .await?;
    autosaves::delete_with_project(&mut transaction, owner_id, id).await?;
    transaction.commit().await?;
    Ok(Some(name))
}

/// Returns the number of projects and the total size of kept revisions and autosaves, by user id.
pub(super) async fn read_usage(db: &Db) -> Result<Vec<(String, ProjectUsage)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT u.owner_id, CAST(SUM(u.projects) AS BIGINT) AS projects, CAST(SUM(u.bytes) AS BIGINT) AS bytes \
         FROM (SELECT owner_id, 1 AS projects, 0 AS bytes FROM projects \
         UNION ALL SELECT owner_id, 0, size_bytes FROM project_revisions \
         UNION ALL SELECT owner_id, 0, octet_length(body) FROM song_autosaves) u GROUP BY u.owner_id",
    )
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            let count =
                |column: &str| db_row.try_get::<i64, _>(column).map(|n| u64::try_from(n).unwrap_or(0));
            let usage = ProjectUsage { projects: count("projects")?, bytes: count("bytes")? };
            Ok((db_row.try_get("owner_id")?, usage))
        })
        .collect()
}

/// Returns the total size of the kept revisions of a user's projects, in bytes.
pub(crate) async fn count_revision_bytes(
    connection: &mut sqlx::AnyConnection,
    owner_id: &str,
) -> Result<u64, sqlx::Error> {
    let used_bytes: i64 = sqlx::query_scalar(
        "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM project_revisions WHERE owner_id = $1",
    )
    .bind(owner_id)
    .fetch_one(connection)
    .await?;
    Ok(u64::try_from(used_bytes).unwrap_or_default())
}

/// Returns owner, id and text of at most `count` current documents, ordered by owner and id. Begins
/// after the project `id` of `owner_id`. A missing text is `None`.
pub(super) async fn read_documents_after(
    db: &Db,
    owner_id: &str,
    id: &str,
    count: u32,
) -> Result<Vec<(String, String, Option<String>)>, sqlx::Error> {
    let db_rows = sqlx::query(
        "SELECT p.owner_id, p.project_id, r.body FROM projects p LEFT JOIN project_revisions r \
         ON r.owner_id = p.owner_id AND r.project_id = p.project_id AND r.revision = p.revision \
         WHERE p.owner_id > $1 OR (p.owner_id = $1 AND p.project_id > $2) \
         ORDER BY p.owner_id, p.project_id LIMIT $3",
    )
    .bind(owner_id)
    .bind(id)
    .bind(i64::from(count))
    .fetch_all(db)
    .await?;
    db_rows
        .iter()
        .map(|db_row| {
            Ok((db_row.try_get("owner_id")?, db_row.try_get("project_id")?, db_row.try_get("body")?))
        })
        .collect()
}

/// Stores `document` as a project, but only once in the lifetime of this database.
pub(super) async fn insert_first_project(
    db: &Db,
    owner_id: &str,
    name: &str,
    document: &Document,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    let outcome =
        sqlx::query("INSERT INTO seeds (name, seeded_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
            .bind(name)
            .bind(clock::now_text())
            .execute(&mut *transaction)
            .await?;
    if outcome.rows_affected() > 0 {
        insert_within(&mut transaction, owner_id, document).await?;
    }
    transaction.commit().await
}

fn size_bytes_of(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

fn to_usize(size_bytes: i64) -> usize {
    usize::try_from(size_bytes).unwrap_or_default()
}

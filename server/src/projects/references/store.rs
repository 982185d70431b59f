//! Reads the current documents of a user, and their versions, from the database.

use sqlx::AnyConnection;

/// Returns the ids, names and current revisions of a user's projects.
pub(super) async fn read_current_revisions(
    connection: &mut AnyConnection,
    owner_id: &str,
) -> Result<Vec<(String, String, i64)>, sqlx::Error> {
    sqlx::query_as("SELECT project_id, name, revision FROM projects WHERE owner_id = $1")
        .bind(owner_id)
        .fetch_all(connection)
        .await
}

/// Returns the text of a kept revision of a project.
pub(super) async fn read_body(
    connection: &mut AnyConnection,
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
    .fetch_optional(connection)
    .await
}

/// Returns the songs of a user's autosaves: id, name, and the time of writing, which serves as the
/// version.
pub(super) async fn read_autosave_versions(
    connection: &mut AnyConnection,
    owner_id: &str,
) -> Result<Vec<(String, String, String)>, sqlx::Error> {
    sqlx::query_as("SELECT project_id, name, updated_at FROM song_autosaves WHERE owner_id = $1")
        .bind(owner_id)
        .fetch_all(connection)
        .await
}

/// Returns the text of the autosave of a song that was written at `updated_at`.
pub(super) async fn read_autosave_body(
    connection: &mut AnyConnection,
    owner_id: &str,
    project_id: &str,
    updated_at: &str,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT body FROM song_autosaves WHERE owner_id = $1 AND project_id = $2 AND updated_at = $3",
    )
    .bind(owner_id)
    .bind(project_id)
    .bind(updated_at)
    .fetch_optional(connection)
    .await
}

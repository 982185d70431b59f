//! Processed copies in the database.

use crate::db::Db;

/// Returns the hash of the copy that is stored under `recipe`.
pub(super) async fn find(db: &Db, recipe: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT sha256 FROM audio_derivations WHERE recipe = $1")
        .bind(recipe)
        .fetch_optional(db)
        .await
}

/// Stores the hash of a copy. Does nothing if its content was deleted in the meantime.
pub(super) async fn insert(db: &Db, recipe: &str, sha256: &str) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO audio_derivations (recipe, sha256) SELECT $1, c.sha256 FROM audio_contents c \
         WHERE c.sha256 = $2 ON CONFLICT (recipe) DO UPDATE SET sha256 = excluded.sha256",
    )
    .bind(recipe)
    .bind(sha256)
    .execute(db)
    .await?;
    Ok(())
}

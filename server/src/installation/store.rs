//! The id of the installation in the database.

use crate::db::Db;

/// Returns the id, or `None` if the database was never used with stored files.
pub(super) async fn read_id(db: &Db) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT id FROM installation WHERE only_row = 1").fetch_optional(db).await
}

/// Stores an id unless there is one. Returns the stored id.
pub(super) async fn set_id(db: &Db, id: &str) -> Result<String, sqlx::Error> {
    sqlx::query("INSERT INTO installation (only_row, id) VALUES (1, $1) ON CONFLICT (only_row) DO NOTHING")
        .bind(id)
        .execute(db)
        .await?;
    sqlx::query_scalar("SELECT id FROM installation WHERE only_row = 1").fetch_one(db).await
}

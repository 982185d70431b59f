//! Tokens that were ended one by one.

use crate::db::Db;

/// Ends a token, and forgets those that have expired by `now_secs`.
pub(in crate::auth) async fn end(
    db: &Db,
    jti: &str,
    expires_secs: i64,
    now_secs: i64,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query("INSERT INTO ended_tokens (jti, expires_secs) VALUES ($1, $2) ON CONFLICT (jti) DO NOTHING")
        .bind(jti)
        .bind(expires_secs)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("DELETE FROM ended_tokens WHERE expires_secs < $1")
        .bind(now_secs)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}

/// Whether a token was ended.
pub(in crate::auth) async fn has_ended(db: &Db, jti: &str) -> Result<bool, sqlx::Error> {
    let found: Option<String> = sqlx::query_scalar("SELECT jti FROM ended_tokens WHERE jti = $1")
        .bind(jti)
        .fetch_optional(db)
        .await?;
    Ok(found.is_some())
}

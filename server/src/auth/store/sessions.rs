//! Log-ins (sessions) that were ended by a log-out.

use crate::db::Db;

/// Ends a session whose last token expires at `expires_secs`. Deletes sessions whose tokens have
/// all expired at `now_secs`.
pub(in crate::auth) async fn record_end(
    db: &Db,
    session_id: &str,
    expires_secs: i64,
    now_secs: i64,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query(
        "INSERT INTO ended_sessions (session_id, expires_secs) VALUES ($1, $2) \
         ON CONFLICT (session_id) DO NOTHING",
    )
    .bind(session_id)
    .bind(expires_secs)
    .execute(&mut *transaction)
    .await?;
    sqlx::query("DELETE FROM ended_sessions WHERE expires_secs < $1")
        .bind(now_secs)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await
}

/// Whether a session was ended.
pub(in crate::auth) async fn has_ended(db: &Db, session_id: &str) -> Result<bool, sqlx::Error> {
    let ended_session_id: Option<String> =
        sqlx::query_scalar("SELECT session_id FROM ended_sessions WHERE session_id = $1")
            .bind(session_id)
            .fetch_optional(db)
            .await?;
    Ok(ended_session_id.is_some())
}

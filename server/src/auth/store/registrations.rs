//! Registration attempts in the database.

use sqlx::Row as _;

use super::failures::{Counter, Failures, read_counters};
use crate::db::Db;

/// Returns the attempts from a network since `since_secs`. Sets the time of attempts after
/// `now_secs` to `now_secs`: they are in the future because the clock was set back.
pub(in crate::auth) async fn clamp_and_read_attempts(
    db: &Db,
    network: &str,
    now_secs: i64,
    since_secs: i64,
) -> Result<Failures, sqlx::Error> {
    sqlx::query("UPDATE registration_attempts SET last_attempt_secs = $1 WHERE network = $2 AND last_attempt_secs > $1")
        .bind(now_secs)
        .bind(network)
        .execute(db)
        .await?;
    let db_row = sqlx::query(
        "SELECT attempts, last_attempt_secs FROM registration_attempts WHERE network = $1 AND last_attempt_secs >= $2",
    )
    .bind(network)
    .bind(since_secs)
    .fetch_optional(db)
    .await?;
    db_row.map_or(Ok(Failures::default()), |db_row| {
        Ok(Failures { count: db_row.try_get(0)?, last_secs: db_row.try_get(1)? })
    })
}

/// Counts an attempt at `now_secs`, and returns the new count. Deletes the networks whose last
/// attempt was before `since_secs`.
pub(in crate::auth) async fn count_registrations(
    db: &Db,
    network: &str,
    now_secs: i64,
    since_secs: i64,
) -> Result<i64, sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query("DELETE FROM registration_attempts WHERE last_attempt_secs < $1")
        .bind(since_secs)
        .execute(&mut *transaction)
        .await?;
    let count = sqlx::query_scalar(
        "INSERT INTO registration_attempts (network, attempts, last_attempt_secs) VALUES ($1, 1, $2) \
         ON CONFLICT (network) DO UPDATE SET attempts = registration_attempts.attempts + 1, \
         last_attempt_secs = excluded.last_attempt_secs RETURNING attempts",
    )
    .bind(network)
    .bind(now_secs)
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(count)
}

/// Returns networks with at least `min_count` attempts since `since_secs`. The most recent attempts
/// come first, at most `limit`.
pub(in crate::auth) async fn read_networks(
    db: &Db,
    min_count: i64,
    since_secs: i64,
    limit: i64,
) -> Result<Vec<Counter>, sqlx::Error> {
    let sql = "SELECT network, CAST(NULL AS TEXT) AS account_sha256, CAST(NULL AS TEXT) AS username, \
         attempts AS count, last_attempt_secs AS last \
         FROM registration_attempts WHERE attempts >= $1 AND last_attempt_secs >= $2 \
         ORDER BY last_attempt_secs DESC, network LIMIT $3";
    read_counters(db, sql, min_count, since_secs, limit).await
}

/// Deletes the attempts from a network. Returns whether there were any.
pub(in crate::auth) async fn delete(db: &Db, network: &str) -> Result<bool, sqlx::Error> {
    let query_result =
        sqlx::query("DELETE FROM registration_attempts WHERE network = $1").bind(network).execute(db).await?;
    Ok(query_result.rows_affected() > 0)
}

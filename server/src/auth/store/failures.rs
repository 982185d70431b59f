//! Failed log-ins in the database.

use sqlx::Row as _;

use crate::db::Db;

/// How often a subject failed to log in, and when it last did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::auth) struct Failures {
    /// Failures in a row.
    pub count: i64,
    /// Time of the last one, in seconds since 1970.
    pub last_secs: i64,
}

/// The failures of a subject.
pub(in crate::auth) async fn failures(db: &Db, subject: &str) -> Result<Option<Failures>, sqlx::Error> {
    let row = sqlx::query("SELECT failures, last_failed_secs FROM login_failures WHERE subject = $1")
        .bind(subject)
        .fetch_optional(db)
        .await?;
    row.map(|row| Ok(Failures { count: row.try_get(0)?, last_secs: row.try_get(1)? })).transpose()
}

/// Counts a failure at `now_secs`; after `forget_secs` of peace counting starts anew. Says how many there are now.
pub(in crate::auth) async fn count_failure(
    db: &Db,
    subject: &str,
    now_secs: i64,
    forget_secs: i64,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "INSERT INTO login_failures (subject, failures, last_failed_secs) VALUES ($1, 1, $2) \
         ON CONFLICT (subject) DO UPDATE SET \
         failures = CASE WHEN login_failures.last_failed_secs < $3 THEN 1 ELSE login_failures.failures + 1 END, \
         last_failed_secs = excluded.last_failed_secs RETURNING failures",
    )
    .bind(subject)
    .bind(now_secs)
    .bind(now_secs - forget_secs)
    .fetch_one(db)
    .await
}

/// Forgets the failures of a subject, and of everybody whose last one lies before `before_secs`.
pub(in crate::auth) async fn forget_failures(
    db: &Db,
    subject: &str,
    before_secs: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM login_failures WHERE subject = $1 OR last_failed_secs < $2")
        .bind(subject)
        .bind(before_secs)
        .execute(db)
        .await?;
    Ok(())
}

/// Takes back one failure of a subject.
pub(in crate::auth) async fn take_back_failure(db: &Db, subject: &str) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE login_failures SET failures = failures - 1 WHERE subject = $1 AND failures > 0")
        .bind(subject)
        .execute(db)
        .await?;
    Ok(())
}

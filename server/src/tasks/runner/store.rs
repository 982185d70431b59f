//! Maintains the tables of `apalis` in the database.

use apalis_postgres::PgPool;

/// Removes answered offers and dead workers of a queue that are older than `kept_secs`.
pub(super) async fn delete_old(pool: &PgPool, queue: &str, kept_secs: f64) -> Result<(), sqlx::Error> {
    for statement in [
        "DELETE FROM apalis.jobs WHERE job_type = $1 AND (status IN ('Done', 'Killed') \
         OR status = 'Failed' AND attempts >= max_attempts) AND done_at < now() - make_interval(secs => $2)",
        "DELETE FROM apalis.workers w WHERE w.worker_type = $1 AND w.last_seen < now() - make_interval(secs => $2) \
         AND NOT EXISTS (SELECT 1 FROM apalis.jobs j WHERE j.lock_by = w.id)",
    ] {
        sqlx::query(statement).bind(queue).bind(kept_secs).execute(pool).await?;
    }
    Ok(())
}

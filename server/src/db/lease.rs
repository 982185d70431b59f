//! Leases that let only one of several processes do periodic work.

use std::time::Duration;

use super::Db;
use crate::clock;

/// Takes or extends the lease `name` for `duration`. Returns false while another holder has it.
///
/// If the clocks of two machines differ, both may have the lease. Therefore doing the work twice
/// must have no bad effect.
///
/// # Errors
/// If the query fails.
pub(crate) async fn take_lease(
    db: &Db,
    name: &str,
    holder: &str,
    duration: Duration,
) -> Result<bool, sqlx::Error> {
    let now_ms = clock::now_unix_ms();
    let query_result = sqlx::query(
        "INSERT INTO leases (name, holder, until_ms) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE \
         SET holder = excluded.holder, until_ms = excluded.until_ms \
         WHERE leases.until_ms <= $4 OR leases.holder = excluded.holder",
    )
    .bind(name)
    .bind(holder)
    .bind(now_ms.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 2)))
    .bind(now_ms)
    .execute(db)
    .await?;
    Ok(query_result.rows_affected() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::TestDatabase;

    #[tokio::test]
    async fn a_lease_has_one_holder_at_a_time() {
        let database = TestDatabase::make().await;
        let db = database.open().await;
        let long_duration = Duration::from_secs(60);
        let take = async |holder: &str, duration| {
            take_lease(&db, "test", holder, duration).await.expect("the query succeeds")
        };
        assert!(take("one", long_duration).await);
        assert!(!take("other", long_duration).await);
        assert!(take("one", Duration::ZERO).await, "the holder may extend or end its lease");
        assert!(take("other", long_duration).await);
        assert!(!take("one", long_duration).await);
        assert!(take_lease(&db, "another", "one", long_duration).await.expect("the query succeeds"));
    }
}

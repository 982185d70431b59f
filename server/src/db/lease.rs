//! Leases that let only one of several processes do periodic work, and that tell which process has
//! something that others want to reach.

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

/// Returns the holder of the lease `name`, if it has one.
///
/// # Errors
/// If the query fails.
pub(crate) async fn lease_holder(db: &Db, name: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("SELECT holder FROM leases WHERE name = $1 AND until_ms > $2")
        .bind(name)
        .bind(clock::now_unix_ms())
        .fetch_optional(db)
        .await
}

/// Deletes the lease `name`.
///
/// # Errors
/// If the query fails.
pub(crate) async fn delete_lease(db: &Db, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM leases WHERE name = $1").bind(name).execute(db).await?;
    Ok(())
}

/// Deletes the leases that have ended and whose names start with `prefix`, which contains neither
/// `%` nor `_`.
///
/// # Errors
/// If the query fails.
pub(crate) async fn delete_ended_leases(db: &Db, prefix: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM leases WHERE name LIKE $1 AND until_ms <= $2")
        .bind(format!("{prefix}%"))
        .bind(clock::now_unix_ms())
        .execute(db)
        .await?;
    Ok(())
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

    #[tokio::test]
    async fn others_find_the_holder_until_the_lease_ends() {
        let database = TestDatabase::make().await;
        let db = database.open().await;
        let names = ["window/a", "window/b", "other/c"];
        for (name, secs) in names.into_iter().zip([60, 0, 0]) {
            assert!(take_lease(&db, name, "one", Duration::from_secs(secs)).await.expect("a query"));
        }
        let holder = async |name: &str| lease_holder(&db, name).await.expect("a query");
        assert_eq!(holder("window/a").await.as_deref(), Some("one"));
        assert_eq!((holder("window/b").await, holder("window/x").await), (None, None));
        delete_ended_leases(&db, "window/").await.expect("a query");
        let count = async || {
            let count = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM leases");
            count.fetch_one(&db).await.expect("a query")
        };
        assert_eq!(count().await, 2);
        delete_lease(&db, "window/a").await.expect("a query");
        assert_eq!((holder("window/a").await, count().await), (None, 1));
    }
}

//! Failed log-ins in the database, and the networks from which accounts logged in.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::db::Db;

/// The number of failures, and the time of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::auth) struct Failures {
    /// Number of failures, or of accounts that failed.
    pub count: i64,
    /// Time of the last failure, in seconds since 1970; 0 if there was none.
    pub last_secs: i64,
}

impl Failures {
    /// Reads the columns `count` and `last` of a row.
    fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self { count: db_row.try_get("count")?, last_secs: db_row.try_get("last")? })
    }
}

/// Failed log-ins of one account.
#[derive(Debug, Default)]
pub(in crate::auth) struct FailureCounts {
    /// Failures of the account from the network.
    pub account_at_network: Failures,
    /// Failures of the account from all networks that it never logged in from.
    pub account: Failures,
}

/// Whether an account has logged in from a network. Returns false if `user_id` is empty.
pub(in crate::auth) async fn is_known(db: &Db, user_id: &str, network: &str) -> Result<bool, sqlx::Error> {
    let known_network: Option<String> =
        sqlx::query_scalar("SELECT network FROM login_networks WHERE user_id = $1 AND network = $2")
            .bind(user_id)
            .bind(network)
            .fetch_optional(db)
            .await?;
    Ok(known_network.is_some())
}

/// Returns the failures of an account since `since_secs`, and those from one network. `user_id` is
/// empty if no account has the name. The queries are the same in this case, so that the answer
/// takes the same time.
pub(in crate::auth) async fn failures_of(
    db: &Db,
    network: &str,
    account_sha256: &str,
    user_id: &str,
    since_secs: i64,
) -> Result<FailureCounts, sqlx::Error> {
    let account_at_network = sqlx::query(
        "SELECT failures AS count, last_failed_secs AS last FROM login_failures \
         WHERE network = $1 AND account_sha256 = $2 AND last_failed_secs >= $3",
    )
    .bind(network)
    .bind(account_sha256)
    .bind(since_secs)
    .fetch_optional(db)
    .await?;
    let of_account = sqlx::query(
        "SELECT CAST(COALESCE(SUM(failures), 0) AS BIGINT) AS count, \
         CAST(COALESCE(MAX(last_failed_secs), 0) AS BIGINT) AS last \
         FROM login_failures WHERE account_sha256 = $1 AND last_failed_secs >= $2 \
         AND network NOT IN (SELECT network FROM login_networks WHERE user_id = $3)",
    )
    .bind(account_sha256)
    .bind(since_secs)
    .bind(user_id)
    .fetch_one(db)
    .await?;
    Ok(FailureCounts {
        account_at_network: account_at_network
            .as_ref()
            .map_or(Ok(Failures::default()), Failures::from_row)?,
        account: Failures::from_row(&of_account)?,
    })
}

/// Returns the number of accounts that failed from a network since `since_secs` and never logged in
/// from it, at most `max`.
pub(in crate::auth) async fn failed_accounts(
    db: &Db,
    network: &str,
    since_secs: i64,
    max: i64,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT 1 FROM login_failures f \
         WHERE network = $1 AND last_failed_secs >= $2 \
         AND NOT EXISTS (SELECT 1 FROM login_networks n JOIN users u ON u.id = n.user_id \
         WHERE u.username = f.username AND n.network = f.network) LIMIT $3) AS failed",
    )
    .bind(network)
    .bind(since_secs)
    .bind(max)
    .fetch_one(db)
    .await
}

/// Sets the time of failures after `now_secs` to `now_secs`: they are in the future because the
/// clock was set back.
pub(in crate::auth) async fn clamp_to_clock(db: &Db, now_secs: i64) -> Result<(), sqlx::Error> {
    let later_failures: i64 =
        sqlx::query_scalar("SELECT CAST(COUNT(*) AS BIGINT) FROM login_failures WHERE last_failed_secs > $1")
            .bind(now_secs)
            .fetch_one(db)
            .await?;
    if later_failures > 0 {
        sqlx::query("UPDATE login_failures SET last_failed_secs = $1 WHERE last_failed_secs > $1")
            .bind(now_secs)
            .execute(db)
            .await?;
    }
    Ok(())
}

/// Counts a failure at `now_secs`, and deletes failures before `since_secs`. `username` is `None`
/// if no account has the name.
pub(in crate::auth) async fn count_failures(
    db: &Db,
    network: &str,
    account_sha256: &str,
    username: Option<&str>,
    now_secs: i64,
    since_secs: i64,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query("DELETE FROM login_failures WHERE last_failed_secs < $1")
        .bind(since_secs)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "INSERT INTO login_failures (network, account_sha256, username, failures, last_failed_secs) \
         VALUES ($1, $2, $3, 1, $4) ON CONFLICT (network, account_sha256) DO UPDATE SET \
         username = excluded.username, failures = login_failures.failures + 1, \
         last_failed_secs = excluded.last_failed_secs",
    )
    .bind(network)
    .bind(account_sha256)
    .bind(username)
    .bind(now_secs)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// Deletes the failures of an account from a network.
pub(in crate::auth) async fn delete(db: &Db, network: &str, account_sha256: &str) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM login_failures WHERE network = $1 AND account_sha256 = $2")
        .bind(network)
        .bind(account_sha256)
        .execute(db)
        .await?;
    Ok(())
}

/// Stores that an account logged in from a network, and deletes log-ins before `since_secs`.
pub(in crate::auth) async fn remember_login(
    db: &Db,
    user_id: &str,
    network: &str,
    now_secs: i64,
    since_secs: i64,
) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query("DELETE FROM login_networks WHERE last_login_secs < $1")
        .bind(since_secs)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "INSERT INTO login_networks (user_id, network, last_login_secs) VALUES ($1, $2, $3) \
         ON CONFLICT (user_id, network) DO UPDATE SET last_login_secs = excluded.last_login_secs",
    )
    .bind(user_id)
    .bind(network)
    .bind(now_secs)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

/// The failures of an account, of a network, or of an account from a network.
#[derive(Debug)]
pub(in crate::auth) struct Counter {
    /// The network, or `None` for all networks.
    pub network: Option<String>,
    /// SHA-256 of the account's name, or `None` for all accounts.
    pub account_sha256: Option<String>,
    /// The account's name; `None` for all accounts, or if no account has the name.
    pub username: Option<String>,
    /// The failures of this account and network.
    pub failures: Failures,
}

impl Counter {
    fn from_row(db_row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            network: db_row.try_get("network")?,
            account_sha256: db_row.try_get("account_sha256")?,
            username: db_row.try_get("username")?,
            failures: Failures::from_row(db_row)?,
        })
    }
}

/// Returns accounts with at least `min_count` failures from one network since `since_secs`. The
/// most recent failures come first, at most `limit`.
pub(in crate::auth) async fn read_accounts_at_networks(
    db: &Db,
    min_count: i64,
    since_secs: i64,
    limit: i64,
) -> Result<Vec<Counter>, sqlx::Error> {
    let sql = "SELECT f.network AS network, f.account_sha256 AS account_sha256, f.username AS username, \
         f.failures AS count, f.last_failed_secs AS last \
         FROM login_failures f WHERE f.failures >= $1 AND f.last_failed_secs >= $2 \
         ORDER BY f.last_failed_secs DESC, f.network, f.account_sha256 LIMIT $3";
    read_counters(db, sql, min_count, since_secs, limit).await
}

/// Returns networks from which at least `min_count` accounts failed since `since_secs` that never
/// logged in from there. The most recent failures come first, at most `limit`.
pub(in crate::auth) async fn read_networks(
    db: &Db,
    min_count: i64,
    since_secs: i64,
    limit: i64,
) -> Result<Vec<Counter>, sqlx::Error> {
    let sql = "SELECT network, CAST(NULL AS TEXT) AS account_sha256, CAST(NULL AS TEXT) AS username, \
         CAST(COUNT(*) AS BIGINT) AS count, CAST(MAX(last_failed_secs) AS BIGINT) AS last \
         FROM login_failures f WHERE f.last_failed_secs >= $2 AND NOT EXISTS (SELECT 1 FROM login_networks n \
         JOIN users u ON u.id = n.user_id WHERE u.username = f.username AND n.network = f.network) \
         GROUP BY network HAVING COUNT(*) >= $1 ORDER BY MAX(last_failed_secs) DESC, network LIMIT $3";
    read_counters(db, sql, min_count, since_secs, limit).await
}

/// Returns accounts with at least `min_count` failures since `since_secs` from networks that they
/// never logged in from. The most recent failures come first, at most `limit`.
pub(in crate::auth) async fn read_accounts(
    db: &Db,
    min_count: i64,
    since_secs: i64,
    limit: i64,
) -> Result<Vec<Counter>, sqlx::Error> {
    let sql = "SELECT CAST(NULL AS TEXT) AS network, f.account_sha256 AS account_sha256, \
         MAX(f.username) AS username, CAST(SUM(f.failures) AS BIGINT) AS count, \
         CAST(MAX(f.last_failed_secs) AS BIGINT) AS last \
         FROM login_failures f WHERE f.last_failed_secs >= $2 AND NOT EXISTS (SELECT 1 FROM login_networks n \
         JOIN users u ON u.id = n.user_id WHERE u.username = f.username AND n.network = f.network) \
         GROUP BY f.account_sha256 HAVING SUM(f.failures) >= $1 \
         ORDER BY MAX(f.last_failed_secs) DESC, f.account_sha256 LIMIT $3";
    read_counters(db, sql, min_count, since_secs, limit).await
}

pub(super) async fn read_counters(
    db: &Db,
    sql: &'static str,
    min_count: i64,
    since_secs: i64,
    limit: i64,
) -> Result<Vec<Counter>, sqlx::Error> {
    let db_rows = sqlx::query(sql).bind(min_count).bind(since_secs).bind(limit).fetch_all(db).await?;
    db_rows.iter().map(Counter::from_row).collect()
}

/// Deletes the failures of an account, from a network, or of an account from a network. An empty
/// text stands for all accounts or all networks. Returns the number of deleted entries.
pub(in crate::auth) async fn lift_throttle(
    db: &Db,
    network: &str,
    account_sha256: &str,
) -> Result<u64, sqlx::Error> {
    let query_result = sqlx::query(
        "DELETE FROM login_failures WHERE ($1 = '' OR network = $1) AND ($2 = '' OR account_sha256 = $2)",
    )
    .bind(network)
    .bind(account_sha256)
    .execute(db)
    .await?;
    Ok(query_result.rows_affected())
}

//! Connections to PostgreSQL, a database server that many processes can share.

use std::time::Duration;

use anyhow::Context as _;
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Row as _};

use super::DatabaseAddress;

/// Oldest supported version, in the form of `server_version_num`. Older versions get no more fixes.
const VERSION_MIN: i64 = 130_000;

/// Maximum time to connect to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of every connection. Statements, waits for locks and idle transactions have time
/// limits, so that a stuck process cannot block the others forever. The times are in milliseconds.
const SESSION_SETTINGS: [&str; 3] = [
    "SET default_transaction_isolation = 'read committed'",
    "SET statement_timeout = 60000",
    "SET idle_in_transaction_session_timeout = 120000",
];

/// Opens a connection without time limits, for the migrations. Also returns the address for the
/// pool.
pub(super) async fn open_first_connection(
    address: &DatabaseAddress,
) -> anyhow::Result<(String, AnyConnection)> {
    let url = address.reveal().to_owned();
    let mut connection = tokio::time::timeout(CONNECT_TIMEOUT, AnyConnection::connect(&url))
        .await
        .with_context(|| format!("no answer within {} seconds", CONNECT_TIMEOUT.as_secs()))??;
    let db_row = sqlx::query("SELECT CAST(current_setting('server_version_num') AS BIGINT)")
        .fetch_one(&mut connection)
        .await?;
    let version: i64 = db_row.try_get(0)?;
    anyhow::ensure!(
        version >= VERSION_MIN,
        "PostgreSQL {} is too old; version {} or later is required",
        version / 10_000,
        VERSION_MIN / 10_000
    );
    Ok((url, connection))
}

/// Applies the settings to a connection. It waits at most `wait_max` for a lock.
pub(super) async fn prepare(connection: &mut AnyConnection, wait_max: Duration) -> Result<(), sqlx::Error> {
    let lock_timeout = format!("SET lock_timeout = {}", wait_max.as_millis());
    sqlx::query(AssertSqlSafe(lock_timeout)).execute(&mut *connection).await?;
    for setting in SESSION_SETTINGS {
        sqlx::query(setting).execute(&mut *connection).await?;
    }
    Ok(())
}

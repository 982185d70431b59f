//! Opens and migrates the database.
//!
//! With the `Any` driver of `sqlx`, the same SQL texts and migrations serve SQLite and PostgreSQL.
//! They use `$1` placeholders, and only columns of the types TEXT, BIGINT and DOUBLE PRECISION.
//! Sums are cast to BIGINT, because PostgreSQL widens them. Statements must be correct under READ
//! COMMITTED, where other processes may write between any two statements. So a transaction first
//! writes the rows that must not change.

mod address;
mod copies;
mod drivers;
mod dump;
mod lease;
mod lock;
mod postgres;
mod reserve;
mod row_limits;
mod sqlite;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anyhow::Context as _;
use sqlx::any::AnyPoolOptions;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{AnyConnection, Connection as _};

pub use address::DatabaseAddress;
pub(crate) use copies::{copy_sqlite, find_faults, open_copy};
pub use drivers::install_drivers;
pub(crate) use dump::{Snapshot, is_empty, restore};
pub(crate) use lease::{delete_ended_leases, delete_lease, lease_holder, take_lease};
pub(crate) use lock::{Lock, LockedTransaction, begin_locked, lock};
pub use reserve::Reserve;
pub(crate) use reserve::truncate_log;
pub(crate) use row_limits::RowLimits;

/// A pool of connections to the database.
pub type Db = sqlx::AnyPool;

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// A file on this machine, used by one process.
    Sqlite,
    /// A server that many processes share.
    Postgres,
}

/// Returns the kind of the database `db`.
#[must_use]
pub fn kind(db: &Db) -> DatabaseKind {
    match db.connect_options().database_url.scheme() {
        "sqlite" => DatabaseKind::Sqlite,
        _ => DatabaseKind::Postgres,
    }
}

/// Additional time to wait for a connection, beyond the wait for a lock. The connections in use may
/// wait for a lock, and a new connection must be opened first.
const ACQUIRE_EXTRA: Duration = Duration::from_secs(5);

/// Size of a process's connection pool, and its maximum waits.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Maximum number of connections.
    pub connections_max: u32,
    /// Maximum wait for a lock of another connection, after which the answer is 503. The maximum
    /// wait for a connection is 5 s longer.
    pub wait_max: Duration,
}

impl PoolLimits {
    /// Returns limits with `connections_max` connections and the default of `SF_DATABASE_WAIT_MS`.
    #[must_use]
    pub const fn with_connections(connections_max: u32) -> Self {
        Self { connections_max, wait_max: Duration::from_secs(10) }
    }
}

/// Opens the database at `address` within these limits, and runs the migrations.
///
/// # Errors
/// If the database cannot be reached, is too old, or a migration fails. The error never contains
/// the password.
pub async fn open(address: &DatabaseAddress, limits: PoolLimits) -> anyhow::Result<Db> {
    install_drivers();
    let cannot_open = || cannot_open(address);
    // A single connection is opened first. A pool would retry for a while and then hide the cause
    // of a failure.
    let (url, first) = match address.kind() {
        DatabaseKind::Sqlite => sqlite::open_first_connection(address, limits.wait_max).await,
        DatabaseKind::Postgres => postgres::open_first_connection(address).await,
    }
    .with_context(cannot_open)?;
    migrate(first).await.with_context(cannot_open)?;
    pool(address, &url, limits).await.with_context(cannot_open)
}

/// Opens the database without migrating it. It must exist and have the schema version of this
/// program.
///
/// # Errors
/// Those of [`open`], and if the database is missing or has another schema version.
pub(crate) async fn open_existing(address: &DatabaseAddress, limits: PoolLimits) -> anyhow::Result<Db> {
    install_drivers();
    let cannot_open = || cannot_open(address);
    if let Some(file) = address.file() {
        std::fs::metadata(file).with_context(cannot_open)?;
    }
    // A single connection is opened first, as in `open`.
    let mut first = AnyConnection::connect(address.reveal()).await.with_context(cannot_open)?;
    let (found_version, newest) =
        (schema_version(&mut first).await.with_context(cannot_open)?, newest_schema_version());
    first.close().await.with_context(cannot_open)?;
    anyhow::ensure!(
        found_version == newest,
        "the database {address} has schema version {found_version}, and this program needs {newest}; use the program version \
         that the service runs"
    );
    pool(address, address.reveal(), limits).await.with_context(cannot_open)
}

fn cannot_open(address: &DatabaseAddress) -> String {
    format!("cannot open the database {address} (SF_DATABASE_URL)")
}

async fn pool(address: &DatabaseAddress, url: &str, limits: PoolLimits) -> Result<Db, sqlx::Error> {
    let PoolLimits { connections_max, wait_max } = limits;
    let (kind, file) = (address.kind(), address.file());
    let opened_identity = file.as_deref().and_then(sqlite::identity);
    let check = move || match &file {
        Some(file) if sqlite::identity(file) != opened_identity => {
            tracing::error!(file = %file.display(), "the file of the database was moved or replaced; move it back");
            Err(sqlx::Error::Io(std::io::ErrorKind::NotFound.into()))
        }
        _ => Ok(true),
    };
    let check_new = check.clone();
    AnyPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(wait_max.saturating_add(ACQUIRE_EXTRA))
        .before_acquire(move |_, _| {
            let check_result = check();
            Box::pin(async move { check_result })
        })
        .after_connect(move |connection, _| {
            let check_result = check_new();
            Box::pin(async move {
                check_result?;
                match kind {
                    DatabaseKind::Sqlite => sqlite::prepare(connection, wait_max).await,
                    DatabaseKind::Postgres => postgres::prepare(connection, wait_max).await,
                }
            })
        })
        .after_release(move |connection, _| {
            Box::pin(async move {
                Ok(kind == DatabaseKind::Postgres || sqlite::has_no_transaction(connection).await)
            })
        })
        .connect(url)
        .await
}

/// The migrations of the database.
static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Returns the newest schema version that this program supports.
#[must_use]
pub fn newest_schema_version() -> i64 {
    MIGRATIONS.iter().map(|step| step.version).max().unwrap_or_default()
}

/// Returns the schema version of a database, which is the number of its newest migration.
///
/// # Errors
/// If the query fails.
pub async fn schema_version<'c>(
    db: impl sqlx::Executor<'c, Database = sqlx::Any>,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT CAST(COALESCE(MAX(version), 0) AS BIGINT) FROM _sqlx_migrations")
        .fetch_one(db)
        .await
}

/// Migrates the database to the newest schema version. If several processes start at the same time,
/// one of them migrates. There are no migrations to older versions.
async fn migrate(mut connection: AnyConnection) -> anyhow::Result<()> {
    if let Err(error) = MIGRATIONS.run(&mut connection).await {
        let newest = newest_schema_version();
        if matches!(error, MigrateError::VersionMissing(_)) {
            let found_version =
                schema_version(&mut connection).await.context("cannot read the database's schema version")?;
            anyhow::ensure!(
                found_version <= newest,
                "the database has schema version {found_version}, written by a newer Songfoundry; this version ({}) supports up to \
                 {newest}. Start the newer one, or restore an older backup",
                env!("CARGO_PKG_VERSION")
            );
        }
        return Err(error).context("cannot migrate the database");
    }
    connection.close().await.context("cannot close a connection to the database")
}

/// Maximum wait of [`store_best_effort`].
const BEST_EFFORT_TIMEOUT: Duration = Duration::from_secs(2);

/// Writes data on which the request does not depend, such as the time of a log-in. A failure is
/// only logged, because a full disk or a locked database must not lock out users who could free
/// space.
pub(crate) async fn store_best_effort(subject: &str, writing: impl Future<Output = Result<(), sqlx::Error>>) {
    match tokio::time::timeout(BEST_EFFORT_TIMEOUT, writing).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot store {subject}"),
        Err(_) => tracing::warn!("cannot store {subject}: the database is busy"),
    }
}

/// Checks that the database answers.
///
/// # Errors
/// If the database does not answer.
pub async fn ping(db: &Db) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT 1").execute(db).await.map(|_| ())
}

/// Returns the size of the database on its disk, in bytes.
///
/// # Errors
/// If the query fails.
pub(crate) async fn measure_size_bytes(db: &Db) -> Result<u64, sqlx::Error> {
    let statement = match kind(db) {
        DatabaseKind::Sqlite => {
            "SELECT (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size())"
        }
        DatabaseKind::Postgres => "SELECT pg_database_size(current_database())",
    };
    let size_bytes: i64 = sqlx::query_scalar(statement).fetch_one(db).await?;
    Ok(u64::try_from(size_bytes).unwrap_or_default())
}

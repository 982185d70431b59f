//! The database: opening it safely and bringing it to the current form.
//!
//! `sqlx`'s `Any` driver stands between, so that one SQL text and one set of migrations serve
//! SQLite and PostgreSQL: `$1` placeholders, and TEXT, BIGINT and DOUBLE PRECISION columns only. A
//! sum is cast to BIGINT, since PostgreSQL widens it. Every statement must be right under READ
//! COMMITTED, with other processes at work between any two of them: what must not change meanwhile
//! is written first.

mod address;
mod copies;
mod dump;
mod lease;
mod lock;
mod postgres;
mod reserve;
mod sqlite;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anyhow::Context as _;
use sqlx::any::{AnyPoolOptions, install_default_drivers};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{AnyConnection, Connection as _};

pub use address::DatabaseAddress;
pub(crate) use copies::{copy_sqlite, faults, open_copy};
pub(crate) use dump::{Snapshot, is_empty, restore};
pub(crate) use lease::take_lease;
pub(crate) use lock::{Lock, Locked, begin_locked, lock};
pub use reserve::Reserve;
pub(crate) use reserve::truncate_log;

/// Connections to the database.
pub type Db = sqlx::AnyPool;

/// What kind of database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file of this machine, for one process.
    Sqlite,
    /// A server that many processes share.
    Postgres,
}

/// What kind of database is behind `db`.
#[must_use]
pub fn kind(db: &Db) -> Kind {
    match db.connect_options().database_url.scheme() {
        "sqlite" => Kind::Sqlite,
        _ => Kind::Postgres,
    }
}

/// How much longer than for a lock a request waits for a connection: those in use may wait for a
/// lock, and a new one must be made first.
const ACQUIRE_EXTRA: Duration = Duration::from_secs(5);

/// Connections to the database that one process keeps, and how long it waits for them.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Connections at most.
    pub connections_max: u32,
    /// Longest wait for a lock that another connection holds; then the answer is 503. A connection
    /// is waited for 5 s longer.
    pub wait_max: Duration,
}

impl PoolLimits {
    /// So many connections, waited for as long as `SF_DATABASE_WAIT_MS` says by default.
    #[must_use]
    pub const fn of(connections_max: u32) -> Self {
        Self { connections_max, wait_max: Duration::from_secs(10) }
    }
}

/// Opens the database at `address` within these limits, and runs the migrations.
///
/// # Errors
/// When it cannot be reached, is too old, or a migration fails. The text never holds the password.
pub async fn open(address: &DatabaseAddress, limits: PoolLimits) -> anyhow::Result<Db> {
    install_default_drivers();
    let cannot_open = || cannot_open(address);
    // One connection alone first: a pool tries for a while and then does not say why it cannot.
    let (url, first) = match address.kind() {
        Kind::Sqlite => sqlite::first_connection(address, limits.wait_max).await,
        Kind::Postgres => postgres::first_connection(address).await,
    }
    .with_context(cannot_open)?;
    migrate(first).await.with_context(cannot_open)?;
    pool(address, &url, limits).await.with_context(cannot_open)
}

/// The same for somebody who only looks at it: it must be there, and in the form that this program
/// knows.
///
/// # Errors
/// As [`open`]; and when it is missing or in another form, which is named.
pub(crate) async fn open_as_it_is(address: &DatabaseAddress, limits: PoolLimits) -> anyhow::Result<Db> {
    install_default_drivers();
    let cannot_open = || cannot_open(address);
    if let Some(file) = address.file() {
        std::fs::metadata(file).with_context(cannot_open)?;
    }
    // One connection alone first, as in `open`.
    let mut first = AnyConnection::connect(address.reveal()).await.with_context(cannot_open)?;
    let (found, newest) = (form(&mut first).await.with_context(cannot_open)?, newest_form());
    first.close().await.with_context(cannot_open)?;
    anyhow::ensure!(
        found == newest,
        "the database {address} is in form {found}, and this program knows form {newest}: use the program that the \
         service runs"
    );
    pool(address, address.reveal(), limits).await.with_context(cannot_open)
}

fn cannot_open(address: &DatabaseAddress) -> String {
    format!("cannot open the database {address} (SF_DATABASE_URL)")
}

async fn pool(address: &DatabaseAddress, url: &str, limits: PoolLimits) -> Result<Db, sqlx::Error> {
    let PoolLimits { connections_max, wait_max } = limits;
    let (kind, file) = (address.kind(), address.file());
    let opened = file.as_deref().and_then(sqlite::identity);
    let check = move || match &file {
        Some(file) if sqlite::identity(file) != opened => {
            tracing::error!(file = %file.display(), "the file of the database was moved or replaced; put it back");
            Err(sqlx::Error::Io(std::io::ErrorKind::NotFound.into()))
        }
        _ => Ok(true),
    };
    let check_new = check.clone();
    AnyPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(wait_max.saturating_add(ACQUIRE_EXTRA))
        .before_acquire(move |_, _| {
            let checked = check();
            Box::pin(async move { checked })
        })
        .after_connect(move |connection, _| {
            let checked = check_new();
            Box::pin(async move {
                checked?;
                match kind {
                    Kind::Sqlite => sqlite::prepare(connection, wait_max).await,
                    Kind::Postgres => postgres::prepare(connection, wait_max).await,
                }
            })
        })
        .after_release(move |connection, _| {
            Box::pin(async move { Ok(kind == Kind::Postgres || sqlite::is_at_rest(connection).await) })
        })
        .connect(url)
        .await
}

/// What brings a database to the current form, step by step.
static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Number of the newest form that this program knows.
#[must_use]
pub fn newest_form() -> i64 {
    MIGRATIONS.iter().map(|step| step.version).max().unwrap_or_default()
}

/// Number of the form that a database is in.
///
/// # Errors
/// What the database said instead.
pub async fn form<'c>(db: impl sqlx::Executor<'c, Database = sqlx::Any>) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT CAST(COALESCE(MAX(version), 0) AS BIGINT) FROM _sqlx_migrations")
        .fetch_one(db)
        .await
}

/// Brings the database to the current form. Of several processes that start at once, one does it.
/// Nothing ever brings it back to an older one.
async fn migrate(mut connection: AnyConnection) -> anyhow::Result<()> {
    if let Err(error) = MIGRATIONS.run(&mut connection).await {
        let newest = newest_form();
        if matches!(error, MigrateError::VersionMissing(_)) {
            let found = form(&mut connection).await.context("cannot read which form the database is in")?;
            anyhow::ensure!(
                found <= newest,
                "the database is in form {found}, made by a newer Songfoundry than this {}, which knows forms up to \
                 {newest}; start the newer one, or restore a backup from before",
                env!("CARGO_PKG_VERSION")
            );
        }
        return Err(error).context("cannot bring the database to the current form");
    }
    connection.close().await.context("cannot close a connection to the database")
}

/// Longest wait for something that a request only notes on its way.
const NOTE_WITHIN: Duration = Duration::from_secs(2);

/// Writes something that the request does not depend on, such as when somebody logged in: a full
/// disk or a locked database must not keep out those who could make room. A failure is logged.
pub(crate) async fn note(what: &str, writing: impl Future<Output = Result<(), sqlx::Error>>) {
    match tokio::time::timeout(NOTE_WITHIN, writing).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot write down {what}"),
        Err(_) => tracing::warn!("cannot write down {what}: the database is busy"),
    }
}

/// Whether the database answers.
///
/// # Errors
/// What the database said instead.
pub async fn ping(db: &Db) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT 1").execute(db).await.map(|_| ())
}

/// What the database takes on its disk, in bytes.
///
/// # Errors
/// What the database said instead.
pub(crate) async fn size_bytes(db: &Db) -> Result<u64, sqlx::Error> {
    let statement = match kind(db) {
        Kind::Sqlite => {
            "SELECT (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size())"
        }
        Kind::Postgres => "SELECT pg_database_size(current_database())",
    };
    let size_bytes: i64 = sqlx::query_scalar(statement).fetch_one(db).await?;
    Ok(u64::try_from(size_bytes).unwrap_or_default())
}

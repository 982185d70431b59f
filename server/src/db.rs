//! The database: opening it safely and bringing it to the current form.
//!
//! `sqlx`'s `Any` driver stands between, so that one SQL text and one set of migrations serve every
//! database: `$1` placeholders, and TEXT, BIGINT and DOUBLE PRECISION columns only.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use sqlx::Row as _;
use sqlx::any::{AnyPoolOptions, install_default_drivers};
use sqlx::{AnyConnection, Connection as _};

/// Connections to the database.
pub type Db = sqlx::AnyPool;

/// SQLite before this version can lose committed writes when a WAL is reset.
const SQLITE_MIN: [u64; 3] = [3, 51, 3];

/// What every connection is told. The busy time-out (10 s) comes first, since switching to WAL may have to wait.
const CONNECTION_PRAGMAS: [&str; 4] = [
    "PRAGMA busy_timeout = 10000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
];

/// Opens `url`, creating the file if needed, and runs the migrations.
///
/// Every connection works with a write-ahead log and `synchronous = FULL`: a commit has reached the
/// disk before it is acknowledged. So that two writers never meet halfway, every transaction that
/// writes begins with its write.
///
/// # Errors
/// When the file cannot be opened, SQLite is too old, or a migration fails.
pub async fn open(url: &str) -> anyhow::Result<Db> {
    install_default_drivers();
    let file = sqlite_file(url);
    if let Some(dir) = Path::new(file).parent().filter(|dir| !dir.as_os_str().is_empty()) {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    }
    let address = if url.contains('?') { url.to_owned() } else { format!("{url}?mode=rwc") };
    let cannot_open = || format!("cannot open the database {file} (SF_DATABASE_URL)");
    make_private(Path::new(file)).with_context(cannot_open)?;
    // One connection alone first: a pool tries for a while and then does not say why it cannot.
    let mut first = AnyConnection::connect(&address).await.with_context(cannot_open)?;
    prepare(&mut first).await.with_context(cannot_open)?;
    let pool = AnyPoolOptions::new()
        .max_connections(8)
        .acquire_timeout(Duration::from_secs(15))
        .after_connect(|connection, _| Box::pin(prepare(connection)))
        .connect(&address)
        .await
        .with_context(cannot_open)?;
    first.close().await.with_context(cannot_open)?;
    check_version(&pool).await?;
    sqlx::migrate!("./migrations")
        .run(&pool)
        .await
        .context("cannot bring the database to the current form")?;
    Ok(pool)
}

/// Tells a connection how to work.
async fn prepare(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    for pragma in CONNECTION_PRAGMAS {
        sqlx::query(pragma).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Makes the database file, if there is none, for this user's eyes only: it holds password hashes.
/// SQLite gives the files beside it the same mode.
fn make_private(file: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Whether the database answers.
///
/// # Errors
/// What the database said instead.
pub async fn ping(db: &Db) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT 1").execute(db).await.map(|_| ())
}

fn sqlite_file(url: &str) -> &str {
    let rest = url.trim_start_matches("sqlite:").trim_start_matches("//");
    rest.split('?').next().unwrap_or(rest)
}

async fn check_version(pool: &Db) -> anyhow::Result<()> {
    let version: String = sqlx::query("SELECT sqlite_version()").fetch_one(pool).await?.try_get(0)?;
    anyhow::ensure!(
        is_recent_enough(&version),
        "SQLite {version} is too old: {}.{}.{} or later is needed to keep every acknowledged save",
        SQLITE_MIN[0],
        SQLITE_MIN[1],
        SQLITE_MIN[2]
    );
    Ok(())
}

fn is_recent_enough(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u64>().unwrap_or(0));
    let given = [(); 3].map(|()| numbers.next().unwrap_or(0));
    given >= SQLITE_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        for (version, recent) in
            [("3.51.3", true), ("3.51.10", true), ("3.52.0", true), ("3.51.2", false), ("3.9.99", false)]
        {
            assert_eq!(is_recent_enough(version), recent, "{version}");
        }
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named_at_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.db");
        std::fs::write(&path, "garbage".repeat(1000)).expect("writes");
        let url = format!("sqlite:{}", path.display());
        let outcome =
            tokio::time::timeout(Duration::from_secs(5), open(&url)).await.expect("an answer in time");
        let text = format!("{:#}", outcome.expect_err("no database"));
        assert!(text.contains("x.db (SF_DATABASE_URL)") && text.contains("not a database"), "{text}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nobody_else_reads_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.db");
        let db = open(&format!("sqlite:{}", path.display())).await.expect("opens");
        for name in ["x.db", "x.db-wal"] {
            let facts = std::fs::metadata(dir.path().join(name)).expect("the file");
            assert_eq!(facts.permissions().mode() & 0o077, 0, "{name}");
        }
        db.close().await;
    }

    #[tokio::test]
    async fn every_connection_writes_through_to_the_disk() {
        let dir = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite:{}", dir.path().join("deep/er/x.db").display());
        let db = open(&url).await.expect("opens and makes the folders");
        let mut held = Vec::new();
        for _ in 0..3 {
            let mut connection = db.acquire().await.expect("a connection");
            let mode: String =
                sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *connection).await.unwrap();
            let synchronous: i64 =
                sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut *connection).await.unwrap();
            assert_eq!((mode.as_str(), synchronous), ("wal", 2));
            held.push(connection);
        }
    }
}

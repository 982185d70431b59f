//! Connections to SQLite, a database in a file on this machine.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Row as _};

use super::DatabaseAddress;

/// Oldest version of SQLite that is accepted. Older versions can lose committed writes when the
/// write-ahead log (WAL) is reset.
const VERSION_MIN: [u64; 3] = [3, 51, 3];

/// Pragmas of every connection. They are set after the connection's busy time-out.
///
/// With `synchronous = FULL`, a commit is on the disk before it is acknowledged. Every writing
/// transaction begins with a write, so that no other transaction can write between its reads and
/// writes.
const CONNECTION_PRAGMAS: [&str; 3] =
    ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"];

/// Device and inode of a file, or `None` if there is no file.
pub(super) type Identity = Option<(u64, u64)>;

/// Returns the identity of the file that has this path now.
#[cfg(unix)]
pub(super) fn identity(file: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(file).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Returns `None`, because other operating systems do not let a file in use be moved.
#[cfg(not(unix))]
pub(super) fn identity(_: &Path) -> Identity {
    None
}

/// Opens a prepared connection, and returns the address for the pool. Creates the file and its
/// folder if needed. The pool never creates the file. Otherwise, if the file were moved away by
/// mistake, writes would go to a new file and be lost.
pub(super) async fn open_first_connection(
    address: &DatabaseAddress,
    wait_max: Duration,
) -> anyhow::Result<(String, AnyConnection)> {
    let url = address.reveal();
    let file = address.file().unwrap_or_default();
    if let Some(dir) = file.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        std::fs::create_dir_all(dir)
            .with_context(|| format!("cannot create the folder {}", dir.display()))?;
    }
    create_private_file(&file)?;
    let with_mode = |mode: &str| match url.contains('?') {
        true => url.to_owned(),
        false => format!("{url}?mode={mode}"),
    };
    let mut connection = AnyConnection::connect(&with_mode("rwc")).await?;
    prepare(&mut connection, wait_max).await?;
    check_version(&mut connection).await?;
    Ok((with_mode("rw"), connection))
}

/// Applies the settings to a connection. The busy time-out, `wait_max`, is set first, because the
/// switch to WAL may have to wait.
pub(super) async fn prepare(connection: &mut AnyConnection, wait_max: Duration) -> Result<(), sqlx::Error> {
    let busy_timeout = format!("PRAGMA busy_timeout = {}", wait_max.as_millis());
    sqlx::query(AssertSqlSafe(busy_timeout)).execute(&mut *connection).await?;
    for pragma in CONNECTION_PRAGMAS {
        sqlx::query(pragma).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Whether a connection that returns to the pool has no open transaction. SQLite ends a transaction
/// itself when the disk is full, which the driver does not notice. The driver would then nest the
/// next transaction and leave it open, and the connection could read only an old state.
pub(super) async fn has_no_transaction(connection: &mut AnyConnection) -> bool {
    sqlx::query("ROLLBACK").execute(connection).await.is_err()
}

/// Creates the database file if it is missing. Only its owner can access it, because it contains
/// password hashes. SQLite gives its other files the same permissions.
fn create_private_file(file: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

async fn check_version(connection: &mut AnyConnection) -> anyhow::Result<()> {
    let version: String = sqlx::query("SELECT sqlite_version()").fetch_one(connection).await?.try_get(0)?;
    anyhow::ensure!(
        is_recent_enough(&version),
        "SQLite {version} is too old; {}.{}.{} or later is required, so that no acknowledged save is lost",
        VERSION_MIN[0],
        VERSION_MIN[1],
        VERSION_MIN[2]
    );
    Ok(())
}

fn is_recent_enough(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u64>().unwrap_or(0));
    let actual = [(); 3].map(|()| numbers.next().unwrap_or(0));
    actual >= VERSION_MIN
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
}

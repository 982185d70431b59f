//! SQLite: a file of this machine.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Row as _};

use super::DatabaseAddress;

/// SQLite before this version can lose committed writes when a WAL is reset.
const VERSION_MIN: [u64; 3] = [3, 51, 3];

/// Pragmas of every connection, after its busy time-out.
///
/// With `synchronous = FULL` a commit is on the disk before it is acknowledged. Every writing
/// transaction begins with its write, so that no other can write between its reads and writes.
const CONNECTION_PRAGMAS: [&str; 3] =
    ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"];

/// Device and inode of a file; `None` if there is no file.
pub(super) type Identity = Option<(u64, u64)>;

/// The file that has this path now.
#[cfg(unix)]
pub(super) fn identity(file: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(file).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Other systems do not let a file in use be moved.
#[cfg(not(unix))]
pub(super) fn identity(_: &Path) -> Identity {
    None
}

/// A prepared connection, and the address for the pool. This creates the file and its folder if
/// needed. The pool never does: if the file were moved away by mistake, writes to a new one would
/// be lost.
pub(super) async fn first_connection(
    address: &DatabaseAddress,
    wait_max: Duration,
) -> anyhow::Result<(String, AnyConnection)> {
    let url = address.reveal();
    let file = address.file().unwrap_or_default();
    if let Some(dir) = file.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    }
    make_private(&file)?;
    let with_mode = |mode: &str| match url.contains('?') {
        true => url.to_owned(),
        false => format!("{url}?mode={mode}"),
    };
    let mut connection = AnyConnection::connect(&with_mode("rwc")).await?;
    prepare(&mut connection, wait_max).await?;
    check_version(&mut connection).await?;
    Ok((with_mode("rw"), connection))
}

/// Applies the settings to a connection. The busy time-out, `wait_max`, comes first, since the
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
/// by itself when the disk is full, of which the driver knows nothing. It would then nest the next
/// transaction and leave it open, and the connection could only read an old state.
pub(super) async fn has_no_transaction(connection: &mut AnyConnection) -> bool {
    sqlx::query("ROLLBACK").execute(connection).await.is_err()
}

/// Creates the database file if it is missing, with access for its owner only: it holds password
/// hashes. SQLite gives its other files the same mode.
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

async fn check_version(connection: &mut AnyConnection) -> anyhow::Result<()> {
    let version: String = sqlx::query("SELECT sqlite_version()").fetch_one(connection).await?.try_get(0)?;
    anyhow::ensure!(
        is_recent_enough(&version),
        "SQLite {version} is too old: {}.{}.{} or later is needed to keep every acknowledged save",
        VERSION_MIN[0],
        VERSION_MIN[1],
        VERSION_MIN[2]
    );
    Ok(())
}

fn is_recent_enough(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u64>().unwrap_or(0));
    let given = [(); 3].map(|()| numbers.next().unwrap_or(0));
    given >= VERSION_MIN
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

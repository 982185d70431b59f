//! Work that only one process may do at a time.

use sqlx::{Any, Transaction};

use super::{Db, Kind, kind};

/// Held while one process does something that others must not do meanwhile. Dropped, or with its process
/// gone, it is free again.
#[derive(Debug)]
#[must_use = "the lock is let go when this is dropped"]
pub(crate) struct Lock {
    /// `None` on SQLite: one process alone uses its file, which the storage folder's lock sees to.
    held: Option<Transaction<'static, Any>>,
}

impl Lock {
    /// Lets go at once. Dropped instead, it is let go soon after, and needs a thread of the runtime.
    pub(crate) async fn release(mut self) {
        if let Some(held) = self.held.take()
            && let Err(error) = held.rollback().await
        {
            // The connection is closed then, which lets go as well.
            tracing::warn!(%error, "a lock was let go by closing its connection");
        }
    }
}

/// Waits until no other process holds the lock of this name, and takes it. Threads of this process that
/// want the same must agree among themselves before, since each lock keeps a connection.
///
/// # Errors
/// When the database refuses, or another process holds it for too long.
pub(crate) async fn lock(db: &Db, name: &str) -> Result<Lock, sqlx::Error> {
    let held = match kind(db) {
        Kind::Sqlite => None,
        Kind::Postgres => {
            let mut transaction = db.begin().await?;
            take(&mut transaction, name).await?;
            Some(transaction)
        }
    };
    Ok(Lock { held })
}

/// Begins a transaction that holds the lock of this name to its end.
///
/// # Errors
/// As [`lock`].
pub(crate) async fn begin_locked(db: &Db, name: &str) -> Result<Transaction<'static, Any>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    if kind(db) == Kind::Postgres {
        take(&mut transaction, name).await?;
    }
    Ok(transaction)
}

async fn take(connection: &mut sqlx::AnyConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind(format!("songfoundry {name}"))
        .execute(connection)
        .await?;
    Ok(())
}

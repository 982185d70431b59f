//! Work that only one process may do at a time.

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use sqlx::{Any, AnyConnection, Transaction};

use super::{Db, Kind, kind};
use crate::turns::{Turn, Turns};

/// Held while one process does something that others must not do meanwhile. Dropped, or with its
/// process gone, it is free again.
#[derive(Debug)]
#[must_use = "the lock is let go when this is dropped"]
pub(crate) struct Lock {
    /// `None` on SQLite: one process alone uses its file, which the storage folder's lock sees to.
    held: Option<Transaction<'static, Any>>,
}

impl Lock {
    /// Lets go at once. Dropped instead, it is let go soon after, and needs a thread of the
    /// runtime.
    pub(crate) async fn release(mut self) {
        if let Some(held) = self.held.take()
            && let Err(error) = held.rollback().await
        {
            // The connection is closed then, which lets go as well.
            tracing::warn!(%error, "a lock was let go by closing its connection");
        }
    }
}

/// Waits until no other process holds the lock of this name, and takes it. Threads of this process
/// that want the same must agree among themselves before, since each lock keeps a connection.
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

/// A transaction that holds a lock to its end.
#[derive(Debug)]
pub(crate) struct Locked {
    transaction: Transaction<'static, Any>,
    /// Let go after the transaction.
    _turn: Turn,
}

impl Locked {
    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await
    }

    pub(crate) async fn rollback(self) -> Result<(), sqlx::Error> {
        self.transaction.rollback().await
    }
}

impl Deref for Locked {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.transaction
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }
}

/// Who begins a transaction with a lock in this process: those who wait for the same lock hold no
/// connections, which others read by meanwhile.
static BEGINNING: LazyLock<Turns> = LazyLock::new(|| Turns::new(1));

/// Begins a transaction that holds the lock of this name to its end. On SQLite, where one
/// transaction writes at a time, all names share one lock.
///
/// # Errors
/// As [`lock`].
pub(crate) async fn begin_locked(db: &Db, name: &str) -> Result<Locked, sqlx::Error> {
    let (kind, url) = (kind(db), db.connect_options().database_url.to_string());
    let key = match kind {
        Kind::Sqlite => url,
        Kind::Postgres => format!("{url} {name}"),
    };
    let turn = BEGINNING.wait(key, db.options().get_acquire_timeout()).await;
    let turn = turn.ok_or(sqlx::Error::PoolTimedOut)?;
    let mut transaction = db.begin().await?;
    if kind == Kind::Postgres {
        take(&mut transaction, name).await?;
    }
    Ok(Locked { transaction, _turn: turn })
}

async fn take(connection: &mut AnyConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind(format!("songfoundry {name}"))
        .execute(connection)
        .await?;
    Ok(())
}

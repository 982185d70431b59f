//! Locks that let only one process at a time do some work.

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;
use std::time::Instant;

use sqlx::{Any, AnyConnection, Transaction};

use super::{DatabaseKind, Db, kind};
use crate::turns::{Turn, Turns};

/// A lock between processes. It is released when it is dropped or the process ends.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub(crate) struct Lock {
    /// `None` on SQLite: the lock of the storage folder ensures that only one process uses the
    /// file.
    transaction: Option<Transaction<'static, Any>>,
}

impl Lock {
    /// Releases the lock before it returns. A dropped lock is released soon afterwards by the
    /// runtime.
    pub(crate) async fn release(mut self) {
        if let Some(transaction) = self.transaction.take()
            && let Err(error) = transaction.rollback().await
        {
            // The failed connection is closed, which also releases the lock.
            tracing::warn!(%error, "a lock was released by closing its connection");
        }
    }
}

/// Waits until no other process has the lock `name`, and takes it. Threads of this process must
/// take a local lock first, because each waiting lock occupies a connection.
///
/// # Errors
/// If the database refuses, or another process has the lock for too long.
pub(crate) async fn lock(db: &Db, name: &str) -> Result<Lock, sqlx::Error> {
    let transaction = match kind(db) {
        DatabaseKind::Sqlite => None,
        DatabaseKind::Postgres => {
            let mut transaction = db.begin().await?;
            take_advisory_lock(&mut transaction, name).await?;
            Some(transaction)
        }
    };
    Ok(Lock { transaction })
}

/// A transaction that has a lock until the transaction ends.
#[derive(Debug)]
pub(crate) struct LockedTransaction {
    transaction: Transaction<'static, Any>,
    /// Released after the transaction, because fields are dropped in their order.
    _turns: Vec<Turn>,
}

impl LockedTransaction {
    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await
    }

    pub(crate) async fn rollback(self) -> Result<(), sqlx::Error> {
        self.transaction.rollback().await
    }
}

impl Deref for LockedTransaction {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.transaction
    }
}

impl DerefMut for LockedTransaction {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }
}

/// Turns of the threads that begin a locked transaction. Threads that wait for the same lock use no
/// connection, so that readers can use all connections.
static LOCK_TURNS: LazyLock<Turns> = LazyLock::new(|| Turns::new(1));

/// Begins a transaction that has the lock `name` until the transaction ends.
///
/// On SQLite, only one transaction writes at a time, so all names also share one lock. A
/// transaction first waits for the lock of its name. Therefore only one transaction of each name
/// waits for the shared lock, and the many requests of one user do not delay other users.
///
/// # Errors
/// Those of [`lock`].
pub(crate) async fn begin_locked(db: &Db, name: &str) -> Result<LockedTransaction, sqlx::Error> {
    let (kind, url) = (kind(db), db.connect_options().database_url.to_string());
    let of_name = format!("{url} {name}");
    let turn_keys = match kind {
        DatabaseKind::Sqlite => vec![of_name, url],
        DatabaseKind::Postgres => vec![of_name],
    };
    let (began, longest_wait) = (Instant::now(), db.options().get_acquire_timeout());
    let mut turns = Vec::with_capacity(turn_keys.len());
    for turn_key in turn_keys {
        let turn = LOCK_TURNS.wait(turn_key, longest_wait.saturating_sub(began.elapsed())).await;
        turns.push(turn.ok_or(sqlx::Error::PoolTimedOut)?);
    }
    let mut transaction = db.begin().await?;
    if kind == DatabaseKind::Postgres {
        take_advisory_lock(&mut transaction, name).await?;
    }
    Ok(LockedTransaction { transaction, _turns: turns })
}

async fn take_advisory_lock(connection: &mut AnyConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind(format!("songfoundry {name}"))
        .execute(connection)
        .await?;
    Ok(())
}

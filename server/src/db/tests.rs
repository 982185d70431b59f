//! Tests of opening, locking and migrating databases.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::*;
use crate::error::ApiError;
use crate::test_database::TestDatabase;

async fn open_sqlite(url: &str) -> anyhow::Result<Db> {
    open(&DatabaseAddress::parse(url).expect("an address"), PoolLimits::with_connections(8)).await
}

#[tokio::test]
async fn opening_a_file_that_is_not_a_database_fails_immediately_and_names_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x.db");
    std::fs::write(&path, "garbage".repeat(1000)).expect("writes");
    let url = format!("sqlite:{}", path.display());
    let outcome =
        tokio::time::timeout(Duration::from_secs(5), open_sqlite(&url)).await.expect("an answer in time");
    let text = format!("{:#}", outcome.expect_err("no database"));
    assert!(text.contains("x.db (SF_DATABASE_URL)") && text.contains("not a database"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_the_database() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x.db");
    let db = open_sqlite(&format!("sqlite:{}", path.display())).await.expect("opens");
    for name in ["x.db", "x.db-wal"] {
        let metadata = std::fs::metadata(dir.path().join(name)).expect("the file");
        assert_eq!(metadata.permissions().mode() & 0o077, 0, "{name}");
    }
    db.close().await;
}

#[tokio::test]
async fn every_connection_syncs_its_commits() {
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", dir.path().join("deep/er/x.db").display());
    let db = open_sqlite(&url).await.expect("opens and makes the folders");
    let mut connections = Vec::new();
    for _ in 0..3 {
        let mut connection = db.acquire().await.expect("a connection");
        let mode: String =
            sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *connection).await.unwrap();
        let synchronous: i64 =
            sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut *connection).await.unwrap();
        assert_eq!((mode.as_str(), synchronous), ("wal", 2));
        connections.push(connection);
    }
}

#[tokio::test]
async fn a_connection_with_an_open_transaction_is_not_used_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", dir.path().join("x.db").display());
    let db = open(&DatabaseAddress::parse(&url).expect("an address"), PoolLimits::with_connections(1))
        .await
        .expect("opens");
    let mut connection = db.acquire().await.expect("a connection");
    // The driver does not know about this transaction. Likewise, it does not notice when SQLite
    // ends a transaction itself.
    sqlx::query("BEGIN").execute(&mut *connection).await.expect("begins");
    schema_version(&mut *connection).await.expect("reads, which fixes the state that the transaction sees");
    drop(connection);
    sqlx::query("BEGIN").execute(&db).await.expect("a connection without a transaction");
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_the_password() {
    // No server listens on port 1.
    let address = DatabaseAddress::parse("postgres://ada:hunter2@127.0.0.1:1/songs").expect("an address");
    let begun = Instant::now();
    let text = format!("{:#}", open(&address, PoolLimits::with_connections(8)).await.expect_err("no server"));
    assert!(text.contains("postgres://127.0.0.1:1/songs (SF_DATABASE_URL)"), "{text}");
    assert!(!text.contains("hunter2") && begun.elapsed() < Duration::from_secs(20), "{text}");
}

/// On PostgreSQL, the second process waits until the first process releases the lock.
#[tokio::test(flavor = "multi_thread")]
async fn only_one_process_at_a_time_has_a_lock() {
    let database = TestDatabase::make().await;
    let (first, second) = (database.open().await, database.open().await);
    let first_lock = lock(&first, "a test").await.expect("takes the lock");
    let waiting = tokio::spawn(async move { lock(&second, "a test").await.map(drop) });
    tokio::time::sleep(Duration::from_millis(150)).await;
    // SQLite is used by only one process, so it needs no lock between processes.
    assert_eq!(waiting.is_finished(), kind(&first) == DatabaseKind::Sqlite);
    let other_lock = lock(&first, "another test").await.expect("another name is free");
    drop((first_lock, other_lock));
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .expect("the second process gets the lock in time")
        .expect("no panic")
        .expect("takes the lock");
}

#[tokio::test]
async fn waiting_for_a_lock_occupies_no_connection() {
    let database = TestDatabase::make().await;
    let db = database.open().await;
    let name = "a lock";
    let first = begin_locked(&db, name).await.expect("the lock is free");
    let waiting: Vec<_> = (0..3 * db.options().get_max_connections())
        .map(|_| {
            let db = db.clone();
            tokio::spawn(async move { begin_locked(&db, name).await?.rollback().await })
        })
        .collect();
    for _ in 0..10 {
        tokio::task::yield_now().await;
        ping(&db).await.expect("a connection for readers");
    }
    assert!(waiting.iter().all(|task| !task.is_finished()));
    first.rollback().await.expect("releases the lock");
    for task in waiting {
        task.await.expect("the task ends").expect("the task gets the lock");
    }
}

#[tokio::test]
async fn many_transactions_with_a_lock_do_not_delay_one_with_another_lock() {
    let database = TestDatabase::make().await;
    let db = database.open().await;
    let begun = Arc::new(Mutex::new(Vec::new()));
    let first = begin_locked(&db, "ada").await.expect("the lock is free");
    let begin = |name: &'static str| {
        let (db, begun) = (db.clone(), Arc::clone(&begun));
        tokio::spawn(async move {
            let locked = begin_locked(&db, name).await?;
            begun.lock().expect("a lock").push(name);
            locked.rollback().await
        })
    };
    let waiting: Vec<_> = (0..5).map(|_| begin("ada")).collect();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let mut bob = Some(begin("bob"));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    // On PostgreSQL, the other lock is free.
    if kind(&db) == DatabaseKind::Postgres
        && let Some(bob) = bob.take()
    {
        bob.await.expect("the task ends").expect("the task gets the lock");
    }
    first.rollback().await.expect("releases the lock");
    for task in waiting.into_iter().chain(bob) {
        task.await.expect("the task ends").expect("the task gets the lock");
    }
    assert_eq!(begun.lock().expect("a lock").iter().position(|name| *name == "bob"), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_migrated_only_once() {
    let database = TestDatabase::empty().await;
    // The lock of the storage folder lets only one process use an SQLite file.
    let processes = if database.url.starts_with("sqlite:") { 1 } else { 3 };
    for _ in 0..2 {
        let opening = (0..processes).map(|_| database.open());
        for db in futures_util::future::join_all(opening).await {
            ping(&db).await.expect("answers");
            db.close().await;
        }
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let database = TestDatabase::make().await;
    let db = database.open().await;
    let newest_version = newest_schema_version();
    assert_eq!(schema_version(&db).await.expect("reads"), newest_version);
    let copy_a_step = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
        SELECT $1, description, success, checksum, execution_time FROM _sqlx_migrations WHERE version = 1";
    sqlx::query(copy_a_step).bind(newest_version + 7).execute(&db).await.expect("writes");
    db.close().await;
    let address = DatabaseAddress::parse(&database.url).expect("an address");
    let text = format!("{:#}", open(&address, PoolLimits::with_connections(8)).await.expect_err("too new"));
    for part in [
        "SF_DATABASE_URL",
        &format!("schema version {}", newest_version + 7),
        &format!("up to {newest_version}"),
    ] {
        assert!(text.contains(part), "`{text}` does not contain `{part}`");
    }
}

#[tokio::test]
async fn database_errors_become_answers_with_a_matching_status() {
    let database = TestDatabase::make().await;
    let db = database.open().await;
    let status_and_code = async |statement: &str| {
        let statement = sqlx::AssertSqlSafe(statement.to_owned());
        let error = sqlx::query(statement).execute(&db).await.expect_err("refused");
        let answer = ApiError::from(error);
        (answer.status().as_u16(), answer.code())
    };
    assert_eq!(status_and_code("INSERT INTO seeds (name) VALUES ('x')").await, (500, "internal"));
    if kind(&db) == DatabaseKind::Postgres {
        for (code, expected) in [
            ("53100", (507, "storage_full")),
            ("40P01", (503, "database_busy")),
            ("57014", (503, "database_busy")),
            ("57P01", (503, "database_unreachable")),
        ] {
            let raise = format!("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$");
            assert_eq!(status_and_code(&raise).await, expected, "{code}");
        }
    }
}

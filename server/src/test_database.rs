//! Databases for tests: each test has a new one.
//!
//! The databases are SQLite files, unless `SF_TEST_DATABASE_URL` names a PostgreSQL server, as in
//! `scripts/with-postgres`. On PostgreSQL each database is a copy of a template, because a copy is
//! faster than running all migrations.

use sqlx::{AnyConnection, Connection as _};
use std::time::Duration;

use tokio::sync::OnceCell;

use crate::db::{self, DatabaseAddress, Db, PoolLimits};
use crate::tasks::Queue;

/// A database that only one test uses.
pub(crate) struct TestDatabase {
    pub(crate) url: String,
    /// The folder of the SQLite file; `None` for PostgreSQL.
    _folder: Option<tempfile::TempDir>,
}

impl TestDatabase {
    /// Makes a database with all migrations.
    pub(crate) async fn make() -> Self {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let Some(server) = server() else { return Self::file() };
        let template = TEMPLATE
            .get_or_init(|| async {
                let template = Self::on_server(&server, "template0").await;
                let name = template.url.clone();
                template.open().await.close().await;
                let address = DatabaseAddress::parse(&name).expect("a database address");
                Queue::open(&address, Duration::from_secs(15))
                    .await
                    .expect("makes the queue's tables")
                    .close()
                    .await;
                name
            })
            .await;
        Self::on_server(&server, database_name(template)).await
    }

    /// Makes a database without tables.
    pub(crate) async fn empty() -> Self {
        match server() {
            Some(server) => Self::on_server(&server, "template0").await,
            None => Self::file(),
        }
    }

    fn file() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = format!("sqlite:{}", folder.path().join("songfoundry.db").display());
        Self { url, _folder: Some(folder) }
    }

    async fn on_server(server: &str, template: &str) -> Self {
        db::install_drivers();
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        let mut connection =
            AnyConnection::connect(server).await.expect("the PostgreSQL server of the tests");
        let create_statement = format!("CREATE DATABASE {name} TEMPLATE {template}");
        sqlx::query(sqlx::AssertSqlSafe(create_statement))
            .execute(&mut connection)
            .await
            .expect("creates a database");
        connection.close().await.expect("closes the connection");
        Self { url: server.replacen("/postgres?", &format!("/{name}?"), 1), _folder: None }
    }

    /// Takes the write lock in a separate connection.
    pub(crate) async fn lock_writes(&self) -> WriteLock {
        let statements: &[&str] = match server() {
            None => &["BEGIN IMMEDIATE"],
            Some(_) => &[
                "BEGIN",
                "LOCK TABLE tasks, projects, project_revisions, song_autosaves, audio_contents, audio_files, \
                 audio_uploads, audio_deleted_files IN EXCLUSIVE MODE",
            ],
        };
        let mut connection = AnyConnection::connect(&self.url).await.expect("connects to the database");
        for statement in statements {
            sqlx::query(sqlx::AssertSqlSafe(*statement))
                .execute(&mut connection)
                .await
                .expect("takes the lock");
        }
        WriteLock(connection)
    }

    /// Opens the database like a process of the service does.
    pub(crate) async fn open(&self) -> Db {
        db::open(
            &DatabaseAddress::parse(&self.url).expect("a database address"),
            PoolLimits::with_connections(8),
        )
        .await
        .expect("opens the database")
    }
}

/// A transaction that blocks the writes of other connections, but not their reads.
pub(crate) struct WriteLock(AnyConnection);

impl WriteLock {
    /// Ends the transaction, after which other connections can write again.
    pub(crate) async fn release(mut self) {
        sqlx::query("ROLLBACK").execute(&mut self.0).await.expect("ends the transaction");
        self.0.close().await.expect("closes the connection");
    }
}

/// Returns the address of the PostgreSQL server for tests. The address names the database
/// `postgres` and at least one option.
fn server() -> Option<String> {
    std::env::var("SF_TEST_DATABASE_URL").ok().filter(|url| !url.is_empty())
}

fn database_name(url: &str) -> &str {
    let path = url.split('?').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

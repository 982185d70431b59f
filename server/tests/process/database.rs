//! A PostgreSQL database for each storage folder, if `scripts/with-postgres` runs the tests.

use std::path::Path;

use sqlx::{AnyConnection, Connection as _};

/// Returns the address of the database of a storage folder. The database is created on first use.
/// `None` if the service uses SQLite in its storage folder.
pub(crate) fn postgres_address(storage: &Path) -> Option<String> {
    let server = std::env::var("SF_TEST_DATABASE_URL").ok().filter(|url| !url.is_empty())?;
    // The temporary folder that contains the storage folder has a unique name.
    let folder = storage.parent().and_then(Path::file_name).expect("a folder above").to_string_lossy();
    let name: String = folder.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = format!("process_{name}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(create(&server, &name));
    Some(server.replacen("/postgres?", &format!("/{name}?"), 1))
}

async fn create(server: &str, name: &str) {
    songfoundry_server::db::install_drivers();
    let mut connection = AnyConnection::connect(server).await.expect("the test's PostgreSQL");
    let create_result = sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE \"{name}\"")))
        .execute(&mut connection)
        .await;
    if let Err(error) = create_result {
        // The code of `duplicate_database`: an earlier start has created the database.
        let code = error.as_database_error().and_then(|error| error.code().map(|code| code.into_owned()));
        assert_eq!(code.as_deref(), Some("42P04"), "{error}");
    }
    connection.close().await.expect("closes");
}

/// Returns the address of the database of a storage folder, in PostgreSQL or SQLite.
pub(crate) fn address(storage: &Path) -> String {
    postgres_address(storage)
        .unwrap_or_else(|| format!("sqlite:{}", storage.join("songfoundry.db").display()))
}

/// Changes the database of a storage folder without a running service.
pub(crate) fn change(storage: &Path, statement: &'static str) {
    let address = address(storage);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        songfoundry_server::db::install_drivers();
        let mut connection = AnyConnection::connect(&address).await.expect("the database of the test");
        sqlx::query(statement).execute(&mut connection).await.expect("changes");
        connection.close().await.expect("closes");
    });
}

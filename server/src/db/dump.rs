//! Dumps and restores a PostgreSQL database with `pg_dump` and `pg_restore`.

use std::io;
use std::path::Path;
use std::process::Stdio;

use anyhow::Context as _;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use sqlx::{AnyConnection, Connection as _};
use tokio::process::Command;

use super::{DatabaseAddress, Db};

/// An empty address. The real address is in the environment, so that process lists do not show the
/// password.
const DATABASE_ARGUMENT: &str = "--dbname=postgresql://";

/// A consistent state of the database. It can be read through `db`, and by `pg_dump` under its
/// name.
pub(crate) struct Snapshot {
    /// A pool of one connection. Its transaction is the snapshot.
    pub(crate) db: Db,
    name: String,
}

impl Snapshot {
    /// Takes a snapshot of the database at `address`.
    ///
    /// # Errors
    /// Those of [`super::open_existing`], and if the query fails.
    pub(crate) async fn take(address: &DatabaseAddress) -> anyhow::Result<Self> {
        let db = super::open_existing(address, super::PoolLimits::with_connections(1)).await?;
        sqlx::query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").execute(&db).await?;
        let name = sqlx::query_scalar("SELECT pg_export_snapshot()").fetch_one(&db).await?;
        Ok(Self { db, name })
    }

    /// Writes the database to `path`, which must not exist, in the custom format of `pg_dump`.
    ///
    /// # Errors
    /// If `pg_dump` is not installed or fails. The error contains its message.
    pub(crate) async fn dump(&self, address: &DatabaseAddress, path: &Path) -> anyhow::Result<()> {
        // The file is created here, so that only the owner can read it.
        let mut options = tokio::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        let file = options.open(path).await.with_context(|| format!("cannot write {}", path.display()))?;
        let mut command = make_command("pg_dump", address)?;
        command.args(["--format=custom", "--no-owner", "--no-privileges"]);
        command.arg(format!("--snapshot={}", self.name)).stdout(file.try_clone().await?.into_std().await);
        run_program("pg_dump", &mut command).await?;
        file.sync_all().await.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Ends the snapshot.
    pub(crate) async fn close(self) {
        self.db.close().await;
    }
}

/// Restores a dump of [`Snapshot::dump`] into an empty database, either completely or not at all.
///
/// # Errors
/// If `pg_restore` is not installed or fails. The error contains its message.
pub(crate) async fn restore(address: &DatabaseAddress, path: &Path) -> anyhow::Result<()> {
    let mut command = make_command("pg_restore", address)?;
    command.args(["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]).arg(path);
    run_program("pg_restore", command.stdout(Stdio::null())).await
}

/// Whether the database at `address` has no tables.
///
/// # Errors
/// If the database cannot be reached.
pub(crate) async fn is_empty(address: &DatabaseAddress) -> anyhow::Result<bool> {
    super::install_drivers();
    let cannot_open = || super::cannot_open(address);
    let mut connection = AnyConnection::connect(address.reveal()).await.with_context(cannot_open)?;
    let tables: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    )
    .fetch_one(&mut connection)
    .await
    .with_context(cannot_open)?;
    connection.close().await.with_context(cannot_open)?;
    Ok(tables == 0)
}

/// Returns a command for one of PostgreSQL's programs. It gets the address through its environment.
fn make_command(name: &str, address: &DatabaseAddress) -> anyhow::Result<Command> {
    let mut command = Command::new(name);
    command.arg(DATABASE_ARGUMENT).stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    command.envs(make_environment(address)?);
    Ok(command)
}

async fn run_program(name: &str, command: &mut Command) -> anyhow::Result<()> {
    let child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow::anyhow!(
            "{name} is not installed, or not in PATH: install PostgreSQL's client programs, in the server's version or later (Debian: \
             postgresql-client)"
        ),
        _ => anyhow::Error::new(error).context(format!("cannot start {name}")),
    })?;
    let output = child.wait_with_output().await.with_context(|| format!("cannot wait for {name}"))?;
    let message = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{name} ended with {}: {}", output.status, message.trim());
    Ok(())
}

/// Returns the address as environment variables of PostgreSQL's client library (PostgreSQL 17
/// manual, section 34.15).
fn make_environment(address: &DatabaseAddress) -> anyhow::Result<Vec<(&'static str, String)>> {
    let url = Url::parse(address.reveal()).with_context(|| super::cannot_open(address))?;
    let percent_decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut variables = Vec::new();
    let mut set = |name, value: String| {
        if !value.is_empty() {
            variables.push((name, value));
        }
    };
    set("PGHOST", percent_decode(url.host_str().unwrap_or_default().trim_matches(['[', ']'])));
    set("PGPORT", url.port().map(|port| port.to_string()).unwrap_or_default());
    set("PGUSER", percent_decode(url.username()));
    set("PGPASSWORD", percent_decode(url.password().unwrap_or_default()));
    set("PGDATABASE", percent_decode(url.path().trim_start_matches('/')));
    for (parameter_name, value) in url.query_pairs() {
        let name = match &*parameter_name {
            "host" => "PGHOST",
            "hostaddr" => "PGHOSTADDR",
            "port" => "PGPORT",
            "user" => "PGUSER",
            "password" => "PGPASSWORD",
            "dbname" => "PGDATABASE",
            "sslmode" | "ssl-mode" => "PGSSLMODE",
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => "PGSSLROOTCERT",
            "sslcert" | "ssl-cert" => "PGSSLCERT",
            "sslkey" | "ssl-key" => "PGSSLKEY",
            // Other options, such as `application_name`, concern only the connections of the
            // service.
            _ => continue,
        };
        set(name, value.into_owned());
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_becomes_an_environment() {
        for (address, expected) in [
            (
                "postgres://ada:hunt%40er%2F2@db.example:5433/songs?ssl-mode=require&application_name=x",
                "PGHOST=db.example PGPORT=5433 PGUSER=ada PGPASSWORD=hunt@er/2 PGDATABASE=songs PGSSLMODE=require",
            ),
            (
                "postgresql:///songs?host=%2Frun%2Fpg&user=ada&password=a%26b",
                "PGDATABASE=songs PGHOST=/run/pg PGUSER=ada PGPASSWORD=a&b",
            ),
            ("postgres://%2Frun%2Fpg/songs", "PGHOST=/run/pg PGDATABASE=songs"),
            ("postgres://[::1]/songs", "PGHOST=::1 PGDATABASE=songs"),
        ] {
            let parsed = DatabaseAddress::parse(address).expect("an address");
            let variables = make_environment(&parsed).expect("the address is converted");
            let shown_arguments: Vec<String> =
                variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(shown_arguments.join(" "), expected, "{address}");
        }
    }
}

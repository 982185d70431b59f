//! Runs the service: opens its parts, listens for connections, and shuts down cleanly.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;

use crate::auth::PasswordReason;
use crate::config::Config;
use crate::listen::tls::{Certificate, Hangups};
use crate::state::AppState;
use crate::storage_lock::DatabaseLock;
use crate::{audio, audit, auth, db, listen, orphans, projects, router, soundfonts, start_checks};

/// Time limits during a shutdown: first for running requests, then for tasks. The whole shutdown
/// takes less than ten seconds.
const REQUESTS_END_TIMEOUT: Duration = Duration::from_secs(4);
const TASKS_END_TIMEOUT: Duration = Duration::from_secs(4);

/// The first port that a program without privileges may listen on (IANA "User Ports", RFC 6335,
/// section 6).
const FIRST_USER_PORT: u16 = 1024;

/// Serves until SIGTERM or SIGINT. Then stops accepting connections, waits for running requests,
/// cancels tasks and closes the database.
///
/// Prints the address of the service to standard output once the service accepts connections.
///
/// # Errors
/// A part of the service cannot be opened, or the address is in use. The error names the part or
/// the address.
pub async fn serve(config: Config) -> anyhow::Result<()> {
    let address = SocketAddr::new(config.network.host, config.network.port);
    let certificate = config.network.tls.as_ref().map(Certificate::open).transpose()?;
    start_checks::warn_of_page(&config);
    start_checks::warn_of_soundfont_dirs(&config.sound);
    let _database_lock = DatabaseLock::acquire(&config.storage)?;
    let state = AppState::open(config).await?;
    {
        // If several servers start with a new database, only one of them may create the first
        // account.
        let _first_start = db::lock(&state.db, "first start").await?;
        auth::ensure_admin(&state, announce_password).await?;
        projects::seed_demo(&state).await?;
    }
    projects::identify_earlier_autosaves(&state)
        .await
        .context("cannot read the autosaves of an earlier version")?;
    orphans::restore_needed(&state).await.context("cannot restore files from the quarantine")?;
    audio::resume(&state).await.context("cannot resume the audio imports of the last run")?;
    let listener = listen_on(address, "SF_HOST, SF_PORT").await?;
    let bound_address = listener.local_addr()?;
    // Signals must be handled before the address is printed, because a caller may send a signal as
    // soon as it has read the address.
    let stop_signal = stop_signal().context("cannot listen for signals")?;
    let tls = match &certificate {
        Some(certificate) => {
            let hangups = Hangups::listen().context("cannot listen for signals")?;
            tokio::spawn(Arc::clone(certificate).keep_fresh(hangups, state.stop.clone()));
            Some(certificate.acceptor()?)
        }
        None => None,
    };
    println!(
        "Songfoundry is at {}",
        listen::url(if tls.is_some() { "https" } else { "http" }, bound_address)
    );
    println!("{}", state.local_rule.describe());
    tracing::info!(address = %bound_address, trust_local = state.config.accounts.trusts_local, https = tls.is_some(), environment = ?state.config.environment, "the service accepts connections");

    tokio::spawn(soundfonts::keep_scanning(state.clone(), state.stop.clone()));
    tokio::spawn(orphans::keep_collecting(state.clone()));
    tokio::spawn(audit::keep_to_retention(state.clone()));
    let tasks = tokio::spawn(state.tasks.clone().serve(state.config.tasks.serves_tasks, state.stop.clone()));
    let stop = state.stop.clone();
    tokio::spawn(async move {
        stop_signal.await;
        stop.cancel();
    });
    let router = router::build(state.clone());
    let server = tokio::spawn({
        let state = state.clone();
        async move {
            listen::serve(listener, router, tls, &state.config.network, state.stop.clone()).await;
        }
    });
    state.stop.cancelled().await;
    tracing::info!("the service is stopping");
    state.tasks.stop_all();
    if tokio::time::timeout(REQUESTS_END_TIMEOUT, server).await.is_err() {
        let limit_secs = REQUESTS_END_TIMEOUT.as_secs();
        tracing::warn!(limit_secs, "closing connections whose requests did not end in time");
    }
    end_tasks(&state, tasks).await;
    Ok(())
}

/// Runs tasks as a worker of a server deployment until SIGTERM or SIGINT. Unfinished tasks then
/// wait for another process.
///
/// Prints the process id of the worker to standard output once the worker runs tasks.
///
/// # Errors
/// A part cannot be opened, which the error names, or the database is SQLite, which processes on
/// several machines cannot share.
pub async fn run_worker(config: Config) -> anyhow::Result<()> {
    anyhow::ensure!(
        config.storage.database.kind() == db::DatabaseKind::Postgres,
        "a worker needs the PostgreSQL database of the service: set SF_DATABASE_URL to the service's postgres://... address"
    );
    start_checks::warn_of_soundfont_dirs(&config.sound);
    let state = AppState::open(config).await?;
    let stop_signal = stop_signal().context("cannot listen for signals")?;
    tokio::spawn(soundfonts::keep_scanning(state.clone(), state.stop.clone()));
    let tasks = tokio::spawn(state.tasks.clone().serve(true, state.stop.clone()));
    let status = match state.config.network.worker_port {
        None => String::new(),
        Some(port) => {
            let bound_address = serve_worker_status(&state, port).await?;
            format!("; {} serves health and metrics", listen::url("http", bound_address))
        }
    };
    println!("Songfoundry's worker {} runs tasks{status}", std::process::id());
    if state.config.network.worker_port.is_some() {
        // Access to `/metrics` follows the same rule as in the service.
        println!("{}", state.local_rule.describe());
    }
    tracing::info!(tasks_max = state.config.tasks.workers, "the worker runs tasks");
    stop_signal.await;
    tracing::info!("the worker is stopping");
    state.stop.cancel();
    state.tasks.stop_all();
    end_tasks(&state, tasks).await;
    Ok(())
}

/// Listens on an address. Errors name `settings`, the settings that define it.
async fn listen_on(address: SocketAddr, settings: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::AddrInUse => "another program uses it",
            ErrorKind::PermissionDenied if (1..FIRST_USER_PORT).contains(&address.port()) => {
                "this process may not listen on ports below 1024; set a port of at least 1024, or give the process CAP_NET_BIND_SERVICE"
            }
            ErrorKind::AddrNotAvailable => "this machine has no such address",
            _ => "the system refuses it",
        };
        anyhow::Error::new(error).context(format!("cannot listen on {address} ({settings}): {reason}"))
    })
}

/// Serves the health and the metrics of a worker until it stops. Returns the address.
async fn serve_worker_status(state: &AppState, port: u16) -> anyhow::Result<SocketAddr> {
    let address = SocketAddr::new(state.config.network.host, port);
    let listener = listen_on(address, "SF_HOST, SF_WORKER_PORT").await?;
    let bound_address = listener.local_addr()?;
    let state = state.clone();
    tokio::spawn(async move {
        let router = router::of_worker(state.clone());
        listen::serve(listener, router, None, &state.config.network, state.stop.clone()).await;
    });
    Ok(bound_address)
}

/// Waits for the tasks of this process and closes the database.
async fn end_tasks(state: &AppState, task_loop: tokio::task::JoinHandle<()>) {
    if !state.tasks.wait_until_stopped(TASKS_END_TIMEOUT).await {
        let limit_secs = TASKS_END_TIMEOUT.as_secs();
        tracing::warn!(limit_secs, "some tasks did not stop in time; they will be aborted with this process");
    }
    // Closing the database waits for connections in use. The time is limited, so that this does not
    // delay the shutdown.
    let _ = tokio::time::timeout(Duration::from_secs(1), async {
        // If the task loop panicked, the panic has been logged already.
        let _ = task_loop.await;
        state.tasks.close().await;
        state.db.close().await;
    })
    .await;
}

fn announce_password(occasion: PasswordReason, username: &str, password: &str) {
    let reason = match occasion {
        PasswordReason::FirstStart => "First start",
        PasswordReason::NobodyCouldLogIn => "No administrator had a password to log in with",
    };
    println!(
        "{reason}: log in as `{username}` with the password `{password}` and change it. It is not shown again."
    );
}

/// Starts to listen for SIGTERM and SIGINT. The returned future completes at the first of these
/// signals.
#[cfg(unix)]
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Listens for Ctrl-C. The returned future completes at the first one.
#[cfg(not(unix))]
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

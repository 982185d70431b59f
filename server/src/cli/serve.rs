//! The command `songfoundry serve`.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use tracing_subscriber::fmt::format::{Format, Json, JsonFields};
use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, fmt};

use super::Settings;
use crate::config::{Config, LogConfig, LogFormat};
use crate::log_tail::{LogTail, RedactingWriter};

/// Start the service and print its address.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry serve
  SF_PORT=0 SF_STORAGE_DIR=/tmp/try songfoundry serve
  SF_HOST=0.0.0.0 SF_LOG_FORMAT=json songfoundry serve

Settings come from SF_ variables and songfoundry.toml; `songfoundry config` lists them.
Ctrl-C or SIGTERM ends the service within 10 seconds; no acknowledged data is lost.")]
pub(super) struct Args {
    /// Start with this database even if it does not refer to the stored files. Files that it does
    /// not need are moved to the quarantine later; `songfoundry admin quarantine` restores them.
    #[arg(long)]
    adopt: bool,
}

pub(super) fn run(args: &Args, settings: &Settings) -> anyhow::Result<()> {
    let adopts_files = args.adopt;
    run_until_stopped(settings, move |mut config: Config| {
        config.storage.adopts_files = adopts_files;
        crate::serve::serve(config)
    })
}

/// Reads the settings, starts the log, and runs `start_service` to its end.
pub(super) fn run_until_stopped<Run, Running>(settings: &Settings, start_service: Run) -> anyhow::Result<()>
where
    Run: FnOnce(Config) -> Running,
    Running: Future<Output = anyhow::Result<()>>,
{
    let source = settings.source()?;
    let config = settings.load()?;
    start_log(&config.log);
    for variable_name in source.unknown_variables() {
        // Other programs of the project use these variables.
        if !matches!(variable_name, "SF_CONFIG" | "SF_PARENT_PID" | "SF_FXGUI_PORT") {
            tracing::warn!(
                key = variable_name,
                "this variable is not a setting; `songfoundry config` lists all settings"
            );
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async threads")?;
    let outcome = runtime.block_on(start_service(config));
    // Does not wait for threads that still render.
    runtime.shutdown_background();
    outcome
}

/// Starts the log. Its lines go to standard error, and as JSON to the log tail that administrators
/// can read. Secrets are removed from both.
fn start_log(config: &LogConfig) {
    // This cannot fail, because the filter was checked when the settings were read.
    let filter = EnvFilter::try_new(&config.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let to_stderr = || RedactingWriter(std::io::stderr());
    let log =
        tracing_subscriber::registry().with(filter).with(json_lines().with_writer(LogTail::of_process()));
    match config.format {
        LogFormat::Human => {
            let log_layer = fmt::layer().with_target(false);
            log.with(log_layer.with_ansi(std::io::stderr().is_terminal()).with_writer(to_stderr)).init();
        }
        LogFormat::Json => log.with(json_lines().with_writer(to_stderr)).init(),
    }
}

/// Returns a layer that writes one JSON object per line.
fn json_lines<S>() -> fmt::Layer<S, JsonFields, Format<Json>> {
    fmt::Layer::default().json().flatten_event(true)
}

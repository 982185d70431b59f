//! The command `songfoundry worker`.

use super::Settings;
use super::serve::run_until_stopped;

/// Run background tasks beside a service on PostgreSQL. Any number of workers may run, on any
/// machines.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  SF_DATABASE_URL=postgres://user:password@host/database songfoundry worker
  SF_TASK_WORKERS=4 songfoundry worker

It takes the same settings as the service and needs the same database and stored files; each worker has an
SF_STORAGE_DIR of its own. With SF_WORKER_PORT it answers /healthz, /readyz and /metrics. Ctrl-C or SIGTERM ends it within 10 seconds; another worker then takes over its tasks.")]
pub(super) struct Args {}

pub(super) fn run(_: &Args, settings: &Settings) -> anyhow::Result<()> {
    run_until_stopped(settings, crate::serve::run_worker)
}

//! The command `songfoundry openapi`.

use super::standard_output::print_line;
use crate::config::{Config, Source};
use crate::router;

/// Print the description of the API (OpenAPI 3.1, JSON). The service sends the same description at
/// /api/v1/openapi.json.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry openapi > openapi.json

The output does not depend on the settings, and the service need not run.")]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> anyhow::Result<()> {
    let defaults = Config::load(&Source::from_pairs::<String, String>([]))?;
    print_line(&serde_json::to_string_pretty(&router::document(&defaults))?)
}

//! The command `songfoundry admin quarantine`.

use std::io;

use clap::Subcommand;

use crate::cli::standard_output::print_line;
use crate::config::Config;
use crate::inventory::key_of;
use crate::plural::counted;
use crate::state::open_blobs;
use crate::storage::{Blobs, QuarantineReason, QuarantinedFile, Sharing};

/// List and restore quarantined files: files that the database did not need, and files that users
/// deleted. The service may be running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry admin quarantine list
  songfoundry admin quarantine restore audio/0f3a...9c.original
  songfoundry admin quarantine restore --all

Files that the database needs are restored automatically. Restored files that it does not need are quarantined again after SF_ORPHAN_AGE_SECS.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the files, the oldest first.
    List {
        /// Print JSON, one object per line.
        #[arg(long)]
        json: bool,
    },
    /// Move files from the quarantine back to their folders.
    Restore {
        /// Files, named as in the list.
        #[arg(required_unless_present = "all")]
        names: Vec<String>,
        /// Restore all files.
        #[arg(long)]
        all: bool,
    },
}

pub(super) async fn run(args: &Args, config: &Config) -> anyhow::Result<()> {
    let blobs = open_blobs(&config.storage, Sharing::Shared).await?;
    // With object storage, this machine also has a local quarantine for parts of uploads.
    let local = blobs.is_remote().then(|| blobs.local());
    let stores: Vec<Blobs> = std::iter::once(blobs).chain(local).collect();
    let listing = stores.clone();
    let found = tokio::task::spawn_blocking(move || quarantined(&listing)).await??;
    match &args.command {
        Command::List { json } => list(&found, *json),
        Command::Restore { names, all } => {
            let names = if *all { found.into_iter().map(|file| file.name).collect() } else { names.clone() };
            tokio::task::spawn_blocking(move || restore(&stores, &names)).await?
        }
    }
}

fn quarantined(stores: &[Blobs]) -> io::Result<Vec<QuarantinedFile>> {
    let mut found = Vec::new();
    for blobs in stores {
        found.extend(blobs.quarantined()?);
    }
    found.sort_by(|a, b| (&a.since, &a.name).cmp(&(&b.since, &b.name)));
    Ok(found)
}

fn list(found: &[QuarantinedFile], json: bool) -> anyhow::Result<()> {
    for file in found {
        print_line(&match json {
            true => serde_json::to_string(file)?,
            false => {
                let reason = match file.reason {
                    QuarantineReason::Unneeded => "not needed by the database",
                    QuarantineReason::Deleted => "deleted",
                };
                format!("{}  {}  {} bytes  {reason}", file.since, file.name, file.size_bytes)
            }
        })?;
    }
    if !json {
        let bytes: u64 = found.iter().map(|file| file.size_bytes).sum();
        print_line(&format!("{}, {bytes} bytes.", counted(found.len(), "file")))?;
    }
    Ok(())
}

fn restore(stores: &[Blobs], names: &[String]) -> anyhow::Result<()> {
    for name in names {
        let key = name.split_once('/').and_then(|(folder, file)| key_of(folder, file));
        let mut is_restored = false;
        for blobs in stores {
            let Some(key) = &key else { break };
            is_restored = is_restored || blobs.return_from_quarantine(key)?;
        }
        anyhow::ensure!(
            is_restored,
            "`{name}` is not in the quarantine; `songfoundry admin quarantine list` lists its files"
        );
        print_line(&format!("Restored {name}."))?;
    }
    Ok(())
}

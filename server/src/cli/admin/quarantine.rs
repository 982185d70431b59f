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
    let local_blobs = blobs.is_remote().then(|| blobs.local());
    let stores: Vec<Blobs> = std::iter::once(blobs).chain(local_blobs).collect();
    let listing = stores.clone();
    let quarantined_files = tokio::task::spawn_blocking(move || list_quarantined(&listing)).await??;
    match &args.command {
        Command::List { json } => list(&quarantined_files, *json),
        Command::Restore { names, all } => {
            let names = if *all {
                quarantined_files.into_iter().map(|file| file.name).collect()
            } else {
                names.clone()
            };
            tokio::task::spawn_blocking(move || restore(&stores, &names)).await?
        }
    }
}

fn list_quarantined(stores: &[Blobs]) -> io::Result<Vec<QuarantinedFile>> {
    let mut quarantined_files = Vec::new();
    for blobs in stores {
        quarantined_files.extend(blobs.list_quarantined()?);
    }
    quarantined_files.sort_by(|a, b| (&a.since, &a.name).cmp(&(&b.since, &b.name)));
    Ok(quarantined_files)
}

fn list(quarantined_files: &[QuarantinedFile], is_json: bool) -> anyhow::Result<()> {
    for file in quarantined_files {
        print_line(&match is_json {
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
    if !is_json {
        let bytes: u64 = quarantined_files.iter().map(|file| file.size_bytes).sum();
        print_line(&format!("{}, {bytes} bytes.", counted(quarantined_files.len(), "file")))?;
    }
    Ok(())
}

fn restore(stores: &[Blobs], names: &[String]) -> anyhow::Result<()> {
    for name in names {
        let blob_key = name.split_once('/').and_then(|(folder, file)| key_of(folder, file));
        let mut is_restored = false;
        for blobs in stores {
            let Some(blob_key) = &blob_key else { break };
            is_restored = is_restored || blobs.return_from_quarantine(blob_key)?;
        }
        anyhow::ensure!(
            is_restored,
            "`{name}` is not in the quarantine; `songfoundry admin quarantine list` lists its files"
        );
        print_line(&format!("Restored {name}."))?;
    }
    Ok(())
}

//! The commands `backup`, `restore` and `check`.

use std::path::PathBuf;
use std::time::Duration;

use crate::backup::check::{CheckOptions, check as check_storage};
use crate::backup::{make, restore as restore_backup};
use crate::cli::standard_output::print_line;
use crate::config::Config;
use crate::plural::counted;

/// Save all stored data into a folder. The service may be running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  songfoundry admin backup /backup/$(date +%F)

With PostgreSQL, pg_dump must be installed, in the server's version or later.")]
pub(super) struct Backup {
    /// Folder to create. If it exists, it must be empty.
    folder: PathBuf,
    /// Save only the files. Back up the database first, then the files.
    #[arg(long)]
    without_database: bool,
}

/// Restore a backup. The service must not be running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  songfoundry admin restore /backup/2026-11-22 && songfoundry admin check

With PostgreSQL, pg_restore must be installed, and the database must be empty.")]
pub(super) struct Restore {
    /// Folder that `songfoundry admin backup` created.
    folder: PathBuf,
    /// Move existing files to another folder, instead of refusing.
    #[arg(long)]
    replace: bool,
}

/// Check that every file that the database needs exists and is undamaged. Fails if a file is
/// missing or damaged.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Compare sizes only, without reading the files.
    #[arg(long)]
    quick: bool,
    /// Make damaged or missing decoded copies and peaks again, and compute missing hashes.
    /// Quarantine stored files that the database has not needed for a while. A damaged original is
    /// replaced when its user uploads the file again. The service must not be running.
    #[arg(long)]
    repair: bool,
    /// Minimum time for which a file must have been unneeded by the database before it is
    /// quarantined, in seconds; default: SF_ORPHAN_AGE_SECS. 0 quarantines all such files now.
    #[arg(long, requires = "repair", value_name = "SECONDS")]
    age_secs: Option<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) async fn backup(args: &Backup, config: &Config) -> anyhow::Result<()> {
    let backup_summary = make(config, &args.folder, !args.without_database).await?;
    let files = counted(backup_summary.files, "file");
    print_line(&format!("Saved {files}, {} bytes, in {}.", backup_summary.bytes, args.folder.display()))?;
    if !backup_summary.has_database {
        print_line("The database was not saved.")?;
    }
    Ok(())
}

pub(super) async fn restore(args: &Restore, config: &Config) -> anyhow::Result<()> {
    let restore_summary = restore_backup(config, &args.folder, args.replace).await?;
    print_line(&format!(
        "Restored {} from {}.",
        counted(restore_summary.files, "file"),
        args.folder.display()
    ))?;
    if let Some(replaced_dir) = restore_summary.replaced_dir {
        print_line(&format!("The replaced files are in {}.", replaced_dir.display()))?;
    }
    Ok(())
}

pub(super) async fn check(args: &Check, config: &Config) -> anyhow::Result<()> {
    let unneeded_for = args.age_secs.map(Duration::from_secs);
    let options = CheckOptions { compares_hashes: !args.quick, repairs_files: args.repair, unneeded_for };
    let report = check_storage(config, options).await?;
    let problems = counted(report.problems.len(), "problem");
    if args.json {
        print_line(&serde_json::to_string(&report)?)?;
    } else {
        for problem in &report.problems {
            print_line(problem)?;
        }
        let (count, bytes) = (report.orphans.len(), report.orphan_bytes);
        print_line(&format!("Checked {}; found {problems}.", counted(report.files, "file")))?;
        if report.without_hash > 0 {
            print_line(&format!(
                "{} {} no hash to compare with, because older versions stored none; --repair computes missing hashes.",
                counted(report.without_hash, "file"),
                if report.without_hash == 1 { "has" } else { "have" }
            ))?;
        }
        if count > 0 {
            let files = counted(count, "stored file");
            print_line(&format!("Nothing in the database refers to {files} ({bytes} bytes):"))?;
            for name in &report.orphans {
                print_line(&format!("  {name}"))?;
            }
        }
        let moved_files = report.set_aside.len();
        if moved_files > 0 {
            print_line(&format!(
                "Moved {} to the quarantine; `songfoundry admin quarantine` lists and restores quarantined files.",
                counted(moved_files, "file")
            ))?;
        }
        if moved_files < count {
            print_line(
                "The service and --repair quarantine files that the database did not need for SF_ORPHAN_AGE_SECS; --repair --age-secs 0 \
                 quarantines all of them now.",
            )?;
        }
        if !report.mended.is_empty() {
            print_line(&format!(
                "{} {} recreated, or restored from the quarantine:",
                counted(report.mended.len(), "file"),
                if report.mended.len() == 1 { "was" } else { "were" }
            ))?;
            for name in &report.mended {
                print_line(&format!("  {name}"))?;
            }
        }
    }
    anyhow::ensure!(report.problems.is_empty(), "the storage has {problems}");
    Ok(())
}

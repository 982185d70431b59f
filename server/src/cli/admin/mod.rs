//! The command `songfoundry admin`, for accounts and backups.

mod backup;
mod owner;
mod quarantine;
mod throttled;
mod users;

use anyhow::Context as _;
use clap::Subcommand;

use super::Settings;
use crate::config::Config;
use crate::db::{self, Db};
use crate::installation;
use crate::state::{make_private_dir, open_blobs};
use crate::storage::Sharing;

/// Manage accounts, backups and the storage on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry admin create-user ada              Prints a password, which must be changed at the first log-in
  songfoundry admin create-user ada --role admin
  songfoundry admin reset-password ada           For a forgotten password, even an administrator's
  songfoundry admin list-users
  songfoundry admin list-throttled               Accounts and addresses that are throttled
  songfoundry admin lift-throttling --username ada
  songfoundry admin backup /backup/today         All data, in a folder; the service may be running
  songfoundry admin restore /backup/today        Into an empty storage; the service must not be running
  songfoundry admin check                        Finds missing and damaged files
  songfoundry admin quarantine list              Quarantined files; `quarantine restore` restores them

The storage folder and the database come from the settings, as for the service.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create an account.
    CreateUser(users::CreateUser),
    /// Set a new password for an account. Ends its sessions and deletes its API keys.
    ResetPassword(users::ResetPassword),
    /// List all accounts.
    ListUsers(users::ListUsers),
    /// List accounts and addresses that are throttled after failed log-ins or many registrations.
    ListThrottled(throttled::ListThrottled),
    /// End the throttling of an account or an address.
    LiftThrottling(throttled::LiftThrottling),
    /// Save all stored data into a folder.
    Backup(backup::Backup),
    /// Restore a backup.
    Restore(backup::Restore),
    /// Check that every file exists and is undamaged.
    Check(backup::Check),
    /// List the files in the quarantine, and restore them.
    Quarantine(quarantine::Args),
}

pub(super) fn run(args: &Args, settings: &Settings) -> anyhow::Result<()> {
    let config = settings.load()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the async thread")?;
    let outcome = runtime.block_on(execute(&args.command, &config));
    // Even a failed command may have created files.
    let ownership = if args.command.only_lists() { Ok(()) } else { owner::restore(&config) };
    outcome.and(ownership)
}

impl Command {
    /// Whether the command creates no file in the storage folder.
    fn only_lists(&self) -> bool {
        matches!(self, Self::ListUsers(_) | Self::ListThrottled(_))
    }
}

async fn execute(command: &Command, config: &Config) -> anyhow::Result<()> {
    match command {
        Command::Backup(args) => backup::backup(args, config).await,
        Command::Restore(args) => backup::restore(args, config).await,
        Command::Check(args) => backup::check(args, config).await,
        Command::Quarantine(args) => quarantine::run(args, config).await,
        // This command may create the first account before the first start of the service.
        Command::CreateUser(args) => {
            make_private_dir(&config.storage.dir)?;
            let blobs = open_blobs(&config.storage, Sharing::Shared).await?;
            installation::refuse_missing_database(&config.storage, &blobs).await?;
            let db = db::open(&config.storage.database, config.storage.database_limits).await?;
            run_with(db, async |db| users::create(args, db).await).await
        }
        Command::ResetPassword(args) => {
            run_with(open_existing(config).await?, async |db| users::reset_password(args, db).await).await
        }
        Command::ListThrottled(args) => {
            let limits = config.accounts.login_limits;
            run_with(open_existing(config).await?, async |db| throttled::list(args, limits, db).await).await
        }
        Command::LiftThrottling(args) => {
            let lift = args.lift()?;
            run_with(open_existing(config).await?, async |db| throttled::lift(&lift, db).await).await
        }
        Command::ListUsers(args) => {
            run_with(open_existing(config).await?, async |db| users::list(args, db).await).await
        }
    }
}

/// Opens the existing database. Does not create a new one.
async fn open_existing(config: &Config) -> anyhow::Result<Db> {
    db::open_existing(&config.storage.database, config.storage.database_limits).await
}

async fn run_with(db: Db, command: impl AsyncFnOnce(&Db) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let outcome = command(&db).await;
    db.close().await;
    outcome
}

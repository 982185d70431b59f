//! `songfoundry admin`: accounts from the command line, whether the service runs or not.

mod users;

use anyhow::Context as _;
use clap::Subcommand;

use super::Settings;
use crate::db::{self, Db};
use crate::state::make_private_dir;

/// Look after accounts from this machine's command line.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry admin create-user ada              Prints a password, to be changed at the first log-in
  songfoundry admin create-user ada --role admin
  songfoundry admin reset-password ada           For whoever forgot theirs, the administrator included
  songfoundry admin list-users

The storage folder and the database come from the settings, as for the service, which may be running.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make an account.
    CreateUser(users::CreateUser),
    /// Give an account a new password; its log-ins and API keys end.
    ResetPassword(users::ResetPassword),
    /// List all accounts.
    ListUsers(users::ListUsers),
}

pub(super) fn run(args: &Args, settings: &Settings) -> anyhow::Result<()> {
    let config = settings.load()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the async thread")?;
    runtime.block_on(async {
        make_private_dir(&config.storage.dir)?;
        let db = db::open(&config.storage.database, config.storage.database_connections).await?;
        let outcome = run_with(&args.command, &db).await;
        db.close().await;
        outcome
    })
}

async fn run_with(command: &Command, db: &Db) -> anyhow::Result<()> {
    match command {
        Command::CreateUser(args) => users::create(args, db).await,
        Command::ResetPassword(args) => users::reset_password(args, db).await,
        Command::ListUsers(args) => users::list(args, db).await,
    }
}

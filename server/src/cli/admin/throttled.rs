//! Commands for accounts and addresses that are throttled.

use crate::audit::{self, Action, Actor};
use crate::auth::{FailureSelection, Throttle, Throttled, ThrottledKind};
use crate::cli::standard_output::print_line;
use crate::config::LoginLimits;
use crate::db::Db;

/// List accounts and addresses that are throttled after failed log-ins or many registrations.
#[derive(Debug, clap::Args)]
pub(super) struct ListThrottled {
    /// Print JSON, one object per line.
    #[arg(long)]
    json: bool,
}

/// End the throttling of an account or an address.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  songfoundry admin lift-throttling --username ada
  songfoundry admin lift-throttling --address 192.0.2.7
  songfoundry admin lift-throttling --username ada --address 2001:db8:1:2::/64")]
pub(super) struct LiftThrottling {
    /// Name of the account.
    #[arg(long, required_unless_present = "address")]
    username: Option<String>,
    /// IP address, or IPv6 network that ends in /64.
    #[arg(long)]
    address: Option<String>,
}

impl LiftThrottling {
    /// Returns the throttling to end.
    ///
    /// # Errors
    /// The address is invalid.
    pub(super) fn lift(&self) -> anyhow::Result<FailureSelection> {
        Ok(FailureSelection::new(self.username.as_deref(), self.address.as_deref())?)
    }
}

pub(super) async fn list(args: &ListThrottled, limits: LoginLimits, db: &Db) -> anyhow::Result<()> {
    let throttled_page = Throttle::new(limits).read_overview(db).await?;
    if !args.json {
        print_line(&format_columns("ACCOUNT", "ADDRESS", "FAILURES", "WAIT", "LAST FAILED"))?;
    }
    for entry in &throttled_page {
        print_line(&if args.json { serde_json::to_string(entry)? } else { table_row(entry) })?;
    }
    Ok(())
}

fn table_row(entry: &Throttled) -> String {
    let account = match (entry.kind, entry.username.as_deref()) {
        (_, Some(name)) => name,
        (ThrottledKind::Address, None) => "(all)",
        (ThrottledKind::Registrations, None) => "(registrations)",
        (_, None) => "(unknown name)",
    };
    let address = entry.address.as_deref().unwrap_or("(all)");
    let wait = match entry.kind {
        ThrottledKind::Registrations => format!("{} s", entry.retry_after_secs),
        ThrottledKind::Address => "twelve at a time".to_owned(),
        ThrottledKind::Account | ThrottledKind::AccountAtAddress => "one at a time".to_owned(),
    };
    format_columns(account, address, &entry.failures.to_string(), &wait, &entry.last_failed_at)
}

fn format_columns(account: &str, address: &str, failures: &str, wait: &str, last: &str) -> String {
    format!("{account:<32} {address:<25} {failures:<8} {wait:<16} {last}")
}

pub(super) async fn lift(lift: &FailureSelection, db: &Db) -> anyhow::Result<()> {
    if lift.apply(db).await? == 0 {
        print_line(&format!("Nothing was throttled for `{}`.", lift.target()))?;
        return Ok(());
    }
    audit::record(db, &Actor::command_line(), Action::ThrottlingLifted, lift.target(), &lift.detail()).await;
    print_line(&format!(
        "Deleted the failed log-ins of `{}`; its log-ins are no longer delayed.",
        lift.target()
    ))?;
    Ok(())
}

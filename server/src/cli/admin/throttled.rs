//! Who has to wait after failed log-ins.

use super::say;
use crate::audit::{self, Action, Who};
use crate::auth::{Lift, Throttle, Throttled, ThrottledKind};
use crate::config::LoginLimits;
use crate::db::Db;

/// List accounts and addresses that have to wait after failed log-ins or many registrations.
#[derive(Debug, clap::Args)]
pub(super) struct ListThrottled {
    /// As JSON, one object a line.
    #[arg(long)]
    json: bool,
}

/// End the waits of an account or an address after failed log-ins or many registrations.
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
    /// # Errors
    /// For what is no address.
    pub(super) fn lift(&self) -> anyhow::Result<Lift> {
        Ok(Lift::new(self.username.as_deref(), self.address.as_deref())?)
    }
}

pub(super) async fn list(args: &ListThrottled, limits: LoginLimits, db: &Db) -> anyhow::Result<()> {
    let all = Throttle::new(limits).overview(db).await?;
    if !args.json {
        say(&line("ACCOUNT", "ADDRESS", "FAILURES", "WAITS (S)", "LAST FAILED"));
    }
    for one in &all {
        say(&if args.json { serde_json::to_string(one)? } else { described(one) });
    }
    Ok(())
}

fn described(one: &Throttled) -> String {
    let account = match (one.kind, one.username.as_deref()) {
        (_, Some(name)) => name,
        (ThrottledKind::Address, None) => "(all)",
        (ThrottledKind::Registrations, None) => "(registrations)",
        (_, None) => "(unknown name)",
    };
    let address = one.address.as_deref().unwrap_or("(all)");
    let wait = match one.kind {
        ThrottledKind::Registrations => one.retry_after_secs.to_string(),
        _ => "in turn".to_owned(),
    };
    line(account, address, &one.failures.to_string(), &wait, &one.last_failed_at)
}

fn line(account: &str, address: &str, failures: &str, wait: &str, last: &str) -> String {
    format!("{account:<32} {address:<25} {failures:<8} {wait:<9} {last}")
}

pub(super) async fn lift(lift: &Lift, db: &Db) -> anyhow::Result<()> {
    if lift.apply(db).await? == 0 {
        say(&format!("Nothing was throttled for `{}`.", lift.target()));
        return Ok(());
    }
    audit::record(db, &Who::command_line(), Action::ThrottlingLifted, lift.target(), &lift.detail()).await;
    say(&format!("What was counted of `{}` is forgotten; nobody waits for it any more.", lift.target()));
    Ok(())
}

//! Lists and lifts throttling, for administrators.

use std::net::{IpAddr, Ipv6Addr};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::rules::COUNT_RESET_SECS;
use super::{Rules, Throttle, account_sha256, network_of};
use crate::auth::store::failures::{self, Counter};
use crate::auth::store::registrations as stored_registrations;
use crate::clock;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};

/// Maximum number of entries of each kind in the list. Those with the most recent failures are
/// listed.
const ENTRIES_MAX: i64 = 1000;

/// The kind of a throttled entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThrottledKind {
    /// The failures of one account from one address.
    AccountAtAddress,
    /// Failures from this address of accounts that never logged in from it. Twelve attempts of such
    /// accounts are checked at a time.
    Address,
    /// The failures of one account from all addresses that it never logged in from.
    Account,
    /// The registrations from this address without an invitation.
    Registrations,
}

/// A throttled account or address.
#[derive(Debug, Serialize, ToSchema)]
pub struct Throttled {
    /// Id of the entry.
    pub id: String,
    /// Whether an account, an address or both are throttled.
    pub kind: ThrottledKind,
    /// Name of the account; null if the entry is about an address or an unknown name.
    pub username: Option<String>,
    /// IPv4 address, or IPv6 network such as `2001:db8:1:2::/64`; null if the entry is about an
    /// account.
    pub address: Option<String>,
    /// Number of failed log-ins; the count starts again after an hour without one. For an address,
    /// the number of failed accounts; for registrations, the number of all attempts, including
    /// successful ones.
    pub failures: i64,
    /// When the last log-in failed or the last registration arrived, RFC 3339.
    pub last_failed_at: String,
    /// Seconds until the next registration is admitted; 0 for log-ins, which wait in a queue
    /// instead.
    pub retry_after_secs: u64,
}

impl Throttled {
    fn from_counter(kind: ThrottledKind, retry_after_secs: u64, counter: Counter) -> Self {
        let Counter { network, account_sha256, username, failures } = counter;
        Self {
            id: format!("{:x}", Sha256::digest(format!("{kind:?} {network:?} {account_sha256:?}"))),
            kind,
            username,
            address: network,
            failures: failures.count,
            last_failed_at: clock::text_of_unix_secs(failures.last_secs),
            retry_after_secs,
        }
    }
}

impl Throttle {
    /// Lists the throttled accounts and addresses, the latest failures first.
    ///
    /// # Errors
    /// If the query fails.
    pub async fn read_overview(&self, db: &Db) -> ApiResult<Vec<Throttled>> {
        let now_secs = clock::now_unix_secs();
        let since_secs = now_secs - COUNT_RESET_SECS;
        let Rules { failures_at_address, failed_accounts_per_address, failures_per_account, registrations } =
            self.rules;
        let pairs =
            failures::read_accounts_at_networks(db, failures_at_address, since_secs, ENTRIES_MAX).await?;
        let networks =
            failures::read_networks(db, failed_accounts_per_address, since_secs, ENTRIES_MAX).await?;
        let accounts = failures::read_accounts(db, failures_per_account, since_secs, ENTRIES_MAX).await?;
        let registering =
            stored_registrations::read_networks(db, registrations.free_attempts, since_secs, ENTRIES_MAX)
                .await?;
        let mut throttled =
            Vec::with_capacity(pairs.len() + networks.len() + accounts.len() + registering.len());
        for (kind, counters) in [
            (ThrottledKind::AccountAtAddress, pairs),
            (ThrottledKind::Address, networks),
            (ThrottledKind::Account, accounts),
        ] {
            throttled.extend(counters.into_iter().map(|counter| Throttled::from_counter(kind, 0, counter)));
        }
        throttled.extend(registering.into_iter().map(|counter| {
            let retry_after_secs = registrations.remaining_secs(counter.failures, now_secs);
            Throttled::from_counter(ThrottledKind::Registrations, retry_after_secs, counter)
        }));
        throttled.sort_by(|a, b| b.last_failed_at.cmp(&a.last_failed_at).then_with(|| a.id.cmp(&b.id)));
        Ok(throttled)
    }
}

/// Selects the failures that are deleted to end throttling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureSelection {
    /// Name of an account.
    username: Option<String>,
    /// Network in its stored form.
    network: Option<String>,
}

impl FailureSelection {
    /// Selects failures by account, by address, or both. An address is an IPv4 or IPv6 address, or
    /// an IPv6 network that ends in `/64`.
    ///
    /// # Errors
    /// 400 `bad_query` if both are missing, or the address is invalid.
    pub fn new(username: Option<&str>, address: Option<&str>) -> ApiResult<Self> {
        let non_empty =
            |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let username = non_empty(username).map(|name| name.to_lowercase());
        let network = non_empty(address).map(|text| parse_network(&text)).transpose()?;
        if username.is_none() && network.is_none() {
            let detail = "Name an account (`username`), an address (`address`), or both.";
            return Err(ApiError::bad_request("bad_query", detail));
        }
        Ok(Self { username, network })
    }

    /// Deletes the selected failures. For an address alone, also deletes its registrations. Returns
    /// the number of deleted entries.
    ///
    /// # Errors
    /// If the query fails.
    pub async fn apply(&self, db: &Db) -> ApiResult<u64> {
        let account = self.username.as_deref().map(account_sha256).unwrap_or_default();
        let failures =
            failures::lift_throttle(db, self.network.as_deref().unwrap_or_default(), &account).await?;
        let is_lifted = match (&self.username, &self.network) {
            (None, Some(network)) => stored_registrations::delete(db, network).await?,
            _ => false,
        };
        Ok(failures + u64::from(is_lifted))
    }

    /// Returns the account or, if there is none, the address, for the audit log.
    #[must_use]
    pub fn target(&self) -> &str {
        self.username.as_deref().or(self.network.as_deref()).unwrap_or_default()
    }

    /// Returns the address if the target is an account, for the audit log.
    #[must_use]
    pub fn detail(&self) -> String {
        match (&self.username, &self.network) {
            (Some(_), Some(network)) => format!("from {network}"),
            _ => String::new(),
        }
    }
}

fn parse_network(text: &str) -> ApiResult<String> {
    let address = match text.strip_suffix("/64") {
        Some(prefix) => prefix.parse::<Ipv6Addr>().map(IpAddr::V6),
        None => text.parse::<IpAddr>(),
    };
    address.map(network_of).map_err(|_| {
        let shown_text: String = text.chars().take(64).collect();
        ApiError::bad_request(
            "bad_query",
            format!(
                "`address` is `{shown_text}`; expected an IP address, or an IPv6 network that ends in `/64`"
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_accepted_in_full_or_as_a_listed_network() {
        for (text, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::/64", "2001:db8:1:2::/64"),
        ] {
            assert_eq!(parse_network(text).expect("an address"), expected);
        }
        for text in ["school", "192.0.2.0/24", "192.0.2.7/64", "2001:db8::/32"] {
            assert!(parse_network(text).is_err(), "{text}");
        }
        assert!(FailureSelection::new(Some(" "), None).is_err());
    }
}

//! Slows down and refuses password guessing and mass registration.
//!
//! Only wrong passwords that were checked count as failures. Three rules apply together:
//!
//! | counter | effect above the limit | exempt |
//! |---|---|---|
//! | failures of one account from one address | its passwords from there are checked one at a time, two per second | nobody |
//! | accounts that failed from one address | passwords from there are checked twelve at a time, 24 per second | accounts that logged in from there, and sessions |
//! | failures of one account from all addresses | its passwords are checked one at a time, two per second | addresses from which it logged in, and sessions |
//!
//! A slowed attempt with a wrong password gets 429; with the correct password it is accepted. So a
//! guesser delays other users only by the attempts in the queue. This is true even if the guesser
//! is at the address of a school and tries the names of its pupils. An attempt that waits longer
//! than 45 s gets 503. In this time, 90 passwords of one account are checked. So about 90
//! connections that guess with one name can block log-ins to that account from new addresses.
//!
//! An address is an IPv4 address or an IPv6 /64. An account is *known* at an address from which it
//! has logged in. The counters are in the database, so they survive restarts and are shared by all
//! nodes. A process checks attempts on one account from one known address one at a time. It does
//! the same with the attempts on one account from all unknown addresses ([`unknown_queue`]). So
//! parallel attempts cannot pass before the first is counted. Each connection has at most one
//! queued attempt, and known accounts do not wait for unknown ones. If a client disconnects, its
//! queued attempt is dropped unchecked. Registrations are counted per address only
//! ([`registration`]).

mod overview;
mod registration;
mod rules;
mod unknown_queue;

use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

pub use overview::{FailureSelection, Throttled, ThrottledKind};
use rules::{COUNT_RESET_SECS, Rule};
use unknown_queue::{UnknownPermit, UnknownQueue};

use super::store::{UserRow, failures};
use crate::client_address::{Client, network_of};
use crate::clock;
use crate::config::LoginLimits;
use crate::db::{Db, store_best_effort};
use crate::error::ApiError;
use crate::turns::{Turn, Turns};

/// Maximum wait of an attempt. It is enough for a class of 500 that logs in at the same time, and
/// shorter than the minute that proxies usually wait.
const WAIT_MAX: Duration = Duration::from_secs(45);

/// `Retry-After` of an attempt that waited too long, in seconds.
const RETRY_AFTER_SECS: u64 = 10;

/// Maximum number of parallel checks per address for accounts that are known there. With this
/// limit, one address cannot fill the queue of password hashes.
const KNOWN_CHECKS_PER_ADDRESS: usize = 4;

/// Maximum number of parallel checks per address for accounts that are unknown there. With it, the
/// attempts of all connections that an address may have (512) are checked within 22 s.
const UNKNOWN_CHECKS_PER_ADDRESS: usize = 12;

/// Minimum time of a slowed check. It limits guessing to fewer than 180,000 passwords a day for an
/// account, while accepted passwords need 100,000,000 guesses or more (zxcvbn score 3). A class of
/// 30 at one address can log in within four seconds. It is shorter in tests.
pub(super) const MIN_CHECK_TIME: Duration = Duration::from_millis(if cfg!(test) { 8 } else { 500 });

/// Time after its last log-in from an address during which an account is known there, in seconds:
/// half a year.
const KNOWN_FOR_SECS: i64 = 180 * 86_400;

/// Counts failed log-ins and delays attempts.
#[derive(Debug)]
pub struct Throttle {
    rules: Rules,
    /// Turns per account and address, for accounts that are known at the address.
    known_accounts: Turns,
    /// Turns per address, for accounts that are known there.
    known_addresses: Turns,
    unknown_queue: UnknownQueue,
    connections: Turns,
    /// Turns for registrations. Those with a valid invitation have a separate queue.
    registrations: Turns,
}

/// The limits of the rules, from the settings.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// Number of failed log-ins of an account from an address until the account is slowed there.
    failures_at_address: i64,
    /// Number of failed accounts from an address until the address is slowed.
    failed_accounts_per_address: i64,
    /// Number of failed log-ins of an account from all addresses until the account is slowed.
    failures_per_account: i64,
    /// Registrations from an address.
    registrations: Rule,
}

impl Rules {
    fn new(limits: LoginLimits) -> Self {
        Self {
            failures_at_address: 5,
            failed_accounts_per_address: limits.failed_accounts_per_address,
            failures_per_account: limits.failures_per_account,
            registrations: Rule {
                free_attempts: limits.registrations_per_address,
                first_wait_secs: 8,
                longest_wait_secs: 8,
                description: "Too many registrations from your address",
                setting: "SF_REGISTRATIONS_PER_ADDRESS",
            },
        }
    }

    /// Returns the limit of an account's failed log-ins from an address.
    fn limit_at_address(&self) -> FailureLimit {
        FailureLimit { limit: self.failures_at_address, slow_scope: "of this account from your address" }
    }
}

/// A log-in attempt.
#[derive(Debug)]
pub(super) struct LoginAttempt<'s> {
    /// Name of the account as it was typed, in lower case.
    pub username: &'s str,
    /// The account, if one has this name.
    pub user_row: Option<&'s UserRow>,
    /// The client that sent the attempt.
    pub client: &'s Client,
    /// Whether the request has a token of the account.
    pub has_session: bool,
}

/// A number of failed log-ins that slows further attempts.
#[derive(Debug, Clone, Copy)]
struct FailureLimit {
    limit: i64,
    /// Phrase for the log-ins that are counted, such as "of this account".
    slow_scope: &'static str,
}

/// An attempt that may be checked now. Its result must be counted.
#[derive(Debug)]
pub(super) struct AdmittedAttempt {
    network: String,
    account_sha256: String,
    username: Option<String>,
    user_id: Option<String>,
    /// Whether the account is known at the address, or the request has a token of the account.
    pub is_known: bool,
    /// The limit that slowed this attempt, if it was slowed. Then a wrong password gets 429.
    slowed_by: Option<FailureLimit>,
    _connection: Turn,
    _check: Check,
}

/// The turns and permits that an attempt keeps while its password is checked.
#[derive(Debug)]
enum Check {
    Known { _account: Turn, _address: Turn },
    Unknown { _permit: UnknownPermit },
}

impl Throttle {
    /// Creates an idle throttle with the limits of the settings.
    #[must_use]
    pub fn new(limits: LoginLimits) -> Self {
        Self {
            rules: Rules::new(limits),
            known_accounts: Turns::new(1),
            known_addresses: Turns::new(KNOWN_CHECKS_PER_ADDRESS),
            unknown_queue: UnknownQueue::new(UNKNOWN_CHECKS_PER_ADDRESS),
            connections: Turns::new(1),
            registrations: Turns::new(1),
        }
    }

    /// Waits until this attempt may be checked.
    ///
    /// # Errors
    /// 503 `busy` if earlier attempts take too long.
    pub(super) async fn begin(
        &self,
        db: &Db,
        login_attempt: &LoginAttempt<'_>,
    ) -> Result<AdmittedAttempt, ApiError> {
        let network = network_of(login_attempt.client.address);
        let account_sha256 = account_sha256(login_attempt.username);
        let user_id = login_attempt.user_row.map(|user_row| user_row.id.as_str()).unwrap_or_default();
        let now_secs = clock::now_unix_secs();
        failures::clamp_to_clock(db, now_secs).await?;
        let since_secs = now_secs - COUNT_RESET_SECS;
        let read_counts =
            async || failures::failures_of(db, &network, &account_sha256, user_id, since_secs).await;
        let deadline = Instant::now() + WAIT_MAX;
        let remaining_time = || deadline.saturating_duration_since(Instant::now());

        let connection = self.connection_turn(login_attempt.client).await?;
        let is_known = login_attempt.has_session || failures::is_known(db, user_id, &network).await?;
        let mut slowed_by = None;
        let check = if is_known {
            let turn_key = format!("{network} {account_sha256}");
            let account =
                self.known_accounts.wait(turn_key, remaining_time()).await.ok_or_else(busy_error)?;
            if read_counts().await?.account_at_network.count >= self.rules.failures_at_address {
                slowed_by = Some(self.rules.limit_at_address());
                tokio::time::sleep(MIN_CHECK_TIME).await;
            }
            let address =
                self.known_addresses.wait(network.clone(), remaining_time()).await.ok_or_else(busy_error)?;
            Check::Known { _account: account, _address: address }
        } else {
            let (account, address) = (account_sha256.clone(), network.clone());
            let permit =
                self.unknown_queue.wait(account, address, remaining_time()).await.ok_or_else(busy_error)?;
            let failure_counts = read_counts().await?;
            let limit = self.rules.failed_accounts_per_address;
            slowed_by = if failure_counts.account_at_network.count >= self.rules.failures_at_address {
                Some(self.rules.limit_at_address())
            } else if failure_counts.account.count >= self.rules.failures_per_account {
                Some(FailureLimit { limit: self.rules.failures_per_account, slow_scope: "of this account" })
            } else if failures::failed_accounts(db, &network, since_secs, limit).await? >= limit {
                Some(FailureLimit { limit, slow_scope: "of different accounts from your address" })
            } else {
                None
            };
            if slowed_by.is_some() {
                tokio::time::sleep(MIN_CHECK_TIME).await;
            }
            Check::Unknown { _permit: permit }
        };
        Ok(AdmittedAttempt {
            username: login_attempt.user_row.map(|user_row| user_row.username.clone()),
            user_id: login_attempt.user_row.map(|user_row| user_row.id.clone()),
            is_known,
            slowed_by,
            _connection: connection,
            _check: check,
            network,
            account_sha256,
        })
    }

    /// Waits for the turn of a connection. The requests of one connection are served one at a time.
    ///
    /// # Errors
    /// 503 `busy` if earlier attempts take too long.
    pub(super) async fn connection_turn(&self, client: &Client) -> Result<Turn, ApiError> {
        self.connections.wait(client.connection.clone(), WAIT_MAX).await.ok_or_else(busy_error)
    }

    /// Takes all permits for unknown accounts at an address, for tests.
    #[cfg(test)]
    pub(super) async fn fill_unknown_queue(&self, address: &str) -> Vec<UnknownPermit> {
        let mut permits = Vec::new();
        for number in 0..UNKNOWN_CHECKS_PER_ADDRESS {
            let wait = self.unknown_queue.wait(number.to_string(), address.to_owned(), WAIT_MAX);
            permits.push(wait.await.expect("a permit"));
        }
        permits
    }
}

impl AdmittedAttempt {
    /// Counts a wrong password. Returns the refusal if the attempt was slowed.
    ///
    /// # Errors
    /// If the failure cannot be stored.
    pub(super) async fn record_failure(self, db: &Db) -> Result<Option<ApiError>, ApiError> {
        let now_secs = clock::now_unix_secs();
        let (network, account, name) = (&self.network, &self.account_sha256, self.username.as_deref());
        let count_result =
            failures::count_failures(db, network, account, name, now_secs, now_secs - COUNT_RESET_SECS).await;
        if count_result.is_err() {
            // If the failure cannot be counted, for example on a full disk, guessing must not
            // become faster.
            tokio::time::sleep(MIN_CHECK_TIME).await;
        }
        count_result?;
        Ok(self.slowed_by.map(|FailureLimit { limit, slow_scope }| {
            let retry_after_secs = MIN_CHECK_TIME.as_secs().max(1);
            let detail = format!(
                "The name or password is wrong, and at least {limit} log-ins {slow_scope} have failed; try again in \
                 {retry_after_secs} s."
            );
            ApiError::TooManyRequests { detail, retry_after_secs }
        }))
    }

    /// Deletes the account's failures from this address, and makes the account known at the
    /// address.
    pub(super) async fn record_success(self, db: &Db) {
        store_best_effort(
            "the end of failed log-ins",
            failures::delete(db, &self.network, &self.account_sha256),
        )
        .await;
        if let Some(user_id) = self.user_id {
            make_known(db, &user_id, &self.network).await;
        }
    }
}

/// Makes an account known at `network`.
async fn make_known(db: &Db, user_id: &str, network: &str) {
    let now_secs = clock::now_unix_secs();
    let since_secs = now_secs - KNOWN_FOR_SECS;
    let remembering = failures::remember_login(db, user_id, network, now_secs, since_secs);
    store_best_effort("the address of a log-in", remembering).await;
}

/// Returns the error for an attempt that waited too long.
fn busy_error() -> ApiError {
    ApiError::Busy {
        detail: format!(
            "The service is still busy with earlier log-ins after {} seconds; try again in {RETRY_AFTER_SECS} seconds.",
            WAIT_MAX.as_secs()
        ),
        retry_after_secs: RETRY_AFTER_SECS,
    }
}

/// Returns the key of an account in the database. It is a hash, because the name may be a password
/// that was typed into the wrong field.
fn account_sha256(username: &str) -> String {
    format!("{:x}", Sha256::digest(username))
}

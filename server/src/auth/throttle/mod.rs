//! Slows down and refuses password guessing and mass registration.
//!
//! Only a password that was checked and is wrong counts. Three rules hold at the same time:
//!
//! | counted | then | spared |
//! |---|---|---|
//! | failures of one account from one address | its passwords from there are checked one after the other, two a second | nobody |
//! | accounts that failed from one address | the passwords from there are checked twelve at a time, 24 a second | accounts that logged in from there, sessions |
//! | failures of one account from all addresses | its passwords are checked one after the other, two a second | addresses it logged in from, sessions |
//!
//! Wrong passwords are then refused with 429, and right ones are let in: whoever guesses, even with
//! the names of a class at the address of its school, holds up others for as long as the attempts
//! in line take. Who waits for too long is turned away: about ninety connections that guess with
//! one name keep that account out where it never logged in.
//!
//! An address is an IPv4 address or an IPv6 /64. Counts are in the database: neither a restart nor
//! a second node forgets them. Within a process attempts on one account from an address that it
//! logged in from are checked one after the other, and so are attempts on it from all other
//! addresses ([`strangers`]): many at once cannot pass before the first is counted. A connection
//! has one attempt in line, and accounts that are known at an address do not wait behind those that
//! are new there. Who leaves while in line has no password checked. Registrations are counted by
//! address alone ([`registration`]).

mod overview;
mod registration;
mod rules;
mod strangers;

use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

pub use overview::{Lift, Throttled, ThrottledKind};
use rules::{FORGET_SECS, Rule};
use strangers::{StrangersLine, StrangersTurn};

use super::store::{UserRow, failures};
use crate::client_address::{Client, network_of};
use crate::clock;
use crate::config::LoginLimits;
use crate::db::{Db, note};
use crate::error::ApiError;
use crate::turns::{Turn, Turns};

/// Longest wait for all turns of an attempt. A class of 500 that logs in at once waits for less,
/// and proxies usually wait for a minute.
const WAIT_MAX: Duration = Duration::from_secs(45);

/// Seconds after which somebody who waited in vain may try again.
const RETRY_AFTER_SECS: u64 = 10;

/// Attempts of accounts that are known at an address that are checked there at the same time:
/// nobody fills the queue of password hashes alone.
const CHECKS_PER_ADDRESS: usize = 4;

/// The same for accounts that never logged in from there. The attempts of as many connections as an
/// address may have (512) are checked within 22 s.
const CHECKS_OF_STRANGERS_PER_ADDRESS: usize = 12;

/// What checking a password takes at least where too many were wrong. Fewer than 180,000 guesses a
/// day are checked for an account: weak passwords, which take fewer than 100,000,000 guesses, are
/// not taken. A class of 30 is in within four seconds. Tests have a shorter one.
pub(super) const PACE: Duration = Duration::from_millis(if cfg!(test) { 8 } else { 500 });

/// How long an address counts as known to an account after its last log-in from there, in seconds:
/// half a year.
const KNOWN_FOR_SECS: i64 = 180 * 86_400;

/// Counts failed log-ins and says who has to wait.
#[derive(Debug)]
pub struct Throttle {
    rules: Rules,
    /// Of accounts at addresses that they logged in from.
    of_accounts_at_addresses: Turns,
    /// Of addresses, for accounts that logged in from there.
    of_addresses: Turns,
    of_strangers: StrangersLine,
    of_connections: Turns,
    /// Of registrations, those with a good invitation by themselves.
    of_registrations: Turns,
}

/// The rules, with the limits of the settings.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// Failures of an account from an address before it is slowed there.
    failures_at_address: i64,
    /// Accounts that may fail from an address before it is slowed.
    failed_accounts_per_address: i64,
    /// Failures of an account from all addresses before it is slowed.
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
                free: limits.registrations_per_address,
                first_wait_secs: 8,
                longest_wait_secs: 8,
                about: "Too many registrations from your address",
            },
        }
    }
}

/// Who tries to prove who they are, and from where.
#[derive(Debug)]
pub(super) struct Subject<'s> {
    /// Name of the account as it was typed, in lower case.
    pub username: &'s str,
    /// The account, if one has this name.
    pub row: Option<&'s UserRow>,
    /// Where from.
    pub client: &'s Client,
    /// Whether a token of the account came along.
    pub has_session: bool,
}

/// An attempt that may be checked now. Its outcome must be counted.
#[derive(Debug)]
pub(super) struct Attempt {
    network: String,
    account_sha256: String,
    username: Option<String>,
    user_id: Option<String>,
    /// Whether the account logged in from there before.
    pub is_known: bool,
    /// Which log-ins failed, if it was slowed down; a wrong password is refused then.
    why_slow: Option<&'static str>,
    _of_connection: Turn,
    _check: Check,
}

/// The turns of an attempt whose password is checked.
#[derive(Debug)]
enum Check {
    OfKnown { _of_account: Turn, _of_address: Turn },
    OfStranger { _turn: StrangersTurn },
}

impl Throttle {
    /// Nobody at work yet; `limits` are those of the settings.
    #[must_use]
    pub fn new(limits: LoginLimits) -> Self {
        Self {
            rules: Rules::new(limits),
            of_accounts_at_addresses: Turns::new(1),
            of_addresses: Turns::new(CHECKS_PER_ADDRESS),
            of_strangers: StrangersLine::new(CHECKS_OF_STRANGERS_PER_ADDRESS),
            of_connections: Turns::new(1),
            of_registrations: Turns::new(1),
        }
    }

    /// Waits for the turn of this attempt.
    ///
    /// # Errors
    /// 503 `busy` where earlier attempts take too long.
    pub(super) async fn begin(&self, db: &Db, subject: &Subject<'_>) -> Result<Attempt, ApiError> {
        let network = network_of(subject.client.address);
        let account_sha256 = account_sha256(subject.username);
        let user_id = subject.row.map(|row| row.id.as_str()).unwrap_or_default();
        let now_secs = clock::now_unix_secs();
        failures::follow_clock(db, now_secs).await?;
        let since_secs = now_secs - FORGET_SECS;
        let counted = async || failures::counted(db, &network, &account_sha256, user_id, since_secs).await;
        let deadline = Instant::now() + WAIT_MAX;
        let within = || deadline.saturating_duration_since(Instant::now());

        let of_connection = self.turn_of_connection(subject.client).await?;
        let is_known = subject.has_session || failures::is_known(db, user_id, &network).await?;
        let mut why_slow = None;
        let check = if is_known {
            let key = format!("{network} {account_sha256}");
            let of_account = self.of_accounts_at_addresses.wait(key, within()).await.ok_or_else(busy)?;
            if counted().await?.account_at_network.count >= self.rules.failures_at_address {
                why_slow = Some("of this account from your address");
                tokio::time::sleep(PACE).await;
            }
            let of_address = self.of_addresses.wait(network.clone(), within()).await.ok_or_else(busy)?;
            Check::OfKnown { _of_account: of_account, _of_address: of_address }
        } else {
            let (account, address) = (account_sha256.clone(), network.clone());
            let turn = self.of_strangers.wait(account, address, within()).await.ok_or_else(busy)?;
            let counted = counted().await?;
            let limit = self.rules.failed_accounts_per_address;
            why_slow = if counted.account_at_network.count >= self.rules.failures_at_address {
                Some("of this account from your address")
            } else if counted.account.count >= self.rules.failures_per_account {
                Some("of this account")
            } else if failures::failed_accounts(db, &network, since_secs, limit).await? >= limit {
                Some("of different accounts from your address")
            } else {
                None
            };
            if why_slow.is_some() {
                tokio::time::sleep(PACE).await;
            }
            Check::OfStranger { _turn: turn }
        };
        Ok(Attempt {
            username: subject.row.map(|row| row.username.clone()),
            user_id: subject.row.map(|row| row.id.clone()),
            is_known,
            why_slow,
            _of_connection: of_connection,
            _check: check,
            network,
            account_sha256,
        })
    }

    /// The turn of a connection: the streams of HTTP/2 wait for one another.
    ///
    /// # Errors
    /// 503 `busy` where earlier attempts take too long.
    pub(super) async fn turn_of_connection(&self, client: &Client) -> Result<Turn, ApiError> {
        self.of_connections.wait(client.connection.clone(), WAIT_MAX).await.ok_or_else(busy)
    }

    /// Takes all turns of those who never logged in from an address.
    #[cfg(test)]
    pub(super) async fn stand_in_line(&self, address: &str) -> Vec<StrangersTurn> {
        let mut turns = Vec::new();
        for number in 0..CHECKS_OF_STRANGERS_PER_ADDRESS {
            let wait = self.of_strangers.wait(number.to_string(), address.to_owned(), WAIT_MAX);
            turns.push(wait.await.expect("a turn"));
        }
        turns
    }
}

impl Attempt {
    /// Counts a wrong password. Says how it is to be refused, if it was slowed down.
    ///
    /// # Errors
    /// Internal only.
    pub(super) async fn failed(self, db: &Db) -> Result<Option<ApiError>, ApiError> {
        let now_secs = clock::now_unix_secs();
        let (network, account, name) = (&self.network, &self.account_sha256, self.username.as_deref());
        let counted = failures::count(db, network, account, name, now_secs, now_secs - FORGET_SECS).await;
        if counted.is_err() {
            // The disk is full, for example: nobody guesses faster for that.
            tokio::time::sleep(PACE).await;
        }
        counted?;
        Ok(self.why_slow.map(|of_what| {
            let retry_after_secs = PACE.as_secs().max(1);
            let detail = format!(
                "The name or password is wrong, and too many log-ins {of_what} have failed; try again in \
                 {retry_after_secs} s."
            );
            ApiError::TooManyRequests { detail, retry_after_secs }
        }))
    }

    /// The password was right: forgets the account's failures from here, and remembers that it is
    /// used from here.
    pub(super) async fn succeeded(self, db: &Db) {
        note("the end of failed log-ins", failures::forget(db, &self.network, &self.account_sha256)).await;
        if let Some(user_id) = self.user_id {
            remember(db, &user_id, &self.network).await;
        }
    }
}

/// Makes `network` one that an account is used from.
async fn remember(db: &Db, user_id: &str, network: &str) {
    let now_secs = clock::now_unix_secs();
    let since_secs = now_secs - KNOWN_FOR_SECS;
    let remembering = failures::remember_login(db, user_id, network, now_secs, since_secs);
    note("the address of a log-in", remembering).await;
}

/// The error of an attempt whose turn did not come in time.
fn busy() -> ApiError {
    ApiError::Busy {
        detail: format!("Earlier log-ins have not ended after {} seconds; try again.", WAIT_MAX.as_secs()),
        retry_after_secs: RETRY_AFTER_SECS,
    }
}

/// Key of an account in the database: a hash, so that neither the name's length is stored nor a
/// password that was typed as the name.
fn account_sha256(username: &str) -> String {
    format!("{:x}", Sha256::digest(username))
}

//! Slowing down and refusing those who guess passwords, and those who register without end.
//!
//! Only a password that was checked and is wrong counts. Three rules hold at the same time:
//!
//! | counted | slowed | spared |
//! |---|---|---|
//! | failures of one account from one address | this account from this address, for seconds if it logged in from there | nobody |
//! | accounts that failed from one address | all attempts at this address together, which are checked one after the other | accounts that logged in from there, sessions |
//! | failures of one account from all addresses | this account | addresses it logged in from, sessions |
//!
//! An address is never refused as a whole: somebody who guesses there, with names that nobody has,
//! would keep out everybody who is there for the first time, such as a class in its first lesson.
//!
//! An address is an IPv4 address or an IPv6 /64. Counts are in the database: neither a restart nor
//! a second node forgets them. Within a process attempts on one account from one address are
//! checked one after the other, and so are attempts on one account from all addresses that it never
//! logged in from: many at once cannot pass before the first is counted. Registrations are counted
//! by address alone ([`registration`]).

mod overview;
mod registration;
mod rules;
mod turns;

use std::net::IpAddr;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

pub use overview::{Lift, Throttled, ThrottledKind};
use rules::{FORGET_SECS, Rule};
use turns::{Turn, Turns};

use super::client_address::network_of;
use super::store::{UserRow, failures};
use crate::clock;
use crate::config::LoginLimits;
use crate::db::{Db, note};
use crate::error::ApiError;

/// Attempts from one address that are checked at the same time: a school does not wait long, and
/// nobody fills the queue of password hashes alone.
const CHECKS_PER_ADDRESS: usize = 4;

/// What each attempt at an address takes at least once too many accounts have failed there. One who guesses there has at
/// most four passwords checked in a second; a class of 30 waits for some ten seconds.
const SLOWED_CHECK: Duration = Duration::from_millis(250);

/// How long an address counts as known to an account after its last log-in from there, in seconds:
/// half a year.
const KNOWN_FOR_SECS: i64 = 180 * 86_400;

/// Counts failed log-ins and says who has to wait.
#[derive(Debug)]
pub struct Throttle {
    rules: Rules,
    of_accounts_at_addresses: Turns,
    /// Of accounts at addresses that they never logged in from.
    of_accounts: Turns,
    /// Of accounts at addresses that they never logged in from and where too many failed.
    of_slowed_addresses: Turns,
    of_addresses: Turns,
}

/// The rules, with the limits of the settings.
#[derive(Debug, Clone, Copy)]
struct Rules {
    account_at_address: Rule,
    /// The same where the account has logged in from the address.
    known_account_at_address: Rule,
    /// Accounts that may fail from an address before it is slowed.
    failed_accounts_per_address: i64,
    account: Rule,
    /// Registrations from an address.
    registrations: Rule,
}

impl Rules {
    fn new(limits: LoginLimits) -> Self {
        let account_at_address = Rule {
            free: 5,
            first_wait_secs: 1,
            longest_wait_secs: 900,
            about: "Too many failed log-ins of this account from your address",
        };
        Self {
            account_at_address,
            // Others behind the same address may be the ones who guess. A wait of seconds still
            // leaves them fewer than 22,000 guesses a day.
            known_account_at_address: Rule { longest_wait_secs: 4, ..account_at_address },
            failed_accounts_per_address: limits.failed_accounts_per_address,
            // The longest wait is short, because the owner has to wait as well at an address that
            // is new.
            account: Rule {
                free: limits.failures_per_account,
                first_wait_secs: 8,
                longest_wait_secs: 60,
                about: "Too many failed log-ins of this account",
            },
            registrations: Rule {
                free: limits.registrations_per_address,
                first_wait_secs: 8,
                longest_wait_secs: 60,
                about: "Too many registrations from your address",
            },
        }
    }
}

impl Rules {
    /// The rule for one account at one address, where it has logged in before or not.
    fn of_account_at_address(&self, is_known_there: bool) -> Rule {
        if is_known_there { self.known_account_at_address } else { self.account_at_address }
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
    pub address: IpAddr,
    /// Whether a token of the account came along.
    pub has_session: bool,
}

/// An attempt that may be checked now. Its outcome must be counted.
#[derive(Debug)]
pub(super) struct Attempt<'t> {
    network: String,
    account_sha256: String,
    username: Option<String>,
    user_id: Option<String>,
    _turns: [Option<Turn<'t>>; 4],
}

impl Throttle {
    /// Nobody at work yet; `limits` are those of the settings.
    #[must_use]
    pub fn new(limits: LoginLimits) -> Self {
        Self {
            rules: Rules::new(limits),
            of_accounts_at_addresses: Turns::new(1, turns::WAIT_MAX),
            of_accounts: Turns::new(1, turns::WAIT_MAX),
            of_slowed_addresses: Turns::new(1, turns::WAIT_MAX),
            of_addresses: Turns::new(CHECKS_PER_ADDRESS, turns::WAIT_MAX),
        }
    }

    /// Waits for the turn of this attempt, and lets it go on unless one of the rules refuses it.
    ///
    /// # Errors
    /// 429 with the seconds to wait; 503 `busy` where earlier attempts at the address take too long.
    pub(super) async fn begin(&self, db: &Db, subject: &Subject<'_>) -> Result<Attempt<'_>, ApiError> {
        let network = network_of(subject.address);
        let account_sha256 = account_sha256(subject.username);
        let user_id = subject.row.map(|row| row.id.as_str());
        // Nobody else logs the account in from here while this turn lasts.
        let at_address = self.of_accounts_at_addresses.wait(format!("{network} {account_sha256}")).await?;
        let is_known_there = failures::is_known(db, user_id.unwrap_or_default(), &network).await?;
        let is_stranger = !is_known_there && !subject.has_session;
        let now_secs = clock::now_unix_secs();
        failures::follow_clock(db, now_secs).await?;
        let since_secs = now_secs - FORGET_SECS;
        let check = async || {
            let (account, user_id) = (account_sha256.as_str(), user_id.unwrap_or_default());
            let counted = failures::counted(db, &network, account, user_id, since_secs).await?;
            let now_secs = clock::now_unix_secs();
            self.rules.of_account_at_address(is_known_there).check(counted.account_at_network, now_secs)?;
            if is_stranger {
                self.rules.account.check(counted.account, now_secs)?;
            }
            Ok::<(), ApiError>(())
        };
        let (mut slowed, mut of_account) = (None, None);
        if is_stranger {
            // Nobody who is refused anyway stands in line.
            check().await?;
            slowed = self.slow_down(db, &network, since_secs).await?;
            of_account = Some(self.of_accounts.wait(account_sha256.clone()).await?);
        }
        // Last, since those who wait for another turn would take a share of this one.
        let of_address = self.of_addresses.wait(network.clone()).await?;
        check().await?;
        Ok(Attempt {
            network,
            account_sha256,
            username: subject.row.map(|row| row.username.clone()),
            user_id: user_id.map(str::to_owned),
            _turns: [Some(at_address), of_account, slowed, Some(of_address)],
        })
    }

    /// Takes the turn that those who never logged in from an address wait for.
    #[cfg(test)]
    pub(super) async fn stand_in_line(&self, address: &str) -> impl Sized + '_ {
        self.of_slowed_addresses.wait(address.to_owned()).await.expect("a turn")
    }

    /// Waits where more accounts have failed since `since_secs` than may: for those who wait already, and for
    /// [`SLOWED_CHECK`].
    async fn slow_down(&self, db: &Db, network: &str, since_secs: i64) -> Result<Option<Turn<'_>>, ApiError> {
        let limit = self.rules.failed_accounts_per_address;
        if failures::failed_accounts(db, network, since_secs, limit).await? < limit {
            return Ok(None);
        }
        let turn = self.of_slowed_addresses.wait(network.to_owned()).await?;
        tokio::time::sleep(SLOWED_CHECK).await;
        Ok(Some(turn))
    }
}

impl Attempt<'_> {
    /// Counts a wrong password.
    ///
    /// # Errors
    /// Internal only.
    pub(super) async fn failed(self, db: &Db) -> Result<(), ApiError> {
        let now_secs = clock::now_unix_secs();
        let (network, account, name) = (&self.network, &self.account_sha256, self.username.as_deref());
        failures::count(db, network, account, name, now_secs, now_secs - FORGET_SECS).await?;
        Ok(())
    }

    /// The password was right: forgets the account's failures from here, and remembers that it is
    /// used from here.
    pub(super) async fn succeeded(self, db: &Db) {
        note("the end of failed log-ins", failures::forget(db, &self.network, &self.account_sha256)).await;
        if let Some(user_id) = self.user_id {
            let now_secs = clock::now_unix_secs();
            let since_secs = now_secs - KNOWN_FOR_SECS;
            let remembering = failures::remember_login(db, &user_id, &self.network, now_secs, since_secs);
            note("the address of a log-in", remembering).await;
        }
    }
}

/// Key of an account in the database: a hash, so that neither the name's length is stored nor a
/// password that was typed as the name.
fn account_sha256(username: &str) -> String {
    format!("{:x}", Sha256::digest(username))
}

//! Slowing down and refusing those who guess passwords, and those who register without end.
//!
//! Counted in the database, so that neither a restart nor a second node forgets. An attempt counts
//! as failed before the password is looked at, so that many at once cannot slip past the count.
//!
//! An account's failures are counted for each address apart: whoever guesses from elsewhere holds up
//! nobody but themselves, and the owner logs in meanwhile.

use std::net::IpAddr;

use sha2::{Digest as _, Sha256};

use super::client_address::network_of;
use super::store::failures::{self, Failures};
use crate::clock;
use crate::db::Db;
use crate::error::ApiError;

/// Failures of one account from one address that cost no waiting.
const FREE_PER_ACCOUNT: i64 = 5;

/// Failures from one address, whatever the account, that cost no waiting.
const FREE_PER_ADDRESS: i64 = 50;

/// Registrations from one address, without an invitation or with a bad one, that cost no waiting.
const FREE_REGISTRATIONS: i64 = 10;

/// Longest wait after a failure, in seconds.
const WAIT_MAX_SECS: i64 = 900;

/// After this long without a failure counting starts anew, in seconds.
const FORGET_SECS: i64 = 3600;

/// One attempt to log in, already counted as failed.
#[derive(Debug)]
pub(super) struct Attempt {
    account: String,
    address: String,
}

/// Something that is counted.
struct Subject {
    key: String,
    /// Failures that cost no waiting.
    free: i64,
    /// What a refusal speaks of, as the start of a sentence.
    what: &'static str,
}

impl Attempt {
    /// Admits an attempt on `username` from `address`, or refuses it.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub(super) async fn admit(db: &Db, username: &str, address: IpAddr) -> Result<Self, ApiError> {
        let network = network_of(address);
        // Hashed, so that neither the length nor what somebody typed by mistake is stored.
        let account = format!("account:{:x}", Sha256::digest(format!("{network}\n{username}")));
        let address = format!("address:{network}");
        let what = "Too many failed log-ins";
        let subjects = [
            Subject { key: account.clone(), free: FREE_PER_ACCOUNT, what },
            Subject { key: address.clone(), free: FREE_PER_ADDRESS, what },
        ];
        count(db, &subjects).await?;
        Ok(Self { account, address })
    }

    /// The password was right: the account's failures from here are forgotten, and this was none of the address's.
    ///
    /// # Errors
    /// Internal only.
    pub(super) async fn succeeded(self, db: &Db) -> Result<(), ApiError> {
        failures::forget_failures(db, &self.account, clock::now_unix_secs() - FORGET_SECS).await?;
        failures::take_back_failure(db, &self.address).await?;
        Ok(())
    }
}

/// Admits a registration from `address`, or refuses it. Successful ones count too.
///
/// # Errors
/// 429 with the seconds to wait.
pub(super) async fn admit_registration(db: &Db, address: IpAddr) -> Result<(), ApiError> {
    let key = format!("registration:{}", network_of(address));
    count(db, &[Subject { key, free: FREE_REGISTRATIONS, what: "Too many registrations" }]).await
}

/// Counts an attempt for every subject, unless one of them has to wait.
async fn count(db: &Db, subjects: &[Subject]) -> Result<(), ApiError> {
    let now_secs = clock::now_unix_secs();
    let mut known = Vec::with_capacity(subjects.len());
    for subject in subjects {
        let before = failures::failures(db, &subject.key).await?;
        let before = before.filter(|one| now_secs - one.last_secs <= FORGET_SECS);
        if let Some(before) = before {
            refuse_if_positive(subject, wait_secs(before, subject.free, now_secs))?;
        }
        known.push(before.map_or(0, |before| before.count));
    }
    for (subject, before) in subjects.iter().zip(known) {
        let count = failures::count_failure(db, &subject.key, now_secs, FORGET_SECS).await?;
        // More than one step further: others were admitted at the same moment.
        if count > subject.free && count > before + 1 {
            refuse_if_positive(subject, penalty_secs(count, subject.free))?;
        }
    }
    Ok(())
}

fn refuse_if_positive(subject: &Subject, secs: i64) -> Result<(), ApiError> {
    match u64::try_from(secs) {
        Ok(retry_after_secs) if retry_after_secs > 0 => Err(ApiError::TooManyRequests {
            detail: format!("{}; try again in {retry_after_secs} s.", subject.what),
            retry_after_secs,
        }),
        _ => Ok(()),
    }
}

/// Seconds that remain to wait at `now_secs`.
fn wait_secs(failures: Failures, free: i64, now_secs: i64) -> i64 {
    // A clock that was set back must not lock anybody out for longer than the penalty itself.
    let elapsed = (now_secs - failures.last_secs).max(0);
    penalty_secs(failures.count, free) - elapsed
}

/// The wait after the `count`-th failure: 1 s, doubled each time, at most [`WAIT_MAX_SECS`].
fn penalty_secs(count: i64, free: i64) -> i64 {
    match u32::try_from(count - free) {
        Ok(over) => 1_i64.checked_shl(over.min(30)).unwrap_or(WAIT_MAX_SECS).min(WAIT_MAX_SECS),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_quarter_of_an_hour() {
        let waits: Vec<i64> = (4..9).map(|count| penalty_secs(count, FREE_PER_ACCOUNT)).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8]);
        assert_eq!(penalty_secs(1_000_000, FREE_PER_ACCOUNT), WAIT_MAX_SECS);
    }

    #[test]
    fn a_wait_passes() {
        let failures = Failures { count: 8, last_secs: 100 };
        assert_eq!(wait_secs(failures, FREE_PER_ACCOUNT, 103), 5);
        assert!(wait_secs(failures, FREE_PER_ACCOUNT, 108) <= 0);
        assert_eq!(wait_secs(failures, FREE_PER_ACCOUNT, 0), 8);
    }
}

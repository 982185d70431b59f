//! Slowing down and refusing those who guess passwords.
//!
//! Counted in the database, so that neither a restart nor a second node forgets. An attempt counts
//! as failed before the password is looked at, so that many at once cannot slip past the count.

use std::net::IpAddr;

use sha2::{Digest as _, Sha256};

use super::store::{self, Failures};
use crate::clock;
use crate::db::Db;
use crate::error::ApiError;

/// Failures of one account from one address that cost no waiting.
const FREE_PER_ACCOUNT: i64 = 5;

/// Failures from one address, whatever the account, that cost no waiting.
const FREE_PER_ADDRESS: i64 = 50;

/// Longest wait after a failure, in seconds.
const WAIT_MAX_SECS: i64 = 900;

/// After this long without a failure counting starts anew, in seconds.
const FORGET_SECS: i64 = 3600;

/// One attempt to log in, already counted as failed.
#[derive(Debug)]
pub(super) struct Attempt {
    account: String,
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
        let subjects = [(account, FREE_PER_ACCOUNT), (format!("address:{network}"), FREE_PER_ADDRESS)];
        let now_secs = clock::now_unix_secs();
        let mut known = Vec::with_capacity(subjects.len());
        for (subject, free) in &subjects {
            let before =
                store::failures(db, subject).await?.filter(|one| now_secs - one.last_secs <= FORGET_SECS);
            if let Some(before) = before {
                refuse_if_positive(wait_secs(before, *free, now_secs))?;
            }
            known.push(before.map_or(0, |before| before.count));
        }
        for ((subject, free), before) in subjects.iter().zip(known) {
            let count = store::count_failure(db, subject, now_secs, FORGET_SECS).await?;
            // More than one step further: others were admitted at the same moment.
            if count > *free && count > before + 1 {
                refuse_if_positive(penalty_secs(count, *free))?;
            }
        }
        let [(account, _), _] = subjects;
        Ok(Self { account })
    }

    /// The password was right: the account's failures from here are forgotten.
    ///
    /// # Errors
    /// Internal only.
    pub(super) async fn succeeded(self, db: &Db) -> Result<(), ApiError> {
        store::forget_failures(db, &self.account, clock::now_unix_secs() - FORGET_SECS).await?;
        Ok(())
    }
}

fn refuse_if_positive(secs: i64) -> Result<(), ApiError> {
    match u64::try_from(secs) {
        Ok(retry_after_secs) if retry_after_secs > 0 => Err(ApiError::TooManyRequests {
            detail: format!("Too many failed log-ins; try again in {retry_after_secs} s."),
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

/// The address, or for IPv6 the /64 that one customer owns.
fn network_of(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
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

    #[test]
    fn neighbours_in_one_ipv6_network_share_a_count() {
        let of = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), "192.0.2.1");
    }
}

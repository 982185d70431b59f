//! A budget of bytes that is shared fairly between the owners (accounts or addresses) of concurrent
//! requests.
//!
//! An owner may reserve at most as many bytes as remain free (Choudhury and Hahne, "Dynamic queue
//! length thresholds for shared-memory packet switches", 1998). A single owner gets half of the
//! budget, two owners get a third each, and bytes always remain free for another owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{ApiError, ApiResult};

/// `Retry-After` of a refusal, in seconds.
const RETRY_AFTER_SECS: u64 = 5;

/// A budget of bytes that requests share.
#[derive(Debug, Clone)]
pub(crate) struct FairBytes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Name of the budget in error texts, such as "memory for large request bodies".
    name: &'static str,
    max_bytes: u64,
    totals: Mutex<Totals>,
}

#[derive(Debug, Default)]
struct Totals {
    bytes: u64,
    by_owner: HashMap<String, u64>,
}

/// The bytes that one request has reserved. Dropping this value frees them.
#[derive(Debug)]
pub(crate) struct ReservedBytes {
    budget: FairBytes,
    owner: String,
    bytes: u64,
}

impl FairBytes {
    /// Creates a budget of `max_bytes`. `name` names it in errors, such as "memory for large
    /// request bodies".
    pub(crate) fn new(name: &'static str, max_bytes: u64) -> Self {
        Self(Arc::new(Inner { name, max_bytes, totals: Mutex::default() }))
    }

    /// Returns an empty reservation for `owner`.
    pub(crate) fn reservation(&self, owner: &str) -> ReservedBytes {
        ReservedBytes { budget: self.clone(), owner: owner.to_owned(), bytes: 0 }
    }
}

impl ReservedBytes {
    /// Reserves `more_bytes` bytes. If no other reservation has bytes, there is no limit.
    ///
    /// # Errors
    /// 503 `busy` with `Retry-After` if the owner would then have more bytes than remain free.
    pub(crate) fn grow(&mut self, more_bytes: u64) -> ApiResult<()> {
        let Inner { name, max_bytes, totals } = &*self.budget.0;
        let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alone = totals.bytes == self.bytes;
        let total_bytes = totals.bytes + more_bytes;
        let owner_bytes = totals.by_owner.get(&self.owner).copied().unwrap_or_default() + more_bytes;
        if !is_alone && owner_bytes + total_bytes > *max_bytes {
            return Err(ApiError::Busy {
                detail: format!(
                    "This request needs {more_bytes} bytes of {name}. You would then use {owner_bytes} bytes, and {} of \
                     {max_bytes} would remain free; you may use at most as many bytes as remain free. Try again in \
                     {RETRY_AFTER_SECS} seconds.",
                    max_bytes.saturating_sub(total_bytes)
                ),
                retry_after_secs: RETRY_AFTER_SECS,
            });
        }
        totals.bytes = total_bytes;
        totals.by_owner.insert(self.owner.clone(), owner_bytes);
        self.bytes += more_bytes;
        Ok(())
    }
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        let mut totals = self.budget.0.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.bytes -= self.bytes;
        if let Some(owner_bytes) = totals.by_owner.get_mut(&self.owner) {
            *owner_bytes -= self.bytes;
            if *owner_bytes == 0 {
                totals.by_owner.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_busy(outcome: ApiResult<()>) -> bool {
        matches!(outcome, Err(ApiError::Busy { .. }))
    }

    #[test]
    fn an_owner_leaves_bytes_for_others() {
        let budget = FairBytes::new("tests", 120);
        let (mut first, mut second) = (budget.reservation("ada"), budget.reservation("ada"));
        first.grow(40).expect("within the owner's share");
        second.grow(20).expect("half of the budget");
        assert!(is_busy(second.grow(1)));
        let mut bob = budget.reservation("bob");
        bob.grow(30).expect("half of the free bytes");
        assert!(is_busy(bob.grow(1)));
        let mut eve = budget.reservation("eve");
        eve.grow(15).expect("half of the bytes that are still free");
        drop((first, second));
        bob.grow(1).expect("there are free bytes again");
        drop((bob, eve));
        let totals = budget.0.totals.lock().expect("not poisoned");
        assert_eq!((totals.bytes, totals.by_owner.len()), (0, 0));
    }

    #[test]
    fn a_refusal_tells_what_the_owner_would_use_and_what_would_remain() {
        let budget = FairBytes::new("memory for tests", 100);
        let (mut bob, mut ada) = (budget.reservation("bob"), budget.reservation("ada"));
        bob.grow(40).expect("the first reservation");
        ada.grow(20).expect("at most the 40 bytes that remain");
        let Err(ApiError::Busy { detail, .. }) = ada.grow(15) else {
            panic!("35 bytes exceed the 25 that remain")
        };
        assert_eq!(
            detail,
            "This request needs 15 bytes of memory for tests. You would then use 35 bytes, and 25 of 100 would remain \
             free; you may use at most as many bytes as remain free. Try again in 5 seconds."
        );
        ada.grow(10).expect("at most the 30 bytes that remain");
    }

    #[test]
    fn the_only_reservation_has_no_limit() {
        let budget = FairBytes::new("tests", 10);
        let mut large_reservation = budget.reservation("ada");
        large_reservation.grow(1_000).expect("it is the only reservation");
        large_reservation.grow(1_000).expect("it still is the only reservation");
        assert!(is_busy(budget.reservation("bob").grow(1)));
    }
}

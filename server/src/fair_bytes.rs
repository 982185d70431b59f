//! A budget of bytes for concurrent requests, shared fairly between their senders.
//!
//! An owner may hold at most as many bytes as remain free (Choudhury and Hahne, "Dynamic queue
//! length thresholds for shared-memory packet switches", 1998). One user gets half, two get a third
//! each, and a new user always finds room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{ApiError, ApiResult};

/// Seconds after which a refused caller may try again.
const RETRY_AFTER_SECS: u64 = 5;

/// A budget of bytes that requests share.
#[derive(Debug, Clone)]
pub(crate) struct FairBytes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Name of the content, in the plural, for messages.
    what: &'static str,
    max_bytes: u64,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    by_owner: HashMap<String, u64>,
}

/// The bytes that one request holds until this is dropped.
#[derive(Debug)]
pub(crate) struct ReservedBytes {
    budget: FairBytes,
    owner: String,
    bytes: u64,
}

impl FairBytes {
    /// A budget of `max_bytes`. `what` names the content in messages, such as "bodies of requests".
    pub(crate) fn new(what: &'static str, max_bytes: u64) -> Self {
        Self(Arc::new(Inner { what, max_bytes, held: Mutex::default() }))
    }

    /// An empty reservation for `owner`.
    pub(crate) fn reservation(&self, owner: &str) -> ReservedBytes {
        ReservedBytes { budget: self.clone(), owner: owner.to_owned(), bytes: 0 }
    }
}

impl ReservedBytes {
    /// Reserves `more` bytes. While no other reservation holds bytes, there is no limit.
    ///
    /// # Errors
    /// 503 `busy` with `Retry-After` if there is no room.
    pub(crate) fn grow(&mut self, more: u64) -> ApiResult<()> {
        let Inner { what, max_bytes, held } = &*self.budget.0;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alone = held.bytes == self.bytes;
        let total = held.bytes + more;
        let of_owner = held.by_owner.get(&self.owner).copied().unwrap_or_default() + more;
        if !is_alone && of_owner + total > *max_bytes {
            return Err(ApiError::Busy {
                detail: format!(
                    "There is no room for more {what} at the moment: all users' use {} of {max_bytes} bytes, and yours use {}. \
                     Try again in {RETRY_AFTER_SECS} seconds.",
                    held.bytes,
                    of_owner - more
                ),
                retry_after_secs: RETRY_AFTER_SECS,
            });
        }
        held.bytes = total;
        held.by_owner.insert(self.owner.clone(), of_owner);
        self.bytes += more;
        Ok(())
    }
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        let mut held = self.budget.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.bytes -= self.bytes;
        if let Some(of_owner) = held.by_owner.get_mut(&self.owner) {
            *of_owner -= self.bytes;
            if *of_owner == 0 {
                held.by_owner.remove(&self.owner);
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
    fn an_owner_leaves_room_for_others() {
        let budget = FairBytes::new("tests", 120);
        let (mut first, mut second) = (budget.reservation("ada"), budget.reservation("ada"));
        first.grow(40).expect("fits");
        second.grow(20).expect("half of all");
        assert!(is_busy(second.grow(1)));
        let mut of_bob = budget.reservation("bob");
        of_bob.grow(30).expect("half of what is free");
        assert!(is_busy(of_bob.grow(1)));
        let mut of_eve = budget.reservation("eve");
        of_eve.grow(15).expect("half of what is still free");
        drop((first, second));
        of_bob.grow(1).expect("there is room again");
        drop((of_bob, of_eve));
        let held = budget.0.held.lock().expect("free");
        assert_eq!((held.bytes, held.by_owner.len()), (0, 0));
    }

    #[test]
    fn the_only_reservation_has_no_limit() {
        let budget = FairBytes::new("tests", 10);
        let mut large = budget.reservation("ada");
        large.grow(1_000).expect("it is the only one");
        large.grow(1_000).expect("it still is");
        assert!(is_busy(budget.reservation("bob").grow(1)));
    }
}

//! Bytes that requests hold at the same time, shared fairly between those who send them.
//!
//! Somebody may hold at most as many bytes as remain free (Choudhury and Hahne, "Dynamic queue
//! length thresholds for shared-memory packet switches", 1998): one user gets half, two get a third
//! each, and there is always room for another one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{ApiError, ApiResult};

/// Seconds after which a caller that was turned away may try again.
const RETRY_AFTER_SECS: u64 = 5;

/// A number of bytes that requests may hold together.
#[derive(Debug, Clone)]
pub(crate) struct FairBytes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// What the bytes are, in the plural, for messages.
    what: &'static str,
    max_bytes: u64,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    by_owner: HashMap<String, u64>,
}

/// The bytes that one request holds; dropped, it holds none.
#[derive(Debug)]
pub(crate) struct Share {
    all: FairBytes,
    owner: String,
    bytes: u64,
}

impl FairBytes {
    /// Room for `max_bytes`. `what` names the bytes in messages, such as "bodies of requests".
    pub(crate) fn new(what: &'static str, max_bytes: u64) -> Self {
        Self(Arc::new(Inner { what, max_bytes, held: Mutex::default() }))
    }

    /// A share of `owner`, without bytes.
    pub(crate) fn share(&self, owner: &str) -> Share {
        Share { all: self.clone(), owner: owner.to_owned(), bytes: 0 }
    }
}

impl Share {
    /// Holds `more` bytes. The only share of all may hold as many as it needs.
    ///
    /// # Errors
    /// 503 `busy` with `Retry-After` where there is no room.
    pub(crate) fn grow(&mut self, more: u64) -> ApiResult<()> {
        let Inner { what, max_bytes, held } = &*self.all.0;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_only_one = held.bytes == self.bytes;
        let total = held.bytes + more;
        let owners = held.by_owner.get(&self.owner).copied().unwrap_or_default() + more;
        if !is_only_one && owners + total > *max_bytes {
            return Err(ApiError::Busy {
                detail: format!(
                    "There is no room for more {what} at the moment: all of them hold {} of {max_bytes} bytes, yours {}. \
                     Try again in {RETRY_AFTER_SECS} seconds.",
                    held.bytes,
                    owners - more
                ),
                retry_after_secs: RETRY_AFTER_SECS,
            });
        }
        held.bytes = total;
        held.by_owner.insert(self.owner.clone(), owners);
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.all.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.bytes -= self.bytes;
        if let Some(owners) = held.by_owner.get_mut(&self.owner) {
            *owners -= self.bytes;
            if *owners == 0 {
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
    fn nobody_takes_the_room_of_others() {
        let all = FairBytes::new("tests", 120);
        let (mut first, mut second) = (all.share("ada"), all.share("ada"));
        first.grow(40).expect("fits");
        second.grow(20).expect("half of all");
        assert!(is_busy(second.grow(1)));
        let mut of_bob = all.share("bob");
        of_bob.grow(30).expect("half of what is free");
        assert!(is_busy(of_bob.grow(1)));
        let mut of_eve = all.share("eve");
        of_eve.grow(15).expect("half of what is still free");
        drop((first, second));
        of_bob.grow(1).expect("there is room again");
        drop((of_bob, of_eve));
        let held = all.0.held.lock().expect("free");
        assert_eq!((held.bytes, held.by_owner.len()), (0, 0));
    }

    #[test]
    fn the_only_one_may_be_as_large_as_it_is() {
        let all = FairBytes::new("tests", 10);
        let mut large = all.share("ada");
        large.grow(1_000).expect("it is the only one");
        large.grow(1_000).expect("it still is");
        assert!(is_busy(all.share("bob").grow(1)));
    }
}

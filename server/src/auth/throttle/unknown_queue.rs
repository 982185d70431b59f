//! The queue of log-in attempts on accounts that are unknown at the client's address.
//!
//! Attempts on one account are checked one at a time, over all addresses together. Each address has
//! a limited number of check slots. Among the attempts that may start, the oldest starts first. So
//! a flood from one address does not block accounts at other addresses. Guesses for one account do
//! not block other accounts at the same address.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

/// The queue of this process.
#[derive(Debug, Clone)]
pub(super) struct UnknownQueue(Arc<Mutex<Queue>>);

#[derive(Debug)]
struct Queue {
    checks_per_address: usize,
    /// The attempts by their numbers, which ascend in order of arrival.
    attempts: BTreeMap<u64, Attempt>,
    next_number: u64,
    /// Numbers of the attempts on each account.
    by_account: HashMap<String, BTreeSet<u64>>,
    /// Accounts of which an attempt is being checked.
    accounts_in_check: HashSet<String>,
    /// Number of used check slots of each address.
    used_slots: HashMap<String, usize>,
}

#[derive(Debug)]
struct Attempt {
    account: String,
    address: String,
    stage: Stage,
    start: Option<oneshot::Sender<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    /// The attempt has a check slot of its address, and is the next one for its account.
    Next,
    Checking,
}

/// An entry of the queue, and later the permit to check the attempt. Dropping it removes the
/// attempt.
#[derive(Debug)]
pub(in crate::auth) struct UnknownPermit {
    queue: UnknownQueue,
    number: u64,
}

impl UnknownQueue {
    /// Creates an empty queue with `checks_per_address` check slots for each address.
    pub(super) fn new(checks_per_address: usize) -> Self {
        Self(Arc::new(Mutex::new(Queue {
            checks_per_address,
            attempts: BTreeMap::new(),
            next_number: 0,
            by_account: HashMap::new(),
            accounts_in_check: HashSet::new(),
            used_slots: HashMap::new(),
        })))
    }

    /// Waits for a permit. Returns `None` if there is none after `wait_max`.
    pub(super) async fn wait(
        &self,
        account: String,
        address: String,
        wait_max: Duration,
    ) -> Option<UnknownPermit> {
        let (permit, start_signal) = self.join(account, address);
        tokio::time::timeout(wait_max, start_signal).await.ok()?.ok()?;
        Some(permit)
    }

    fn join(&self, account: String, address: String) -> (UnknownPermit, oneshot::Receiver<()>) {
        let (start, start_signal) = oneshot::channel();
        let attempt = Attempt { account, address, stage: Stage::Waiting, start: Some(start) };
        let number = self.lock().add(attempt);
        (UnknownPermit { queue: self.clone(), number }, start_signal)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnknownPermit {
    fn drop(&mut self) {
        self.queue.lock().remove(self.number);
    }
}

impl Queue {
    fn add(&mut self, attempt: Attempt) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.by_account.entry(attempt.account.clone()).or_default().insert(number);
        self.attempts.insert(number, attempt);
        self.advance(number);
        number
    }

    fn remove(&mut self, number: u64) {
        let Some(attempt) = self.attempts.remove(&number) else { return };
        if let Some(numbers) = self.by_account.get_mut(&attempt.account) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_account.remove(&attempt.account);
            }
        }
        if attempt.stage == Stage::Waiting {
            return;
        }
        if attempt.stage == Stage::Checking {
            self.accounts_in_check.remove(&attempt.account);
        }
        if let Some(used_count) = self.used_slots.get_mut(&attempt.address) {
            *used_count -= 1;
            if *used_count == 0 {
                self.used_slots.remove(&attempt.address);
            }
        }
        let numbers: Vec<u64> = self.attempts.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.advance(number));
    }

    /// Advances an attempt through its stages as far as the limits allow.
    fn advance(&mut self, number: u64) {
        let Some(attempt) = self.attempts.get(&number) else { return };
        let (stage, is_account_free) = (attempt.stage, !self.accounts_in_check.contains(&attempt.account));
        let advances = match stage {
            Stage::Waiting => self.may_take_slot(number, attempt, is_account_free),
            Stage::Next => is_account_free,
            Stage::Checking => false,
        };
        let Some(attempt) = self.attempts.get_mut(&number).filter(|_| advances) else { return };
        if stage == Stage::Waiting {
            *self.used_slots.entry(attempt.address.clone()).or_default() += 1;
        }
        if !is_account_free {
            attempt.stage = Stage::Next;
            return;
        }
        attempt.stage = Stage::Checking;
        self.accounts_in_check.insert(attempt.account.clone());
        if let Some(start) = attempt.start.take() {
            // Sending fails if the client has disconnected. Then the request drops the permit.
            start.send(()).ok();
        }
    }

    /// Whether a waiting attempt may take a check slot. Its address must have a free slot, and it
    /// must be the first attempt that waits for its account. If the account is free, the attempt
    /// may also overtake an earlier attempt whose address has no free slot.
    fn may_take_slot(&self, number: u64, attempt: &Attempt, is_account_free: bool) -> bool {
        let used_count = self.used_slots.get(&attempt.address).copied().unwrap_or_default();
        let mut earlier =
            self.by_account.get(&attempt.account).into_iter().flat_map(|numbers| numbers.range(..number));
        let stage_of = |number| self.attempts.get(number).map(|other_attempt| other_attempt.stage);
        let first = earlier
            .find_map(|other_attempt| stage_of(other_attempt).filter(|stage| *stage != Stage::Checking));
        used_count < self.checks_per_address
            && first.is_none_or(|first| first == Stage::Waiting && is_account_free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Waiter = (UnknownPermit, oneshot::Receiver<()>);

    fn join(queue: &UnknownQueue, account: &str, address: &str) -> Waiter {
        queue.join(account.to_owned(), address.to_owned())
    }

    fn has_started((_, started): &mut Waiter) -> bool {
        started.try_recv().is_ok()
    }

    #[test]
    fn attempts_on_an_account_are_checked_one_at_a_time() {
        let queue = UnknownQueue::new(3);
        let mut waiters = Vec::from(["a", "b", "a", "c"].map(|address| join(&queue, "ada", address)));
        while !waiters.is_empty() {
            let mut first = waiters.remove(0);
            assert!(has_started(&mut first));
            assert!(!waiters.iter_mut().any(has_started));
        }
    }

    #[test]
    fn an_address_has_a_limited_number_of_parallel_checks() {
        let queue = UnknownQueue::new(2);
        let mut waiters = ["ada", "bob", "cyd", "dan"].map(|account| join(&queue, account, "a"));
        assert_eq!(waiters.each_mut().map(has_started), [true, true, false, false]);
        assert!(has_started(&mut join(&queue, "eve", "b")), "an attempt from another address waited");
        let [ada, bob, mut cyd, mut dan] = waiters;
        drop(bob);
        assert!(has_started(&mut cyd) && !has_started(&mut dan));
        drop((ada, cyd));
        assert!(has_started(&mut dan));
    }

    #[test]
    fn flooding_an_address_does_not_block_an_account_elsewhere() {
        let queue = UnknownQueue::new(2);
        let _flood = ["x", "y", "ada", "ada"].map(|account| join(&queue, account, "a"));
        let mut elsewhere = join(&queue, "ada", "b");
        assert!(has_started(&mut elsewhere));
    }

    #[test]
    fn guesses_for_one_account_use_at_most_two_slots_of_an_address() {
        let queue = UnknownQueue::new(3);
        let mut guesses = Vec::from(["ada"; 20].map(|account| join(&queue, account, "a")));
        assert!(has_started(&mut join(&queue, "bob", "a")));
        drop(guesses.remove(0));
        assert!(has_started(&mut guesses[0]));
        assert!(has_started(&mut join(&queue, "bob", "a")));
    }

    /// Other names keep the address full, and guesses for the account keep arriving from elsewhere.
    #[test]
    fn an_attempt_that_waits_for_address_and_account_starts_eventually() {
        let queue = UnknownQueue::new(2);
        let mut flood: Vec<Waiter> = (0..6).map(|number| join(&queue, &number.to_string(), "a")).collect();
        let mut guesses: Vec<Waiter> = (0..3).map(|_| join(&queue, "ada", "b")).collect();
        let mut ada = join(&queue, "ada", "a");
        for round in 0.. {
            flood.push(join(&queue, &format!("name {round}"), "a"));
            guesses.push(join(&queue, "ada", "b"));
            if has_started(&mut ada) {
                return;
            }
            drop(if round % 2 == 0 { flood.remove(0) } else { guesses.remove(0) });
            assert!(round < 20, "later attempts keep overtaking this one");
        }
    }

    #[test]
    fn a_dropped_attempt_leaves_the_queue() {
        let queue = UnknownQueue::new(1);
        let first = join(&queue, "ada", "a");
        let (next, mut last) = (join(&queue, "ada", "b"), join(&queue, "ada", "b"));
        drop(next);
        drop(first);
        assert!(has_started(&mut last));
        drop(last);
        let queue = queue.lock();
        assert!(queue.attempts.is_empty() && queue.by_account.is_empty());
        assert!(queue.accounts_in_check.is_empty() && queue.used_slots.is_empty());
    }

    #[tokio::test]
    async fn an_attempt_stops_waiting_at_its_deadline() {
        let queue = UnknownQueue::new(1);
        let wait = |secs| queue.wait("ada".to_owned(), "a".to_owned(), Duration::from_secs(secs));
        let first = wait(60).await.expect("a permit");
        assert!(wait(0).await.is_none(), "two attempts on one account got a permit");
        drop(first);
        wait(60).await.expect("a permit");
    }
}

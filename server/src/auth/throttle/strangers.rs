//! The queue of log-in attempts from addresses where the account never logged in.
//!
//! Attempts on one account are checked one after the other, whatever address they come from, and
//! so many of one address at a time. Whoever came first goes first among those that may go: who
//! floods an address holds up no account elsewhere, and who guesses one password no address.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

/// The attempts of this process.
#[derive(Debug, Clone)]
pub(super) struct StrangersLine(Arc<Mutex<Line>>);

#[derive(Debug)]
struct Line {
    checks_per_address: usize,
    /// By their numbers, which grow.
    attempts: BTreeMap<u64, Attempt>,
    next_number: u64,
    /// Numbers of the attempts on each account.
    of_accounts: HashMap<String, BTreeSet<u64>>,
    /// Accounts with an attempt that is being checked.
    checked_accounts: HashSet<String>,
    /// Checks of each address that are taken.
    taken_checks: HashMap<String, usize>,
}

#[derive(Debug)]
struct Attempt {
    account: String,
    address: String,
    stage: Stage,
    starts: Option<oneshot::Sender<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    /// It has a check of its address, and comes next for its account.
    Next,
    Checked,
}

/// A place in the line, and then a turn. It ends when it is dropped.
#[derive(Debug)]
pub(in crate::auth) struct StrangersTurn {
    line: StrangersLine,
    number: u64,
}

impl StrangersLine {
    /// Nobody is in line. `checks_per_address` attempts from one address are checked together.
    pub(super) fn new(checks_per_address: usize) -> Self {
        Self(Arc::new(Mutex::new(Line {
            checks_per_address,
            attempts: BTreeMap::new(),
            next_number: 0,
            of_accounts: HashMap::new(),
            checked_accounts: HashSet::new(),
            taken_checks: HashMap::new(),
        })))
    }

    /// Waits for a turn; `None` if it is not there within `within`.
    pub(super) async fn wait(
        &self,
        account: String,
        address: String,
        within: Duration,
    ) -> Option<StrangersTurn> {
        let (turn, started) = self.join(account, address);
        tokio::time::timeout(within, started).await.ok()?.ok()?;
        Some(turn)
    }

    fn join(&self, account: String, address: String) -> (StrangersTurn, oneshot::Receiver<()>) {
        let (starts, started) = oneshot::channel();
        let attempt = Attempt { account, address, stage: Stage::Waiting, starts: Some(starts) };
        let number = self.lock().add(attempt);
        (StrangersTurn { line: self.clone(), number }, started)
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StrangersTurn {
    fn drop(&mut self) {
        self.line.lock().remove(self.number);
    }
}

impl Line {
    fn add(&mut self, attempt: Attempt) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.of_accounts.entry(attempt.account.clone()).or_default().insert(number);
        self.attempts.insert(number, attempt);
        self.advance(number);
        number
    }

    fn remove(&mut self, number: u64) {
        let Some(attempt) = self.attempts.remove(&number) else { return };
        if let Some(numbers) = self.of_accounts.get_mut(&attempt.account) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.of_accounts.remove(&attempt.account);
            }
        }
        if attempt.stage == Stage::Waiting {
            return;
        }
        if attempt.stage == Stage::Checked {
            self.checked_accounts.remove(&attempt.account);
        }
        if let Some(taken) = self.taken_checks.get_mut(&attempt.address) {
            *taken -= 1;
            if *taken == 0 {
                self.taken_checks.remove(&attempt.address);
            }
        }
        let numbers: Vec<u64> = self.attempts.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.advance(number));
    }

    /// Advances an attempt as far as the limits allow.
    fn advance(&mut self, number: u64) {
        let Some(attempt) = self.attempts.get(&number) else { return };
        let (before, is_free) = (attempt.stage, !self.checked_accounts.contains(&attempt.account));
        let goes_on = match before {
            Stage::Waiting => self.may_take_a_check(number, attempt, is_free),
            Stage::Next => is_free,
            Stage::Checked => false,
        };
        let Some(attempt) = self.attempts.get_mut(&number).filter(|_| goes_on) else { return };
        if before == Stage::Waiting {
            *self.taken_checks.entry(attempt.address.clone()).or_default() += 1;
        }
        if !is_free {
            attempt.stage = Stage::Next;
            return;
        }
        attempt.stage = Stage::Checked;
        self.checked_accounts.insert(attempt.account.clone());
        if let Some(starts) = attempt.starts.take() {
            // Who left meanwhile drops the turn.
            starts.send(()).ok();
        }
    }

    /// Whether its address has room for an attempt that waits, and it is the first one that waits
    /// for its account, or may pass that one: its address is full, and the account is free.
    fn may_take_a_check(&self, number: u64, attempt: &Attempt, is_free: bool) -> bool {
        let taken = self.taken_checks.get(&attempt.address).copied().unwrap_or_default();
        let mut earlier =
            self.of_accounts.get(&attempt.account).into_iter().flat_map(|numbers| numbers.range(..number));
        let stage_of = |number| self.attempts.get(number).map(|other| other.stage);
        let first = earlier.find_map(|other| stage_of(other).filter(|stage| *stage != Stage::Checked));
        taken < self.checks_per_address && first.is_none_or(|first| first == Stage::Waiting && is_free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Place = (StrangersTurn, oneshot::Receiver<()>);

    fn join(line: &StrangersLine, account: &str, address: &str) -> Place {
        line.join(account.to_owned(), address.to_owned())
    }

    fn has_started((_, started): &mut Place) -> bool {
        started.try_recv().is_ok()
    }

    #[test]
    fn attempts_on_an_account_go_one_after_the_other() {
        let line = StrangersLine::new(3);
        let mut places = Vec::from(["a", "b", "a", "c"].map(|address| join(&line, "ada", address)));
        while !places.is_empty() {
            let mut first = places.remove(0);
            assert!(has_started(&mut first));
            assert!(!places.iter_mut().any(has_started));
        }
    }

    #[test]
    fn an_address_has_so_many_checks() {
        let line = StrangersLine::new(2);
        let mut places = ["ada", "bob", "cyd", "dan"].map(|account| join(&line, account, "a"));
        assert_eq!(places.each_mut().map(has_started), [true, true, false, false]);
        assert!(has_started(&mut join(&line, "eve", "b")), "of another address");
        let [ada, bob, mut cyd, mut dan] = places;
        drop(bob);
        assert!(has_started(&mut cyd) && !has_started(&mut dan));
        drop((ada, cyd));
        assert!(has_started(&mut dan));
    }

    #[test]
    fn who_floods_an_address_holds_up_no_account_elsewhere() {
        let line = StrangersLine::new(2);
        let _flood = ["x", "y", "ada", "ada"].map(|account| join(&line, account, "a"));
        let mut elsewhere = join(&line, "ada", "b");
        assert!(has_started(&mut elsewhere));
    }

    #[test]
    fn who_guesses_one_password_has_two_checks_of_an_address_at_most() {
        let line = StrangersLine::new(3);
        let mut guesses = Vec::from(["ada"; 20].map(|account| join(&line, account, "a")));
        assert!(has_started(&mut join(&line, "bob", "a")));
        drop(guesses.remove(0));
        assert!(has_started(&mut guesses[0]));
        assert!(has_started(&mut join(&line, "bob", "a")));
    }

    /// The address is always full, and somebody elsewhere always guesses the password.
    #[test]
    fn who_waits_for_both_is_not_passed_for_ever() {
        let line = StrangersLine::new(2);
        let mut flood: Vec<Place> = (0..6).map(|number| join(&line, &number.to_string(), "a")).collect();
        let mut guesses: Vec<Place> = (0..3).map(|_| join(&line, "ada", "b")).collect();
        let mut ada = join(&line, "ada", "a");
        for round in 0.. {
            flood.push(join(&line, &format!("name {round}"), "a"));
            guesses.push(join(&line, "ada", "b"));
            if has_started(&mut ada) {
                return;
            }
            drop(if round % 2 == 0 { flood.remove(0) } else { guesses.remove(0) });
            assert!(round < 20, "those who came later go first");
        }
    }

    #[test]
    fn who_leaves_makes_room_and_nothing_is_kept_of_them() {
        let line = StrangersLine::new(1);
        let first = join(&line, "ada", "a");
        let (next, mut last) = (join(&line, "ada", "b"), join(&line, "ada", "b"));
        drop(next);
        drop(first);
        assert!(has_started(&mut last));
        drop(last);
        let line = line.lock();
        assert!(line.attempts.is_empty() && line.of_accounts.is_empty());
        assert!(line.checked_accounts.is_empty() && line.taken_checks.is_empty());
    }

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let line = StrangersLine::new(1);
        let wait = |secs| line.wait("ada".to_owned(), "a".to_owned(), Duration::from_secs(secs));
        let first = wait(60).await.expect("a turn");
        assert!(wait(0).await.is_none(), "the first never ends");
        drop(first);
        wait(60).await.expect("a turn");
    }
}

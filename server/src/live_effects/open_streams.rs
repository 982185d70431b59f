//! Counts the open streams of each account, and shares the processors between accounts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of open streams of all accounts, and of one account.
const STREAMS_MAX: usize = 1_024;
const STREAMS_PER_ACCOUNT_MAX: usize = 256;

/// Time after its last block for which an account counts as one that processes.
const ACTIVE: Duration = Duration::from_secs(1);

/// How much of its share of the processors an account may use in advance.
const AHEAD_MAX: Duration = Duration::from_millis(250);

/// The accounts with open streams.
#[derive(Debug, Clone)]
pub(super) struct OpenStreams {
    accounts: Arc<Mutex<HashMap<String, Account>>>,
    started_at: Instant,
    processors: u32,
}

#[derive(Debug, Default)]
struct Account {
    streams: usize,
    /// Time since the start at which the account has used its share for all blocks so far.
    used_until: Duration,
    /// Time since the start of the last block.
    active_at: Option<Duration>,
}

impl Default for OpenStreams {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        Self { accounts: Arc::default(), started_at: Instant::now(), processors }
    }
}

/// An open stream, which counts until this value is dropped.
#[derive(Debug)]
pub(super) struct OpenStream {
    streams: OpenStreams,
    user_id: String,
}

impl OpenStreams {
    /// Counts a new stream of an account.
    ///
    /// # Errors
    /// A text with the limit, if the account or the service has too many streams.
    pub(super) fn open(&self, user_id: &str) -> Result<OpenStream, String> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.values().map(|account| account.streams).sum::<usize>() >= STREAMS_MAX {
            return Err(format!("the service has {STREAMS_MAX} open streams, the maximum"));
        }
        let account = accounts.entry(user_id.to_owned()).or_default();
        if account.streams >= STREAMS_PER_ACCOUNT_MAX {
            return Err(format!("the account has {STREAMS_PER_ACCOUNT_MAX} open streams, the maximum"));
        }
        account.streams += 1;
        Ok(OpenStream { streams: self.clone(), user_id: user_id.to_owned() })
    }
}

impl OpenStream {
    /// Counts time that a message of this stream occupied a processor. Returns how long the next
    /// message must wait. While several accounts process, each gets an equal share of the
    /// processors, whatever the number of its streams.
    pub(super) fn count_processing(&self, processing: Duration) -> Duration {
        self.count_processing_at(processing, self.streams.started_at.elapsed())
    }

    fn count_processing_at(&self, processing: Duration, now: Duration) -> Duration {
        let mut accounts = self.streams.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_active = |(user_id, account): &(&String, &Account)| {
            **user_id == self.user_id || account.active_at.is_some_and(|at| now.saturating_sub(at) < ACTIVE)
        };
        let active = accounts.iter().filter(is_active).count() as u32;
        let Some(account) = accounts.get_mut(&self.user_id) else { return Duration::ZERO };
        account.active_at = Some(now);
        if active < 2 {
            return Duration::ZERO;
        }
        account.used_until = account.used_until.max(now) + processing * active / self.streams.processors;
        account.used_until.saturating_sub(now + AHEAD_MAX)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut accounts = self.streams.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts.get_mut(&self.user_id) {
            account.streams -= 1;
            if account.streams == 0 {
                accounts.remove(&self.user_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_a_limited_number_of_streams() {
        let streams = OpenStreams::default();
        let mut open: Vec<_> =
            (0..STREAMS_PER_ACCOUNT_MAX).map(|_| streams.open("a").expect("below the limit")).collect();
        assert_eq!(streams.open("a").unwrap_err(), "the account has 256 open streams, the maximum");
        open.push(streams.open("b").expect("another account"));
        open.remove(0);
        open.push(streams.open("a").expect("a stream has ended"));
        open.clear();
        assert!(streams.accounts.lock().expect("not poisoned").is_empty());
    }

    #[test]
    fn accounts_that_process_at_the_same_time_share_the_processors() {
        let streams = OpenStreams { processors: 2, ..OpenStreams::default() };
        let open = |user| streams.open(user).expect("below the limit");
        let (flood, honest, _idle) = ([open("ada"), open("ada")], open("bob"), open("eve"));
        let (ms, block) = (Duration::from_millis, Duration::from_millis(1));
        let count = |stream: &OpenStream, processing, now| stream.count_processing_at(processing, now);
        // The only account that processes has all processors.
        assert!((0..100).all(|at| flood.iter().all(|stream| count(stream, ms(20), ms(at)).is_zero())));
        // With another one, both of its streams together get one of the two processors.
        assert_eq!(count(&honest, block, ms(100)), Duration::ZERO);
        let waits = [ms(200), ms(200)].map(|used| count(&flood[0], used, ms(100)).as_millis());
        assert_eq!(waits, [0, 150]);
        assert_eq!(count(&flood[1], ms(100), ms(200)).as_millis(), 150);
        assert!((100..900).all(|at| count(&honest, block, ms(at)).is_zero()));
        // A pause of the other account returns its share.
        assert_eq!(count(&flood[0], ms(900), ms(2_000)), Duration::ZERO);
    }
}

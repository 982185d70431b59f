//! Semaphores by key. Only a limited number of callers hold a turn of a key at a time; other
//! callers wait in order of arrival.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A semaphore for each key that has holders or waiting callers.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    holders_max: usize,
    by_key: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A turn of a key. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Turns,
    turn_key: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Makes turns for at most `holders_max` concurrent holders of each key.
    pub(crate) fn new(holders_max: usize) -> Self {
        Self(Arc::new(Inner { holders_max, by_key: Mutex::default() }))
    }

    /// Waits for a turn of `turn_key`. Returns `None` if no turn is free within `timeout`.
    pub(crate) async fn wait(&self, turn_key: String, timeout: Duration) -> Option<Turn> {
        let semaphore = self.semaphore(&turn_key);
        let mut turn = Turn { turns: self.clone(), turn_key, permit: None };
        // The semaphore is never closed.
        turn.permit = Some(tokio::time::timeout(timeout, semaphore.acquire_owned()).await.ok()?.ok()?);
        Some(turn)
    }

    fn semaphore(&self, turn_key: &str) -> Arc<Semaphore> {
        let mut by_key = self.0.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Semaphore::new(self.0.holders_max));
        Arc::clone(by_key.entry(turn_key.to_owned()).or_insert_with(new))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.permit.take();
        let mut by_key = self.turns.0.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        // Other holders and waiting callers have references to the semaphore too.
        if by_key.get(&self.turn_key).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            by_key.remove(&self.turn_key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const LONG_TIMEOUT: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_caller_waits_only_for_holders_of_the_same_key() {
        let turns = Turns::new(2);
        let key = |text: &str| turns.wait(text.to_owned(), LONG_TIMEOUT);
        let first = key("a").await.expect("a turn");
        let _second = key("a").await.expect("a turn");
        let mut third = Box::pin(key("a"));
        assert!(third.as_mut().now_or_never().is_none());
        key("b").await.expect("a turn of another key");
        drop(first);
        third.await.expect("a turn");
    }

    #[tokio::test]
    async fn a_caller_stops_waiting_at_the_timeout() {
        let turns = Turns::new(1);
        let first = turns.wait("a".to_owned(), LONG_TIMEOUT).await.expect("a turn");
        assert!(
            turns.wait("a".to_owned(), Duration::ZERO).await.is_none(),
            "the first holder still has its turn"
        );
        drop(first);
        turns.wait("a".to_owned(), LONG_TIMEOUT).await.expect("a turn");
        assert_eq!(turns.0.by_key.lock().expect("a lock").len(), 0);
    }

    #[tokio::test]
    async fn keys_without_holders_are_removed() {
        let turns = Turns::new(1);
        for number in 0..10 {
            drop(turns.wait(number.to_string(), LONG_TIMEOUT).await.expect("a turn"));
        }
        assert_eq!(turns.0.by_key.lock().expect("a lock").len(), 0);
    }
}

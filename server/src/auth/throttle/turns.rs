//! Turns: a limited number of holders of one key run at a time; the others wait in order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;

/// Longest wait for a turn. A class of 500 that logs in at once waits for less; where the database is locked, each turn
/// takes as long as the database is waited for.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(30);

/// Seconds after which somebody who waited in vain may try again.
const RETRY_AFTER_SECS: u64 = 10;

/// A semaphore for each key that somebody holds or waits for.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: usize,
    wait_max: Duration,
    by_key: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A turn. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    key: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Turns of which `at_once` of one key go on together; each is waited for `wait_max` at most.
    pub(super) fn new(at_once: usize, wait_max: Duration) -> Self {
        Self { at_once, wait_max, by_key: Mutex::default() }
    }

    /// Waits for a turn of `key`.
    ///
    /// # Errors
    /// 503 `busy` if it is not there in time.
    pub(super) async fn wait(&self, key: String) -> Result<Turn<'_>, ApiError> {
        let semaphore = {
            let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(self.at_once));
            Arc::clone(by_key.entry(key.clone()).or_insert_with(new))
        };
        let mut turn = Turn { turns: self, key, permit: None };
        let Ok(permit) = tokio::time::timeout(self.wait_max, semaphore.acquire_owned()).await else {
            let detail = format!(
                "Earlier log-ins have not ended after {} seconds; try again.",
                self.wait_max.as_secs()
            );
            return Err(ApiError::Busy { detail, retry_after_secs: RETRY_AFTER_SECS });
        };
        turn.permit = Some(permit.map_err(ApiError::internal)?);
        Ok(turn)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.permit.take();
        let mut by_key = self.turns.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        // Waiting and running holders have references of their own.
        if by_key.get(&self.key).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            by_key.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_key_waits_and_another_does_not() {
        let turns = Turns::new(2, WAIT_MAX);
        let key = |text: &str| turns.wait(text.to_owned());
        let first = key("a").await.expect("a turn");
        let _second = key("a").await.expect("a turn");
        let mut third = Box::pin(key("a"));
        assert!(third.as_mut().now_or_never().is_none());
        key("b").await.expect("a turn of another key");
        drop(first);
        third.await.expect("a turn");
    }

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let turns = Turns::new(1, Duration::ZERO);
        let first = turns.wait("a".to_owned()).await.expect("a turn");
        let refusal = turns.wait("a".to_owned()).await.expect_err("the first never ends");
        assert!(matches!(refusal, ApiError::Busy { .. }), "{refusal}");
        drop(first);
        turns.wait("a".to_owned()).await.expect("a turn");
        assert_eq!(turns.by_key.lock().expect("a lock").len(), 0);
    }

    #[tokio::test]
    async fn nothing_is_kept_of_a_key_without_holders() {
        let turns = Turns::new(1, WAIT_MAX);
        for number in 0..10 {
            drop(turns.wait(number.to_string()).await.expect("a turn"));
        }
        assert_eq!(turns.by_key.lock().expect("a lock").len(), 0);
    }
}

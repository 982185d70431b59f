//! Turns: a limited number of holders of one key run at a time; the others wait in order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;

/// A semaphore for each key that somebody holds or waits for.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: usize,
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
    /// Turns of which `at_once` of one key go on together.
    pub(super) fn new(at_once: usize) -> Self {
        Self { at_once, by_key: Mutex::default() }
    }

    /// Waits for a turn of `key`.
    ///
    /// # Errors
    /// Internal only.
    pub(super) async fn wait(&self, key: String) -> Result<Turn<'_>, ApiError> {
        let semaphore = {
            let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(self.at_once));
            Arc::clone(by_key.entry(key.clone()).or_insert_with(new))
        };
        let permit = semaphore.acquire_owned().await.map_err(ApiError::internal)?;
        Ok(Turn { turns: self, key, permit: Some(permit) })
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
        let turns = Turns::new(2);
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
    async fn nothing_is_kept_of_a_key_without_holders() {
        let turns = Turns::new(1);
        for number in 0..10 {
            drop(turns.wait(number.to_string()).await.expect("a turn"));
        }
        assert_eq!(turns.by_key.lock().expect("a lock").len(), 0);
    }
}

//! Counts the open streams of each account.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of open streams of all accounts, and of one account.
const STREAMS_MAX: usize = 1_024;
const STREAMS_PER_ACCOUNT_MAX: usize = 256;

/// The number of open streams by account.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenStreams(Arc<Mutex<HashMap<String, usize>>>);

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
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.values().sum::<usize>() >= STREAMS_MAX {
            return Err(format!("the service has {STREAMS_MAX} open streams, the maximum"));
        }
        let count = counts.entry(user_id.to_owned()).or_default();
        if *count >= STREAMS_PER_ACCOUNT_MAX {
            return Err(format!("the account has {STREAMS_PER_ACCOUNT_MAX} open streams, the maximum"));
        }
        *count += 1;
        Ok(OpenStream { streams: self.clone(), user_id: user_id.to_owned() })
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut counts = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.user_id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.user_id);
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
        assert!(streams.0.lock().expect("not poisoned").is_empty());
    }
}

//! Cached lists of parameters, by the module's version and the request.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use sha2::{Digest as _, Sha256};

use crate::plugin_hosts::PluginRef;
use crate::plugins::module_version;

/// Maximum total size of the cached answers, in bytes.
const TOTAL_MAX_BYTES: usize = 32 * 1024 * 1024;

/// Maximum size of a cached answer, in bytes.
const ANSWER_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Hash of a module's path and version and of a request.
pub(super) type CacheKey = [u8; 32];

/// Returns the key of a request about a plugin. The module's version is read from the disk. Blocks.
pub(super) fn cache_key(plugin: &PluginRef, request: &[u8]) -> CacheKey {
    let module = plugin.module.as_os_str().as_encoded_bytes();
    let version = module_version(&plugin.module);
    let mut hash = Sha256::new();
    for part in [module, version.as_bytes(), request] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The cached answers. The most recently used one is the first.
#[derive(Debug, Default)]
pub(super) struct AnswerCache(Mutex<VecDeque<(CacheKey, Bytes)>>);

impl AnswerCache {
    pub(super) fn get(&self, key: &CacheKey) -> Option<Bytes> {
        let mut answers = self.lock();
        let index = answers.iter().position(|(cached_key, _)| cached_key == key)?;
        let entry = answers.remove(index)?;
        let answer = entry.1.clone();
        answers.push_front(entry);
        Some(answer)
    }

    /// Adds an answer. Removes the least recently used answers if the total is too large.
    pub(super) fn insert(&self, key: CacheKey, answer: &Bytes) {
        if answer.len() > ANSWER_MAX_BYTES {
            return;
        }
        let mut answers = self.lock();
        answers.retain(|(cached_key, _)| *cached_key != key);
        answers.push_front((key, answer.clone()));
        while answers.iter().map(|(_, answer)| answer.len()).sum::<usize>() > TOTAL_MAX_BYTES {
            answers.pop_back();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(CacheKey, Bytes)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_answers_are_removed() {
        let cache = AnswerCache::default();
        let answer = Bytes::from(vec![b' '; ANSWER_MAX_BYTES]);
        for number in 0..8 {
            cache.insert([number; 32], &answer);
        }
        assert!(cache.get(&[0; 32]).is_some());
        cache.insert([8; 32], &answer);
        assert!(cache.get(&[0; 32]).is_some(), "it was used");
        assert!(cache.get(&[1; 32]).is_none());
        cache.insert([9; 32], &Bytes::from(vec![b' '; ANSWER_MAX_BYTES + 1]));
        assert!(cache.get(&[9; 32]).is_none(), "it is too long");
        assert!(cache.get(&[2; 32]).is_some());
    }
}

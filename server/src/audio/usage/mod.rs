//! Storage that audio files of users use.

mod store;

use std::collections::HashMap;

pub(crate) use store::read_used_bytes;

use crate::db::Db;
use crate::error::ApiResult;

/// Storage that a user's audio uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AudioUsage {
    /// Number of audio files.
    pub files: u64,
    /// Bytes on disk of the files, of all data derived from them, and of unfinished uploads.
    pub bytes: u64,
}

/// Returns the usage of every user by id. Stored audio that several users have is counted for each
/// of them.
///
/// # Errors
/// If the query fails.
pub async fn read_usage_of_all(db: &Db) -> ApiResult<HashMap<String, AudioUsage>> {
    let mut usage: HashMap<String, AudioUsage> = store::stored_by_owner(db).await?.into_iter().collect();
    for (owner_id, bytes) in store::read_receiving_by_owner(db).await? {
        usage.entry(owner_id).or_default().bytes += bytes;
    }
    Ok(usage)
}

//! The quota that a user's projects and tasks share.

use futures_util::future::BoxFuture;
use sqlx::AnyConnection;

/// Function of a slice (projects, tasks). It returns the total size in bytes of the documents of
/// the user with this id.
pub(crate) type DocumentBytes =
    for<'a> fn(&'a mut AnyConnection, &'a str) -> BoxFuture<'a, Result<u64, sqlx::Error>>;

/// Quota of each user, and functions that count the documents towards it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentQuota {
    quota_bytes: u64,
    byte_counters: &'static [DocumentBytes],
}

impl DocumentQuota {
    pub(crate) fn new(quota_bytes: u64, byte_counters: &'static [DocumentBytes]) -> Self {
        Self { quota_bytes, byte_counters }
    }

    /// Returns the quota of each user in bytes.
    pub(crate) fn quota_bytes(&self) -> u64 {
        self.quota_bytes
    }

    /// Returns the total size of a user's documents in bytes.
    ///
    /// # Errors
    /// A query fails.
    pub(crate) async fn used_bytes(
        &self,
        connection: &mut AnyConnection,
        owner_id: &str,
    ) -> Result<u64, sqlx::Error> {
        let mut used_bytes = 0;
        for document_bytes in self.byte_counters {
            used_bytes += document_bytes(&mut *connection, owner_id).await?;
        }
        Ok(used_bytes)
    }

    /// Returns the name of the lock that is needed to store documents of a user. The lock keeps two
    /// simultaneous saves from exceeding the quota together.
    pub(crate) fn lock_name(owner_id: &str) -> String {
        format!("projects {owner_id}")
    }
}

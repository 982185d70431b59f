//! The quota that the projects and tasks of a user share.

use futures_util::future::BoxFuture;
use sqlx::AnyConnection;

/// Returns how many bytes of documents a slice stores for a user, by the user's id.
pub(crate) type DocumentBytes =
    for<'a> fn(&'a mut AnyConnection, &'a str) -> BoxFuture<'a, Result<u64, sqlx::Error>>;

/// The quota of each user, and the slices whose documents count towards it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentQuota {
    quota_bytes: u64,
    counted: &'static [DocumentBytes],
}

impl DocumentQuota {
    pub(crate) fn new(quota_bytes: u64, counted: &'static [DocumentBytes]) -> Self {
        Self { quota_bytes, counted }
    }

    /// The quota in bytes.
    pub(crate) fn quota_bytes(&self) -> u64 {
        self.quota_bytes
    }

    /// Size of a user's documents, in bytes.
    ///
    /// # Errors
    /// If the query fails.
    pub(crate) async fn used_bytes(
        &self,
        connection: &mut AnyConnection,
        owner_id: &str,
    ) -> Result<u64, sqlx::Error> {
        let mut used_bytes = 0;
        for document_bytes in self.counted {
            used_bytes += document_bytes(&mut *connection, owner_id).await?;
        }
        Ok(used_bytes)
    }

    /// Name of the lock for storing documents of a user, so that two saves at once cannot exceed
    /// the quota together.
    pub(crate) fn lock_name(owner_id: &str) -> String {
        format!("projects {owner_id}")
    }
}

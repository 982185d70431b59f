//! The quota of documents, which a user's projects and tasks share.

use futures_util::future::BoxFuture;
use sqlx::AnyConnection;

/// Says how many bytes of documents a slice has stored for a user, by the user's id.
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
    /// When the database refuses.
    pub(crate) async fn used_bytes(
        &self,
        connection: &mut AnyConnection,
        owner_id: &str,
    ) -> Result<u64, sqlx::Error> {
        let mut used_bytes = 0;
        for counted in self.counted {
            used_bytes += counted(&mut *connection, owner_id).await?;
        }
        Ok(used_bytes)
    }

    /// Name of the lock under which one user's documents become more, so that two saves at once do
    /// not share the last room.
    pub(crate) fn lock_name(owner_id: &str) -> String {
        format!("projects {owner_id}")
    }
}

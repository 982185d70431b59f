//! Checks, in the transaction of a change, that the account that makes the change may still make
//! it.

use sqlx::AnyConnection;

/// The account that makes a change, as read when its request began.
#[derive(Debug, Clone)]
pub struct ActingUser {
    pub(in crate::auth) id: String,
    /// Name of the role.
    pub(in crate::auth) role: &'static str,
    pub(in crate::auth) token_version: i64,
}

impl ActingUser {
    /// Locks the account's row until the transaction ends. Returns what [`Self::is_current`]
    /// returns.
    pub(in crate::auth) async fn lock(&self, connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
        // This update changes nothing.
        sqlx::query("UPDATE users SET disabled = disabled WHERE id = $1")
            .bind(&self.id)
            .execute(&mut *connection)
            .await?;
        self.is_current(connection).await
    }

    /// Whether the account is still enabled and has the same role, and none of its tokens was ended
    /// with its password.
    pub(in crate::auth) async fn is_current(
        &self,
        connection: &mut AnyConnection,
    ) -> Result<bool, sqlx::Error> {
        let matching_users: i64 = sqlx::query_scalar(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM users \
             WHERE id = $1 AND disabled = 0 AND role = $2 AND token_version = $3",
        )
        .bind(&self.id)
        .bind(self.role)
        .bind(self.token_version)
        .fetch_one(connection)
        .await?;
        Ok(matching_users > 0)
    }
}

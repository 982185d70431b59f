//! Deletes unused invitations when the account that created them changes.

use sqlx::AnyConnection;

/// Deletes the unused invitations that an account has created for accounts with `role`, because
/// somebody else may know their codes. An empty `role` matches all roles.
pub(super) async fn delete(
    connection: &mut AnyConnection,
    username: &str,
    role: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM invites WHERE created_by = $1 AND used_at IS NULL AND ($2 = '' OR role = $2)")
        .bind(username)
        .bind(role)
        .execute(connection)
        .await?;
    Ok(())
}

//! User settings in the database.

use sqlx::Row as _;

use crate::clock;
use crate::db::{Db, begin_locked};

/// A stored value of a setting.
#[derive(Debug)]
pub(super) struct StoredSetting {
    pub(super) name: String,
    /// The value as JSON.
    pub(super) value_json: String,
    pub(super) updated_at: String,
}

/// The name of a setting, and the value to store as JSON; `None` resets the setting.
pub(super) type Change<'c> = (&'c str, Option<String>);

/// Returns all settings that a user has set, in order of their names.
pub(super) async fn read_settings(db: &Db, owner_id: &str) -> Result<Vec<StoredSetting>, sqlx::Error> {
    let db_rows =
        sqlx::query("SELECT key, value, updated_at FROM user_settings WHERE owner_id = $1 ORDER BY key")
            .bind(owner_id)
            .fetch_all(db)
            .await?;
    db_rows
        .iter()
        .map(|db_row| {
            let (setting_name, text) = (db_row.try_get("key")?, db_row.try_get("value")?);
            Ok(StoredSetting {
                name: setting_name,
                value_json: text,
                updated_at: db_row.try_get("updated_at")?,
            })
        })
        .collect()
}

/// Applies all changes in one transaction. With `resets_others`, also resets every other setting.
pub(super) async fn update_settings(
    db: &Db,
    owner_id: &str,
    changes: &[Change<'_>],
    resets_others: bool,
) -> Result<(), sqlx::Error> {
    let updated_at = clock::now_text();
    // Without the lock, two concurrent replacements could store a mixture of both.
    let mut transaction = begin_locked(db, &format!("user settings {owner_id}")).await?;
    if resets_others {
        sqlx::query("DELETE FROM user_settings WHERE owner_id = $1")
            .bind(owner_id)
            .execute(&mut *transaction)
            .await?;
    }
    for (setting_name, text) in changes {
        let query = match text {
            Some(_) => {
                "INSERT INTO user_settings (owner_id, key, value, updated_at) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (owner_id, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at"
            }
            None => "DELETE FROM user_settings WHERE owner_id = $1 AND key = $2",
        };
        let query = sqlx::query(query).bind(owner_id).bind(*setting_name);
        match text {
            Some(text) => query.bind(text).bind(&updated_at).execute(&mut *transaction).await?,
            None => query.execute(&mut *transaction).await?,
        };
    }
    transaction.commit().await
}

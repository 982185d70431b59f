//! Autosaves that an earlier version of the service stored, when each user had only one.

use schemas::json::JsonText;

use super::store;
use super::summary::{name_in, valid_project_id};
use crate::db::Db;

/// Song of an autosave whose text has no usable id. Its text can still be downloaded.
const UNIDENTIFIED: &str = "unidentified-autosave";

/// Reads the id and the name of the song from the text of each autosave of an earlier version, and
/// stores them. Reads one text at a time.
///
/// # Errors
/// A query fails.
pub(in crate::projects) async fn identify(db: &Db) -> Result<(), sqlx::Error> {
    while let Some((owner_id, text)) = store::find_earlier(db).await? {
        let document = JsonText::read(text.as_bytes()).ok();
        let project_id = document.as_ref().and_then(valid_project_id);
        let name = document.as_ref().map(name_in).unwrap_or_default();
        let project_id = project_id.as_deref().unwrap_or(UNIDENTIFIED);
        store::identify_earlier(db, &owner_id, project_id, &name).await?;
    }
    Ok(())
}

//! The description of an autosave, without its project.

use schemas::json::JsonText;
use serde::Serialize;
use utoipa::ToSchema;

use crate::projects::document::text_field;

/// Maximum length of a song's id, in bytes.
pub(super) const PROJECT_ID_MAX_BYTES: usize = 128;

/// Maximum length of the name in the list of autosaves, in characters.
const NAME_MAX_CHARS: usize = 200;

/// An autosave without its project.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(in crate::projects) struct Autosave {
    /// Id of the song. A song that was never saved is not in the list of projects.
    pub(in crate::projects) project_id: String,
    /// Title of the song; empty if it has none.
    pub(in crate::projects) name: String,
    /// Id of the window that wrote the autosave.
    pub(in crate::projects) client_id: String,
    /// Time of writing, RFC 3339.
    pub(in crate::projects) updated_at: String,
    /// Size of the stored JSON in bytes.
    pub(in crate::projects) size_bytes: i64,
}

/// Returns the id of a project if it is valid for autosaves: 1 to 128 letters, digits, dots,
/// underscores and hyphens, as in the schema of projects.
pub(super) fn valid_project_id(document: &JsonText) -> Option<String> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text_field(document, "project_id")
        .filter(|id| (1..=PROJECT_ID_MAX_BYTES).contains(&id.len()) && id.bytes().all(is_valid))
}

/// Returns the name of a project for the list of autosaves, without control characters, which a
/// database may refuse.
pub(super) fn name_in(document: &JsonText) -> String {
    let name = text_field(document, "name").unwrap_or_default();
    name.chars().filter(|character| !character.is_control()).take(NAME_MAX_CHARS).collect()
}

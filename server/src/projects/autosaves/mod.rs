//! Autosaves of unsaved work: one for each song of a user. The web page restores them when it is
//! opened again. A user may have 20 autosaves; a further one replaces the oldest.

mod earlier;
mod queries;
mod store;
mod summary;
mod text;
pub(super) mod verbs;

pub(super) use earlier::identify as identify_earlier;
pub(super) use queries::AutosaveQuery;
pub(super) use store::{StoredAutosave, delete_with_project};
pub(super) use text::read_autosave;

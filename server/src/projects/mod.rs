//! Projects: saves, revisions, autosaves and the demo song.

mod autosaves;
mod document;
mod headers;
mod raw;
mod references;
mod requested;
mod revisions;
mod saving;
mod store;
mod stored_text;
mod verbs;

use std::collections::HashMap;

pub(crate) use document::Document;
use document::StoredDocument;
pub use document::{ProjectControl, ProjectDocument, ProjectNote, ProjectSettings, ProjectTempo};
pub(crate) use headers::revision_tag;
pub(crate) use references::{IdReferences, ids_in};
pub(crate) use requested::RequestedProject;
pub(crate) use saving::{OnSaved, insert};
use schemas::json::JsonText;
use serde::Serialize;
pub(crate) use store::count_revision_bytes;
use stored_text::UnreadDocument;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth;
use crate::config::Config;
use crate::db::{Db, LockedTransaction, begin_locked};
use crate::error::ApiError;
use crate::extract::BodyLimit;
use crate::fair_bytes::{FairBytes, ReservedBytes};
use crate::router::with_body_limit;
use crate::state::AppState;
use crate::storage::DocumentQuota;

/// Number of revisions of a project that are kept.
pub const REVISIONS_KEPT: u32 = 50;

/// Maximum total size of the documents that the database is storing at one time, in bytes.
const STORING_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Name of a project whose document has no name.
pub(crate) const DEFAULT_PROJECT_NAME: &str = "Untitled";

/// Name of the database record which shows that the demo song was stored.
const DEMO_SEED: &str = "demo-song";

/// The demo song, made by `scripts/make-demo-song`.
const DEMO_SONG: &str = include_str!("../../assets/demo-song.json");

/// Returns the routes of this slice, relative to `/api/v1`. A new fixed path directly below
/// `/projects/` needs an entry in `RESERVED_IDS` (`document.rs`).
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let routes = OpenApiRouter::new()
        .routes(routes!(verbs::list, verbs::create))
        .routes(routes!(verbs::upgrade))
        .routes(routes!(autosaves::verbs::read, autosaves::verbs::write, autosaves::verbs::delete))
        .routes(routes!(autosaves::verbs::revision))
        .routes(routes!(autosaves::verbs::list))
        .routes(routes!(raw::autosave))
        .routes(routes!(verbs::read, verbs::save, verbs::delete))
        .routes(routes!(verbs::raw))
        .routes(routes!(revisions::list))
        .routes(routes!(revisions::restore))
        .routes(routes!(raw::revision))
        .routes(routes!(revisions::duplicate));
    with_body_limit(routes, BodyLimit::of(config.limits.project_max_bytes, "A project"))
}

/// Answer to a save.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Saved {
    /// Id of the project.
    pub project_id: String,
    /// The revision that the save made: 1 for a new project.
    pub revision: i64,
    /// Time of the save, RFC 3339.
    pub updated_at: String,
}

/// A project in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProjectSummary {
    /// Id of the project.
    pub project_id: String,
    /// Title of the project.
    pub name: String,
    /// Current revision of the project.
    pub revision: i64,
    /// Time of the last save, RFC 3339.
    pub updated_at: String,
    /// Size of the stored JSON in bytes.
    pub size_bytes: i64,
}

/// A revision in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RevisionSummary {
    /// Number of the revision.
    pub revision: i64,
    /// Time when the revision was saved, RFC 3339.
    pub updated_at: String,
    /// Size of the stored JSON in bytes.
    pub size_bytes: i64,
}

/// Storage that a user's projects use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProjectUsage {
    /// Number of projects.
    pub projects: u64,
    /// Total size of kept revisions and autosaves, in bytes.
    pub bytes: u64,
}

/// Returns the storage that projects use, by user id.
///
/// # Errors
/// The query fails.
pub async fn read_usage_of_all(db: &Db) -> Result<HashMap<String, ProjectUsage>, ApiError> {
    Ok(store::read_usage(db).await?.into_iter().collect())
}

/// Returns the projects whose current document is missing or not JSON, as sentences.
///
/// # Errors
/// The query fails.
pub(crate) async fn find_faults(db: &Db) -> Result<Vec<String>, ApiError> {
    const PAGE_SIZE: u32 = 20;
    let (mut faults, mut owner_id, mut id) = (Vec::new(), String::new(), String::new());
    loop {
        let page = store::read_documents_after(db, &owner_id, &id, PAGE_SIZE).await?;
        let Some(last_project) = page.last() else { return Ok(faults) };
        (owner_id, id) = (last_project.0.clone(), last_project.1.clone());
        for (owner_id, id, text) in page {
            let is_readable =
                text.is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
            if !is_readable {
                faults.push(format!(
                    "the document of the project {id} of the user {owner_id} is missing or is not JSON"
                ));
            }
        }
    }
}

/// Returns the current document of a user's project, upgraded to this version. Other slices render
/// or export it.
///
/// # Errors
/// 404 if the user has no such project; 422 if it can no longer be read; 503 `busy` if too many
/// requests are waiting for documents.
pub async fn load_document(state: &AppState, owner_id: &str, id: &str) -> Result<JsonText, ApiError> {
    with_stored_document(state, owner_id, id, Ok).await
}

/// Runs `work` on the document that [`load_document`] returns, on a thread that may block.
///
/// # Errors
/// Those of the work, and those of [`load_document`].
pub(crate) async fn with_stored_document<T: Send + 'static>(
    state: &AppState,
    owner_id: &str,
    id: &str,
    work: impl FnOnce(JsonText) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let read_document = move |source: &StoredDocument, text: String| {
        let document = document::read_stored(source, &text)?;
        drop(text);
        work(document)
    };
    UnreadDocument::find_current(state, owner_id, id).await?.read(state, read_document).await
}

/// Returns the text of the current document of a user's project as it is stored, without an
/// upgrade.
///
/// # Errors
/// 404 if the user has no such project.
pub(crate) async fn stored_text(state: &AppState, owner_id: &str, id: &str) -> Result<String, ApiError> {
    UnreadDocument::find_current(state, owner_id, id).await?.read_text(&state.db).await
}

/// Parses the stored text of a project's current document, and upgrades the document to this
/// version.
///
/// # Errors
/// 422 `project_unreadable`. Its text has the path where the stored text can be downloaded.
pub(crate) fn stored_document(id: &str, text: &str) -> Result<JsonText, ApiError> {
    document::read_stored(&StoredDocument::Current(id.to_owned()), text)
}

/// Returns the length of the current document of a user's project in bytes; 0 if the user has no
/// such project.
///
/// # Errors
/// The query fails.
pub(crate) async fn stored_bytes(state: &AppState, owner_id: &str, id: &str) -> Result<u64, ApiError> {
    Ok(store::find_current_size(&state.db, owner_id, id).await?.map_or(0, |(_, bytes)| bytes as u64))
}

/// Makes the memory budget for documents that the database is storing.
pub(crate) fn storing_budget() -> FairBytes {
    FairBytes::new("memory for storing projects", STORING_MAX_BYTES)
}

/// Reserves `bytes` of [`storing_budget`] while a document is being stored.
///
/// # Errors
/// 503 `busy` if too many documents are being stored.
fn reserve_storing(state: &AppState, owner_id: &str, bytes: usize) -> Result<ReservedBytes, ApiError> {
    let mut reserved_bytes = state.storing.reservation(owner_id);
    reserved_bytes.grow(bytes as u64)?;
    Ok(reserved_bytes)
}

/// Begins a transaction during which the user cannot save. Other slices use it to delete files that
/// songs may need. Its first statement must write.
///
/// # Errors
/// The query fails.
pub(crate) async fn lock_saves(db: &Db, owner_id: &str) -> Result<LockedTransaction, ApiError> {
    Ok(begin_locked(db, &DocumentQuota::lock_name(owner_id)).await?)
}

/// Upgrades and validates a document of a request in the same way as a save. Blocks.
///
/// # Errors
/// 400 `invalid_project` with the violations.
pub fn checked_document(document: &JsonText) -> Result<JsonText, ApiError> {
    document::upgrade_and_validate(document, None)
}

/// Reads the songs of the autosaves that an earlier version of the service stored. Several servers
/// may do this at the same time.
///
/// # Errors
/// A query fails.
pub async fn identify_earlier_autosaves(state: &AppState) -> anyhow::Result<()> {
    Ok(autosaves::identify_earlier(&state.db).await?)
}

/// Stores the demo song as the administrator's project `demo`. This happens only on the first
/// start, so a deleted demo song does not return.
///
/// # Errors
/// The query fails.
pub async fn seed_demo(state: &AppState) -> anyhow::Result<()> {
    let admin = auth::admin_id(state).await?;
    let song = JsonText::read(DEMO_SONG.as_bytes())?;
    let document = Document::check(&song, Some("demo"))?;
    store::insert_first_project(&state.db, &admin, DEMO_SEED, &document).await?;
    Ok(())
}

#[cfg(test)]
mod tests;

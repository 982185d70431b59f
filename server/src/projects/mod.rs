//! Projects: saving, revisions, the temporary autosave, the demo song.

mod document;
mod headers;
mod raw;
mod references;
mod requested;
mod revisions;
mod saving;
mod store;
mod stored_text;
mod temp;
mod verbs;

use std::collections::HashMap;

pub(crate) use document::Document;
use document::StoredText;
pub use document::{ProjectControl, ProjectDocument, ProjectNote, ProjectSettings, ProjectTempo};
pub(crate) use headers::revision_tag;
pub(crate) use references::{IdReferences, ids_in};
pub(crate) use requested::RequestedProject;
pub(crate) use saving::{OnSaved, insert};
use schemas::json::JsonText;
use serde::Serialize;
pub(crate) use store::revisions_bytes;
use stored_text::UnreadDocument;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth;
use crate::config::Config;
use crate::db::{Db, Locked, begin_locked};
use crate::error::ApiError;
use crate::extract::BodyLimit;
use crate::fair_bytes::{FairBytes, ReservedBytes};
use crate::router::with_body_limit;
use crate::state::AppState;
use crate::storage::DocumentQuota;

/// Number of revisions that are kept of a project.
pub const REVISIONS_KEPT: u32 = 50;

/// Maximum size of the documents that are being stored at the same time.
const STORING_MAX_BYTES: u64 = 128 * 1024 * 1024;

/// Name of a document without a name.
pub(crate) const UNTITLED: &str = "Untitled";

/// Name by which the database records that the demo song was stored.
const DEMO_SEED: &str = "demo-song";

/// The demo song, made by `scripts/make-demo-song`.
const DEMO_SONG: &str = include_str!("../../assets/demo-song.json");

/// The routes of this slice, relative to `/api/v1`.
pub fn routes(config: &Config) -> OpenApiRouter<AppState> {
    let routes = OpenApiRouter::new()
        .routes(routes!(verbs::list, verbs::create))
        .routes(routes!(verbs::upgrade))
        .routes(routes!(temp::read, temp::write, temp::delete))
        .routes(routes!(temp::revision))
        .routes(routes!(raw::autosave))
        .routes(routes!(verbs::read, verbs::save, verbs::delete))
        .routes(routes!(verbs::raw))
        .routes(routes!(revisions::list))
        .routes(routes!(revisions::restore))
        .routes(routes!(raw::revision))
        .routes(routes!(revisions::duplicate));
    with_body_limit(routes, BodyLimit::of(config.limits.project_max_bytes, "A project"))
}

/// Answer of a save.
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
    /// Title.
    pub name: String,
    /// Current revision.
    pub revision: i64,
    /// Time of the last save, RFC 3339.
    pub updated_at: String,
    /// Size of the stored JSON in bytes.
    pub size_bytes: i64,
}

/// A revision in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RevisionSummary {
    /// The revision.
    pub revision: i64,
    /// Time of its save, RFC 3339.
    pub updated_at: String,
    /// Size of the stored JSON in bytes.
    pub size_bytes: i64,
}

/// Storage that a user's projects use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProjectUsage {
    /// Projects.
    pub projects: u64,
    /// Size of their kept revisions and autosaves, in bytes.
    pub bytes: u64,
}

/// Storage that projects use, by user id.
///
/// # Errors
/// If the query fails.
pub async fn usage_of_all(db: &Db) -> Result<HashMap<String, ProjectUsage>, ApiError> {
    Ok(store::usage(db).await?.into_iter().collect())
}

/// Projects whose current document is missing or not JSON, as sentences.
///
/// # Errors
/// If the query fails.
pub(crate) async fn faults(db: &Db) -> Result<Vec<String>, ApiError> {
    const PAGE_SIZE: u32 = 20;
    let (mut faults, mut owner_id, mut id) = (Vec::new(), String::new(), String::new());
    loop {
        let page = store::documents_after(db, &owner_id, &id, PAGE_SIZE).await?;
        let Some(last) = page.last() else { return Ok(faults) };
        (owner_id, id) = (last.0.clone(), last.1.clone());
        for (owner_id, id, text) in page {
            let is_readable =
                text.is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok());
            if !is_readable {
                faults.push(format!("the project {id} of the user {owner_id} has no readable document"));
            }
        }
    }
}

/// The current document of a user's project, upgraded to this version, for slices that render or
/// export it.
///
/// # Errors
/// 404 if the user has no such project; 422 if it is not readable any more; 503 `busy` when too
/// many documents wait.
pub async fn load_document(state: &AppState, owner_id: &str, id: &str) -> Result<JsonText, ApiError> {
    with_stored_document(state, owner_id, id, Ok).await
}

/// Runs `work` on the document of [`load_document`], on a thread that may block.
///
/// # Errors
/// Those of the work, and those of [`load_document`].
pub(crate) async fn with_stored_document<T: Send + 'static>(
    state: &AppState,
    owner_id: &str,
    id: &str,
    work: impl FnOnce(JsonText) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let reading = move |source: &StoredText, text: String| {
        let document = document::stored(source, &text)?;
        drop(text);
        work(document)
    };
    UnreadDocument::current(state, owner_id, id).await?.read(state, reading).await
}

/// The text of the current document of a user's project as it is stored.
///
/// # Errors
/// 404 if the user has no such project.
pub(crate) async fn stored_text(state: &AppState, owner_id: &str, id: &str) -> Result<String, ApiError> {
    UnreadDocument::current(state, owner_id, id).await?.text(&state.db).await
}

/// Reads the text of a project's current document and upgrades it to this version.
///
/// # Errors
/// 422 `project_unreadable`, with the path of its download.
pub(crate) fn stored_document(id: &str, text: &str) -> Result<JsonText, ApiError> {
    document::stored(&StoredText::Current(id.to_owned()), text)
}

/// Length of the current document of a user's project, in bytes; 0 if the user has no such project.
///
/// # Errors
/// If the query fails.
pub(crate) async fn stored_bytes(state: &AppState, owner_id: &str, id: &str) -> Result<u64, ApiError> {
    Ok(store::current_size(&state.db, owner_id, id).await?.map_or(0, |(_, bytes)| bytes as u64))
}

/// Memory budget of documents that wait for the database to store them.
pub(crate) fn storing_budget() -> FairBytes {
    FairBytes::new("projects that are being stored", STORING_MAX_BYTES)
}

/// Reserves `bytes` of [`storing_budget`] for a document while it is stored.
///
/// # Errors
/// 503 `busy` when too many documents are being stored.
fn reserve_storing(state: &AppState, owner_id: &str, bytes: usize) -> Result<ReservedBytes, ApiError> {
    let mut reserved = state.storing.reservation(owner_id);
    reserved.grow(bytes as u64)?;
    Ok(reserved)
}

/// Begins a transaction during which the user cannot save, for slices that delete files which songs
/// may need. Its first statement must write.
///
/// # Errors
/// If the query fails.
pub(crate) async fn lock_saves(db: &Db, owner_id: &str) -> Result<Locked, ApiError> {
    Ok(begin_locked(db, &DocumentQuota::lock_name(owner_id)).await?)
}

/// Upgrades and validates a document of a request, as a save does. Blocks; call it away from the
/// async threads.
///
/// # Errors
/// 400 `invalid_project` with the violations.
pub fn checked_document(document: &JsonText) -> Result<JsonText, ApiError> {
    document::validated(document, None)
}

/// Stores the demo song as the administrator's project `demo`, on the first start only, so that it
/// stays deleted.
///
/// # Errors
/// If the query fails.
pub async fn seed_demo(state: &AppState) -> anyhow::Result<()> {
    let admin = auth::admin_id(state).await?;
    let song = JsonText::read(DEMO_SONG.as_bytes())?;
    let document = Document::check(&song, Some("demo"))?;
    store::seed(&state.db, &admin, DEMO_SEED, &document).await?;
    Ok(())
}

#[cfg(test)]
mod tests;

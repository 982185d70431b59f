//! Finds the current documents of a user that refer to files by their ids.

mod store;

use std::collections::{HashMap, HashSet};

use sqlx::AnyConnection;

use crate::db::Db;
use crate::error::ApiError;

/// Length of an id in bytes: a UUID with hyphens (RFC 9562, section 4).
const ID_BYTES: usize = 36;

/// Offsets of the hyphens in an id, in bytes.
const FIRST_HYPHEN: usize = 8;
const OTHER_HYPHENS: [usize; 3] = [13, 18, 23];

/// Maximum number of names of projects, and of autosaves, in one sentence.
const LISTED_MAX: usize = 10;

/// Returns all substrings of a text that have the length and the hyphens of an id. Other characters
/// are not checked. Takes one pass over the text.
pub(crate) fn ids_in(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let hyphens = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'-').map(|(index, _)| index);
    hyphens.filter_map(move |hyphen| {
        let start = hyphen.checked_sub(FIRST_HYPHEN)?;
        let is_id = OTHER_HYPHENS.iter().all(|offset| bytes.get(start + offset) == Some(&b'-'));
        text.get(start..start + ID_BYTES).filter(|_| is_id)
    })
}

/// A document that was searched.
#[derive(Debug)]
struct SearchedDocument {
    /// Name of the document for use in a sentence.
    name: String,
    /// The searched version: a revision, or the time of an autosave.
    version: String,
    /// The ids to which the document refers.
    found_ids: HashSet<String>,
}

/// References to a set of ids in a user's current documents, which are their projects and
/// autosaves. Older revisions of projects are not searched.
#[derive(Debug)]
pub(crate) struct IdReferences {
    owner_id: String,
    ids: HashSet<String>,
    projects: HashMap<String, SearchedDocument>,
    autosaves: HashMap<String, SearchedDocument>,
}

impl IdReferences {
    /// Searches the user's documents for `ids`. Holds no lock, so documents may change in the
    /// meantime. Blocks.
    ///
    /// # Errors
    /// A query fails.
    pub(crate) async fn search(db: &Db, owner_id: &str, ids: HashSet<String>) -> Result<Self, ApiError> {
        let mut references =
            Self { owner_id: owner_id.to_owned(), ids, projects: HashMap::new(), autosaves: HashMap::new() };
        references.search_changed(&mut *db.acquire().await?).await?;
        Ok(references)
    }

    /// Searches the documents that changed since the last search. Within [`super::lock_saves`] no
    /// document can change, so the result is complete. Blocks.
    ///
    /// # Errors
    /// A query fails.
    pub(crate) async fn search_changed(&mut self, connection: &mut AnyConnection) -> Result<(), ApiError> {
        let mut searched_documents = std::mem::take(&mut self.projects);
        for (id, name, revision) in store::read_current_revisions(connection, &self.owner_id).await? {
            let version = revision.to_string();
            let unchanged_document =
                searched_documents.remove(&id).filter(|document| document.version == version);
            let found_ids = match unchanged_document {
                Some(unchanged_document) => unchanged_document.found_ids,
                None => match store::read_body(connection, &self.owner_id, &id, revision).await? {
                    Some(text) => self.ids_referred_to(&text),
                    // The project was saved or deleted since the query above.
                    None => continue,
                },
            };
            self.projects
                .insert(id, SearchedDocument { name: format!("the project `{name}`"), version, found_ids });
        }
        let mut searched_documents = std::mem::take(&mut self.autosaves);
        for (id, name, version) in store::read_autosave_versions(connection, &self.owner_id).await? {
            let unchanged_document =
                searched_documents.remove(&id).filter(|document| document.version == version);
            let found_ids = match unchanged_document {
                Some(unchanged_document) => unchanged_document.found_ids,
                None => match store::read_autosave_body(connection, &self.owner_id, &id, &version).await? {
                    Some(text) => self.ids_referred_to(&text),
                    // The autosave was replaced or deleted since the query above.
                    None => continue,
                },
            };
            let name = format!("the autosave of `{name}`");
            self.autosaves.insert(id, SearchedDocument { name, version, found_ids });
        }
        Ok(())
    }

    fn ids_referred_to(&self, text: &str) -> HashSet<String> {
        ids_in(text).filter(|id| self.ids.contains(*id)).map(str::to_owned).collect()
    }

    /// Returns the names of the documents that refer to `id`, for use in a sentence: at most ten
    /// projects and ten autosaves.
    pub(crate) fn documents_naming(&self, id: &str) -> Vec<String> {
        let names_in = |documents: &HashMap<String, SearchedDocument>| {
            let naming = documents.values().filter(|document| document.found_ids.contains(id));
            let mut names: Vec<String> = naming.map(|document| document.name.clone()).collect();
            names.sort_unstable();
            names.truncate(LISTED_MAX);
            names
        };
        let mut names = names_in(&self.projects);
        names.extend(names_in(&self.autosaves));
        names
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use serde_json::{Value, json};

    use super::*;
    use crate::projects::lock_saves;
    use crate::test_app::TestApp;

    const ID: &str = "5a5c5e3c-9d2f-4a51-8ab7-0f6a1c1d2e3f";

    #[test]
    fn ids_are_found_within_any_text() {
        let found_ids = |text: &str| ids_in(text).map(str::to_owned).collect::<Vec<_>>();
        for text in [ID.to_owned(), format!("/api/v1/audio/{ID}/file"), format!("ö{ID}ö"), format!("-{ID}-")]
        {
            assert!(found_ids(&text).contains(&ID.to_owned()), "{text}");
        }
        assert_eq!(found_ids(&format!("{ID}{ID}")), [ID, ID]);
        for text in ["", "-", &"-".repeat(20), &ID[1..], &ID[..35], &format!("ö{}", &ID[1..])] {
            assert!(!found_ids(text).contains(&ID.to_owned()), "{text}");
        }
    }

    async fn send(app: &TestApp, method: Method, path: &str, body: &Value) {
        let status = app.local(method, path).json(body).send().await.status;
        assert!(status.is_success(), "{path}: {status}");
    }

    fn song(id: &str, named: &str) -> Value {
        json!({ "schema_version": 1, "project_id": id, "name": id, "tracks": [], "client": named })
    }

    /// Searches the documents, runs `change`, and returns the documents that a second search under
    /// the lock finds.
    async fn documents_found_after(app: &TestApp, change: impl AsyncFnOnce()) -> Vec<String> {
        let me = app.local(Method::GET, "/api/v1/auth/me").send().await.expect(200);
        let owner_id = me["id"].as_str().expect("an id");
        let mut references = IdReferences::search(&app.state.db, owner_id, HashSet::from([ID.to_owned()]))
            .await
            .expect("searches");
        change().await;
        let mut saves = lock_saves(&app.state.db, owner_id).await.expect("takes the lock");
        references.search_changed(&mut saves).await.expect("searches");
        saves.rollback().await.expect("ends the transaction");
        references.documents_naming(ID)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_documents_that_changed_are_searched_again() {
        let app = TestApp::start().await;
        let draft = |named: &str| json!({ "client_id": "window", "project": song("draft", named) });
        for id in ["one", "two"] {
            send(&app, Method::POST, "/api/v1/projects", &song(id, "nothing")).await;
        }
        send(&app, Method::PUT, "/api/v1/projects/temp", &draft("nothing")).await;
        // This change to the database does not make a new revision. If it is not found, unchanged
        // documents were not read again.
        let unseen = documents_found_after(&app, async || {
            for statement in ["UPDATE project_revisions SET body = $1", "UPDATE song_autosaves SET body = $1"]
            {
                sqlx::query(statement)
                    .bind(song("one", ID).to_string())
                    .execute(&app.state.db)
                    .await
                    .expect("updates");
            }
        })
        .await;
        assert_eq!(unseen, [""; 0]);
        let documents = documents_found_after(&app, async || ()).await;
        assert_eq!(documents, ["the project `one`", "the project `two`", "the autosave of `draft`"]);
        let documents = documents_found_after(&app, async || {
            let put = app.local(Method::PUT, "/api/v1/projects/one").header("if-match", "\"1\"");
            put.json(&song("one", "nothing")).send().await.expect(200);
            app.local(Method::DELETE, "/api/v1/projects/two").send().await.expect(204);
            send(&app, Method::POST, "/api/v1/projects", &song("three", ID)).await;
            send(&app, Method::PUT, "/api/v1/projects/temp", &draft("nothing")).await;
        })
        .await;
        assert_eq!(documents, ["the project `three`"]);
        let documents = documents_found_after(&app, async || {
            send(&app, Method::PUT, "/api/v1/projects/temp", &draft(ID)).await;
            app.local(Method::DELETE, "/api/v1/projects/three").send().await.expect(204);
        })
        .await;
        assert_eq!(documents, ["the autosave of `draft`"]);
    }
}

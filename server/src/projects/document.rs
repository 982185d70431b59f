//! A project document on its way in or out: read, upgraded, validated.

use axum::body::Bytes;
use axum::response::Response;
use schemas::json::{JsonText, Kind};
use schemas::upgrade::{UpgradeError, upgrade};
use schemas::validate::validate;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::UNTITLED;
use crate::error::{ApiError, ApiResult, FieldError};
use crate::extract::{read_text, with_document};
use crate::large_answer;
use crate::state::AppState;

/// Most violations that one answer lists.
const VIOLATIONS_MAX: usize = 100;

/// Ids that are taken by paths of their own.
const RESERVED_IDS: &[&str] = &["temp", "upgrade", "import", ".", ".."];

/// An answer to `user_id` of JSON that is text already. Blocks.
///
/// # Errors
/// As [`large_answer::answer`].
pub(super) fn json_answer(state: &AppState, user_id: &str, text: String) -> ApiResult<Response> {
    large_answer::answer(state, user_id, "application/json", text)
}

/// Stands for a project document in the API's description, where its JSON Schema takes its place.
#[derive(Debug)]
pub struct ProjectDocument;

impl PartialSchema for ProjectDocument {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().description(Some("A project document.")).into()
    }
}

impl ToSchema for ProjectDocument {
    fn name() -> std::borrow::Cow<'static, str> {
        "Project".into()
    }
}

/// Stands for a part of a project document, likewise.
macro_rules! stand_in {
    ($($stand_in:ident for $name:literal, $about:literal;)*) => { $(
        #[doc = $about]
        #[derive(Debug)]
        pub struct $stand_in;

        impl PartialSchema for $stand_in {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().into()
            }
        }

        impl ToSchema for $stand_in {
            fn name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
        }
    )* };
}

stand_in! {
    ProjectNote for "Project.Note", "Stands for a note in the API's description.";
    ProjectControl for "Project.Control", "Stands for a control in the API's description.";
    ProjectTempo for "Project.TempoPoint", "Stands for a tempo change in the API's description.";
    ProjectSettings for "Project.Settings", "Stands for the engine's settings in the API's description.";
}

/// Names a stored document, so that it can be read, and an error can say what it is and where its
/// text can be downloaded.
#[derive(Debug, Clone)]
pub(super) enum StoredText {
    /// The current revision of a project.
    Current(String),
    /// An older revision of a project.
    Revision(String, i64),
    /// The autosave.
    Autosave,
}

impl StoredText {
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Current(id) => format!("project `{id}`"),
            Self::Revision(id, revision) => format!("revision {revision} of the project `{id}`"),
            Self::Autosave => "autosave".to_owned(),
        }
    }

    /// The path of its download, below the prefix of the API.
    pub(super) fn raw_path(&self) -> String {
        match self {
            Self::Current(id) => format!("/projects/{id}/raw"),
            Self::Revision(id, revision) => format!("/projects/{id}/revisions/{revision}/raw"),
            Self::Autosave => "/projects/temp/raw".to_owned(),
        }
    }
}

/// A valid project document, ready to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// The document's id.
    pub(crate) project_id: String,
    /// Its title.
    pub(crate) name: String,
    /// The document as JSON text.
    pub(crate) text: String,
}

impl Document {
    /// A document that [`validated`] lets pass.
    pub(crate) fn check(document: &JsonText, path_id: Option<&str>) -> Result<Self, ApiError> {
        let document = validated(document, path_id)?;
        Ok(Self {
            project_id: text_field(&document, "project_id").unwrap_or_default(),
            name: text_field(&document, "name").unwrap_or_else(|| UNTITLED.to_owned()),
            text: document.into_string(),
        })
    }

    /// The same from the bytes of a body, away from the async threads.
    pub(super) async fn from_bytes(bytes: Bytes, path_id: Option<String>) -> Result<Self, ApiError> {
        with_document(bytes.len(), move || {
            let document = read_text(&bytes)?;
            drop(bytes);
            Self::check(&document, path_id.as_deref())
        })
        .await
    }

    /// A stored document that passes for today's, under another id and name. Blocks.
    pub(super) fn copy_of(
        source: &StoredText,
        text: &str,
        project_id: &str,
        rename: impl FnOnce(&str) -> String,
    ) -> Result<Self, ApiError> {
        let document = stored(source, text)?;
        let name = rename(text_field(&document, "name").as_deref().unwrap_or(UNTITLED));
        Self::check(&document.with_text("project_id", project_id).with_text("name", &name), None)
    }
}

/// Upgrades and validates a document. One without an id, or with an empty one, gets `path_id`, or
/// else a new one.
///
/// # Errors
/// 400 `invalid_project` with the places that are wrong; `project_id_mismatch` if the document has
/// another id than `path_id`; `project_id_reserved`.
pub(super) fn validated(document: &JsonText, path_id: Option<&str>) -> Result<JsonText, ApiError> {
    let id = document.view().get("project_id");
    let has_no_id = id.is_none_or(|id| id.kind() == Kind::Null || id.is_text(""));
    let document = match path_id.filter(|_| has_no_id) {
        Some(path_id) => upgraded(&document.with_text("project_id", path_id))?,
        None => upgraded(document)?,
    };
    validate(&document).map_err(|violations| {
        let found = violations.len();
        let errors: Vec<FieldError> = violations
            .into_iter()
            .take(VIOLATIONS_MAX)
            .map(|one| FieldError { pointer: one.pointer, detail: one.detail })
            .collect();
        invalid(found, errors)
    })?;
    let project_id = text_field(&document, "project_id").unwrap_or_default();
    match path_id {
        Some(path_id) if path_id != project_id => Err(ApiError::bad_request(
            "project_id_mismatch",
            format!("the document's project_id is `{project_id}`, and the path names `{path_id}`"),
        )),
        _ if RESERVED_IDS.contains(&project_id.as_str()) => Err(ApiError::bad_request(
            "project_id_reserved",
            format!("`{project_id}` cannot be the id of a project"),
        )),
        _ => Ok(document),
    }
}

/// A document of any older version as one of this version.
///
/// # Errors
/// 400 `invalid_project`: not an object, or of a newer version.
pub(super) fn upgraded(document: &JsonText) -> Result<JsonText, ApiError> {
    upgrade(document, &uuid::Uuid::new_v4().simple().to_string()).map_err(|error| {
        let pointer = match error {
            UpgradeError::Newer { .. } => "/schema_version".to_owned(),
            _ => String::new(),
        };
        invalid(1, vec![FieldError { pointer, detail: error.to_string() }])
    })
}

/// A stored document as one of this version.
///
/// # Errors
/// 422 `project_unreadable`, with the path of its download.
pub(super) fn stored(source: &StoredText, text: &str) -> Result<JsonText, ApiError> {
    let unreadable = |why: String| ApiError::Unprocessable {
        code: "project_unreadable",
        detail: format!(
            "The stored {} cannot be read any more ({why}). GET {} downloads it as it is stored.",
            source.in_words(),
            source.raw_path()
        ),
    };
    let document = JsonText::read(text.as_bytes()).map_err(|error| unreadable(error.to_string()))?;
    upgraded(&document).map_err(|error| match error {
        ApiError::Invalid { errors, .. } => {
            unreadable(errors.into_iter().map(|one| one.detail).collect::<Vec<_>>().join("; "))
        }
        other => other,
    })
}

fn invalid(found: usize, errors: Vec<FieldError>) -> ApiError {
    let first = errors.first().map_or(String::new(), |one| {
        let place = if one.pointer.is_empty() { "the document" } else { &one.pointer };
        format!(" First, at {place}: {}", one.detail)
    });
    let places = if found == 1 { "one place".to_owned() } else { format!("{found} places") };
    ApiError::Invalid {
        code: "invalid_project",
        detail: format!("The project is not valid in {places}.{first}"),
        errors,
    }
}

fn text_field(document: &JsonText, field: &str) -> Option<String> {
    document.view().text(field).map(std::borrow::Cow::into_owned)
}

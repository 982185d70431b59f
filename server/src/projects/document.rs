//! Reads, upgrades and validates project documents.

use axum::body::Bytes;
use schemas::json::{JsonKind, JsonText};
use schemas::upgrade::{UpgradeError, upgrade};
use schemas::validate::validate;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::DEFAULT_PROJECT_NAME;
use crate::error::{ApiError, FieldError};
use crate::extract::{read_text, with_document};
use crate::plural::counted;

/// Maximum number of violations in one answer.
const VIOLATIONS_MAX: usize = 100;

/// Ids that no project may have, because they are path segments directly below `/projects/`, or
/// because URLs treat them specially (`.` and `..`). A new route directly below `/projects/` needs
/// an entry here.
const RESERVED_IDS: &[&str] = &["temp", "upgrade", "import", ".", ".."];

/// Placeholder for a project document in the API description. `docs` replaces this placeholder with
/// the JSON Schema of projects.
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

/// Placeholders for parts of a project document in the API description.
macro_rules! placeholders {
    ($($placeholder:ident for $name:literal, $about:literal;)*) => { $(
        #[doc = $about]
        #[derive(Debug)]
        pub struct $placeholder;

        impl PartialSchema for $placeholder {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().into()
            }
        }

        impl ToSchema for $placeholder {
            fn name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
        }
    )* };
}

placeholders! {
    ProjectNote for "Project.Note", "A note, for the API's description.";
    ProjectControl for "Project.Control", "A control, for the API's description.";
    ProjectTempo for "Project.TempoPoint", "A tempo change, for the API's description.";
    ProjectSettings for "Project.Settings", "The engine's settings, for the API's description.";
}

/// Identifies a stored document. Error messages use it to name the path where the document can be
/// downloaded.
#[derive(Debug, Clone)]
pub(super) enum StoredDocument {
    /// The current revision of a project.
    Current(String),
    /// An older revision of a project.
    Revision(String, i64),
    /// The autosave of a song.
    Autosave(String),
}

impl StoredDocument {
    /// Returns the name of the document for use in a sentence.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Current(id) => format!("project `{id}`"),
            Self::Revision(id, revision) => format!("revision {revision} of the project `{id}`"),
            Self::Autosave(id) => format!("autosave of the project `{id}`"),
        }
    }

    /// Returns the path of the document's download, relative to the prefix of the API.
    pub(super) fn raw_path(&self) -> String {
        match self {
            Self::Current(id) => format!("/projects/{id}/raw"),
            Self::Revision(id, revision) => format!("/projects/{id}/revisions/{revision}/raw"),
            Self::Autosave(id) => format!("/projects/temp/raw?project_id={id}"),
        }
    }
}

/// A valid project document, ready to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Id of the project.
    pub(crate) project_id: String,
    /// Title of the project.
    pub(crate) name: String,
    /// The whole document as JSON text.
    pub(crate) text: String,
}

impl Document {
    /// Upgrades and validates a document like [`upgrade_and_validate`].
    pub(crate) fn check(document: &JsonText, path_id: Option<&str>) -> Result<Self, ApiError> {
        let document = upgrade_and_validate(document, path_id)?;
        Ok(Self {
            project_id: text_field(&document, "project_id").unwrap_or_default(),
            name: text_field(&document, "name").unwrap_or_else(|| DEFAULT_PROJECT_NAME.to_owned()),
            text: document.into_string(),
        })
    }

    /// Checks the bytes of a request's body like [`Self::check`], on a thread that may block.
    pub(super) async fn from_bytes(bytes: Bytes, path_id: Option<String>) -> Result<Self, ApiError> {
        with_document(bytes.len(), move || {
            let document = read_text(&bytes)?;
            drop(bytes);
            Self::check(&document, path_id.as_deref())
        })
        .await
    }

    /// Makes a copy of a stored document with another id and name. Upgrades and validates it.
    /// Blocks.
    pub(super) fn copy_of(
        source: &StoredDocument,
        text: &str,
        project_id: &str,
        rename: impl FnOnce(&str) -> String,
    ) -> Result<Self, ApiError> {
        let document = read_stored(source, text)?;
        let name = rename(text_field(&document, "name").as_deref().unwrap_or(DEFAULT_PROJECT_NAME));
        Self::check(&document.with_text("project_id", project_id).with_text("name", &name), None)
    }
}

/// Upgrades and validates a document. A document without an id, or with an empty one, gets
/// `path_id` or else a new id.
///
/// # Errors
/// 400 `invalid_project` with the violations; 400 `project_id_mismatch` if the document's id is not
/// `path_id`; 400 `project_id_reserved` if the id is reserved.
pub(super) fn upgrade_and_validate(document: &JsonText, path_id: Option<&str>) -> Result<JsonText, ApiError> {
    let id = document.view().get("project_id");
    let has_no_id = id.is_none_or(|id| id.kind() == JsonKind::Null || id.is_text(""));
    let document = match path_id.filter(|_| has_no_id) {
        Some(path_id) => upgrade_document(&document.with_text("project_id", path_id))?,
        None => upgrade_document(document)?,
    };
    validate(&document).map_err(|violations| {
        let count = violations.len();
        let errors: Vec<FieldError> = violations
            .into_iter()
            .take(VIOLATIONS_MAX)
            .map(|violation| FieldError { pointer: violation.pointer, detail: violation.detail })
            .collect();
        invalid_project_error(count, errors)
    })?;
    let project_id = text_field(&document, "project_id").unwrap_or_default();
    match path_id {
        Some(path_id) if path_id != project_id => Err(ApiError::bad_request(
            "project_id_mismatch",
            format!("The document's project_id is `{project_id}`, but the path names `{path_id}`."),
        )),
        _ if RESERVED_IDS.contains(&project_id.as_str()) => Err(ApiError::bad_request(
            "project_id_reserved",
            format!("The project_id `{project_id}` is reserved; send another one."),
        )),
        _ => Ok(document),
    }
}

/// Upgrades a document of an older version to this version.
///
/// # Errors
/// 400 `invalid_project` if the document is not an object or has a newer version.
pub(super) fn upgrade_document(document: &JsonText) -> Result<JsonText, ApiError> {
    upgrade(document, &uuid::Uuid::new_v4().simple().to_string()).map_err(|error| {
        let pointer = match error {
            UpgradeError::Newer { .. } => "/schema_version".to_owned(),
            _ => String::new(),
        };
        invalid_project_error(1, vec![FieldError { pointer, detail: error.to_string() }])
    })
}

/// Reads a stored document and upgrades it to this version.
///
/// # Errors
/// 422 `project_unreadable`. Its text has the path where the stored text can be downloaded.
pub(super) fn read_stored(source: &StoredDocument, text: &str) -> Result<JsonText, ApiError> {
    let unreadable = |reason: String| ApiError::Unprocessable {
        code: "project_unreadable",
        detail: format!(
            "The stored {} can no longer be read ({reason}). GET {} downloads the stored text.",
            source.describe(),
            source.raw_path()
        ),
    };
    let document = JsonText::read(text.as_bytes()).map_err(|error| unreadable(error.to_string()))?;
    upgrade_document(&document).map_err(|error| match error {
        ApiError::Invalid { errors, .. } => {
            unreadable(errors.into_iter().map(|error| error.detail).collect::<Vec<_>>().join("; "))
        }
        error => error,
    })
}

fn invalid_project_error(count: usize, errors: Vec<FieldError>) -> ApiError {
    let first_error = errors.first().map_or(String::new(), |error| {
        let location = if error.pointer.is_empty() { "the document" } else { &error.pointer };
        format!(" The first error is at {location}: {}", error.detail)
    });
    ApiError::Invalid {
        code: "invalid_project",
        detail: format!("The project is not valid; it has {}.{first_error}", counted(count, "error")),
        errors,
    }
}

/// Returns the text of a field of the document; `None` if it is missing or no text.
pub(super) fn text_field(document: &JsonText, field: &str) -> Option<String> {
    document.view().text(field).map(std::borrow::Cow::into_owned)
}

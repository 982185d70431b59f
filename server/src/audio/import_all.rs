//! Imports all files of an upload. The answer lists the stored files and the refused ones.

use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::AudioFile;
use super::import::{ImportedFile, Observer, import};
use crate::error::{ApiResult, Problem};
use crate::state::AppState;
use crate::storage::ReceivedFile;

/// Result of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadAnswer {
    /// The stored files, in the order of the upload.
    pub files: Vec<UploadedFile>,
    /// The refused files, with the reasons.
    pub refused: Vec<RefusedFile>,
}

/// A stored file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadedFile {
    /// The stored audio file, with its id.
    #[serde(flatten)]
    pub file: AudioFile,
    /// Whether the user already had a file with the same bytes. If so, the fields describe that
    /// file.
    pub already_there: bool,
}

impl From<ImportedFile> for UploadedFile {
    fn from(imported_file: ImportedFile) -> Self {
        Self { file: imported_file.file, already_there: imported_file.is_known }
    }
}

/// A refused file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RefusedFile {
    /// Name of the file.
    pub name: String,
    /// The reason for the refusal.
    pub problem: Problem,
}

/// Imports each file. Fails only if all files are refused, or if an error does not concern one
/// file. Blocks.
pub(super) fn import_all(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    received_files: Vec<ReceivedFile>,
    observer: Observer<'_>,
) -> ApiResult<UploadAnswer> {
    let count = received_files.len() as f64;
    let mut answer = UploadAnswer { files: Vec::new(), refused: Vec::new() };
    let mut first_error = None;
    for (index, file) in received_files.into_iter().enumerate() {
        let name = file.name.clone();
        let mut observe_file = |fraction: f64| observer((index as f64 + fraction) / count);
        match import(state, runtime, owner_id, file, &mut observe_file) {
            Ok(imported_file) => answer.files.push(imported_file.into()),
            // The error does not concern this file, so the client can send all files again.
            Err(error) if !error.refuses_one_file() => return Err(error),
            Err(error) => {
                answer.refused.push(RefusedFile { name, problem: error.problem() });
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if answer.files.is_empty() => Err(error),
        _ => Ok(answer),
    }
}

//! Imports all files of an upload: the answer names those that are there now and those that were
//! refused.

use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::AudioFile;
use super::import::{Imported, Observer, import};
use crate::error::{ApiResult, Problem};
use crate::state::AppState;
use crate::storage::Received;

/// What became of the files of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadAnswer {
    /// The files that are there now, in the order in which they came.
    pub files: Vec<UploadedFile>,
    /// The files that were not taken, and why.
    pub refused: Vec<RefusedFile>,
}

/// A file that is there now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadedFile {
    /// The file.
    #[serde(flatten)]
    pub file: AudioFile,
    /// Whether the user had a file of this content already; it is then the one that is answered.
    pub already_there: bool,
}

impl From<Imported> for UploadedFile {
    fn from(done: Imported) -> Self {
        Self { file: done.file, already_there: done.known }
    }
}

/// A file that was not taken.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RefusedFile {
    /// Its name.
    pub name: String,
    /// Why.
    pub problem: Problem,
}

/// Imports each file. Blocks.
pub(super) fn import_all(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    received: Vec<Received>,
    observer: Observer<'_>,
) -> ApiResult<UploadAnswer> {
    let count = received.len() as f64;
    let mut answer = UploadAnswer { files: Vec::new(), refused: Vec::new() };
    let mut first_error = None;
    for (number, one) in received.into_iter().enumerate() {
        let name = one.name.clone();
        let mut part = |share: f64| observer((number as f64 + share) / count);
        match import(state, runtime, owner_id, one, &mut part) {
            Ok(done) => answer.files.push(done.into()),
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

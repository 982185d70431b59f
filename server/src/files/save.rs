//! Handler of `POST /files/save`, which saves a file in the Documents folder of a desktop.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use futures_util::StreamExt as _;
use serde::Serialize;
use utoipa::ToSchema;

use super::queries::SaveQuery;
use crate::auth::Admin;
use crate::body_kind;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{BodyLimit, Json, Query, body_error};
use crate::state::AppState;

/// Maximum length of a name in bytes. Most file systems allow 255 bytes, and a number may be added.
const NAME_MAX_BYTES: usize = 200;

/// Maximum number of files whose names differ only in the added number.
const NUMBERS_MAX: u32 = 10_000;

/// Names of devices on Windows, in lower case. Windows reserves them with any extension.
const RESERVED_DEVICE_NAMES: &[&str] = &["con", "prn", "aux", "nul"];

/// A file that was saved.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SavedFile {
    /// Absolute path of the file.
    path: String,
    /// Name of the file. A number was added if the requested name existed.
    name: String,
    /// Size of the file in bytes.
    size_bytes: u64,
}

/// Saves the body as a file in the Documents folder of a desktop. No file is overwritten: if the
/// name exists, the new file gets a number. Only administrators may do this.
#[utoipa::path(post, path = "/files/save", tag = "files", security(("bearer" = ["admin"])), params(SaveQuery),
    request_body(content = String, content_type = "application/octet-stream", description = "The file"),
    responses((status = 201, body = SavedFile),
        (status = 501, description = "`no_documents_folder`: a server has no such folder", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn save(
    State(state): State<AppState>,
    _: Admin,
    Query(SaveQuery { name }): Query<SaveQuery>,
    request: Request,
) -> ApiResult<(StatusCode, Json<SavedFile>)> {
    let folder = state.config.folders.documents_dir.clone().ok_or_else(|| ApiError::NotImplemented {
        code: "no_documents_folder",
        detail:
            "This service has no folder for saved files (SF_DOCUMENTS_DIR, only on a desktop); download the file instead."
                .to_owned(),
    })?;
    body_kind::require_if_given(request.headers(), &["application/octet-stream"])?;
    let name = safe_name(&name)?;
    let limit = request.extensions().get::<BodyLimit>().copied().unwrap_or_default();
    let mut unfinished_file = run_blocking(move || UnfinishedFile::create(&folder)).await?;
    let mut chunks = request.into_body().into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| body_error(&error, || limit.too_large_error()))?;
        unfinished_file = run_blocking(move || {
            unfinished_file.file.write_all(&chunk)?;
            Ok(unfinished_file)
        })
        .await?;
    }
    let saved_file = run_blocking(move || unfinished_file.finish(&name)).await?;
    Ok((StatusCode::CREATED, Json(saved_file)))
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> ApiResult<T> {
    Ok(tokio::task::spawn_blocking(work).await??)
}

/// A file that is being written under a temporary name. Dropping this value removes the file.
struct UnfinishedFile {
    file: File,
    path: PathBuf,
}

impl UnfinishedFile {
    fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!(".songfoundry-{}.part", uuid::Uuid::new_v4().simple()));
        Ok(Self { file: File::create_new(&path)?, path })
    }

    /// Gives the file its name. If the name exists, adds the first free number.
    fn finish(self, name: &str) -> io::Result<SavedFile> {
        self.file.sync_all()?;
        let size_bytes = self.file.metadata()?.len();
        let folder = self.path.parent().unwrap_or(Path::new("."));
        for number in 1..=NUMBERS_MAX {
            let name = numbered_name(name, number);
            let path = folder.join(&name);
            match link_or_copy(&self.path, &path) {
                Ok(()) => {
                    let path = path.to_string_lossy().into_owned();
                    return Ok(SavedFile { path, name, size_bytes });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        // If the file cannot be removed, it stays as a hidden file whose name shows its origin.
        let _ = fs::remove_file(&self.path);
    }
}

/// Links a file to a new name. Fails if the name exists. Copies the file if the disk does not
/// support hard links.
fn link_or_copy(source_path: &Path, destination_path: &Path) -> io::Result<()> {
    match fs::hard_link(source_path, destination_path) {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
            let mut copy = File::create_new(destination_path)?;
            io::copy(&mut File::open(source_path)?, &mut copy)?;
            copy.sync_all()
        }
        outcome => outcome,
    }
}

/// Returns the name with a number, such as `Song (2).wav` for `Song.wav`.
fn numbered_name(name: &str, number: u32) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, ending)) => format!("{stem} ({number}).{ending}"),
        None => format!("{name} ({number})"),
    }
}

/// Returns the name with `_` in place of all characters that some operating system does not allow
/// in file names. Puts `_` before a name that Windows reserves for a device.
///
/// # Errors
/// 400 `bad_name` if the result is empty or too long.
fn safe_name(name: &str) -> ApiResult<String> {
    let is_safe = |character: char| !character.is_control() && !"/\\:*?\"<>|".contains(character);
    let cleaned_name: String =
        name.chars().map(|character| if is_safe(character) { character } else { '_' }).collect();
    let cleaned_name = cleaned_name.trim_start_matches(['.', ' ']).trim_end_matches(['.', ' ']);
    if cleaned_name.is_empty() || cleaned_name.len() > NAME_MAX_BYTES {
        let detail = format!(
            "The name of the file has {} bytes, not counting dots and spaces around it; expected 1 to {NAME_MAX_BYTES}.",
            cleaned_name.len()
        );
        return Err(ApiError::bad_request("bad_name", detail));
    }
    let stem = cleaned_name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered_device = |kind: &str| {
        stem.strip_prefix(kind)
            .is_some_and(|digit| digit.len() == 1 && digit.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_device =
        RESERVED_DEVICE_NAMES.contains(&stem.as_str()) || numbered_device("com") || numbered_device("lpt");
    Ok(if is_device { format!("_{cleaned_name}") } else { cleaned_name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_a_name_within_the_folder() {
        for (name, expected) in [
            ("Song.wav", "Song.wav"),
            ("Ünï 1.zip", "Ünï 1.zip"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("/etc/passwd", "_etc_passwd"),
            ("C:\\x.wav", "C__x.wav"),
            (".bashrc", "bashrc"),
            ("a\0b\n.wav", "a_b_.wav"),
            ("x.wav. ", "x.wav"),
            ("CON", "_CON"),
            ("nul.txt", "_nul.txt"),
            ("com1.wav", "_com1.wav"),
            ("comet.wav", "comet.wav"),
        ] {
            assert_eq!(safe_name(name).expect("a name"), expected, "{name:?}");
        }
        for name in ["", ".", "..", " . ", &"x".repeat(201)] {
            assert!(safe_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_number_is_added_before_the_extension() {
        assert_eq!(numbered_name("Song.wav", 1), "Song.wav");
        assert_eq!(numbered_name("Song.wav", 2), "Song (2).wav");
        assert_eq!(numbered_name("a.b.zip", 3), "a.b (3).zip");
        assert_eq!(numbered_name("Song", 2), "Song (2)");
    }
}

//! Restricts paths to the media folders.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::error::{ApiError, ApiResult};

/// The folders of `SF_MEDIA_DIRS`.
#[derive(Debug)]
pub(super) struct MediaRoots {
    /// Paths as written in the settings.
    configured_paths: Vec<PathBuf>,
    /// Paths without symbolic links, only of the folders that exist.
    canonical: Vec<PathBuf>,
}

impl MediaRoots {
    /// Resolves the folders of the settings. Blocks.
    pub(super) fn new(media_dirs: &[PathBuf]) -> Self {
        let canonical = media_dirs.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
        Self { configured_paths: media_dirs.to_vec(), canonical }
    }

    /// Returns the folders as written in the settings.
    pub(super) fn configured(&self) -> &[PathBuf] {
        &self.configured_paths
    }

    /// Returns the canonical path of a file or folder inside the media folders. Blocks.
    ///
    /// # Errors
    /// 403 `outside_media_dirs` for a path outside the folders, whether it exists or not; 404 for a
    /// missing path inside them.
    pub(super) fn resolve(&self, path: &str) -> ApiResult<PathBuf> {
        let requested_path = Path::new(path);
        let is_plain = requested_path.is_absolute()
            && !path.contains('\0')
            && requested_path
                .components()
                .all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
        let is_inside = is_plain
            && self.configured_paths.iter().chain(&self.canonical).any(|dir| requested_path.starts_with(dir));
        if !is_inside {
            return Err(outside_media_error(path));
        }
        match requested_path.canonicalize() {
            Ok(real) if self.contains(&real) => Ok(real),
            Ok(_) => Err(outside_media_error(path)),
            // The answer to a missing file must not reveal whether a file outside the folders
            // exists.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                match requested_path.ancestors().skip(1).find_map(|parent| parent.canonicalize().ok()) {
                    Some(parent) if self.contains(&parent) => {
                        Err(ApiError::not_found("file or folder", &printable(path)))
                    }
                    _ => Err(outside_media_error(path)),
                }
            }
            Err(error) => Err(unreadable_path_error(path, &error)),
        }
    }

    /// Whether a path without symbolic links lies in one of the folders.
    pub(super) fn contains(&self, real_path: &Path) -> bool {
        self.canonical.iter().any(|dir| real_path.starts_with(dir))
    }

    /// Returns the path and metadata of a folder entry. A symbolic link is replaced by its target.
    /// `None` if the entry lies outside the media folders or cannot be read. Blocks.
    pub(super) fn entry(&self, entry: &fs::DirEntry) -> Option<(PathBuf, fs::Metadata)> {
        let mut path = entry.path();
        if entry.file_type().ok()?.is_symlink() {
            path = path.canonicalize().ok().filter(|real| self.contains(real))?;
        }
        let metadata = fs::metadata(&path).ok()?;
        Some((path, metadata))
    }
}

/// Returns the error for a path that cannot be read.
pub(super) fn unreadable_path_error(path: &str, error: &std::io::Error) -> ApiError {
    match error.kind() {
        ErrorKind::PermissionDenied => ApiError::Forbidden {
            code: "not_readable",
            detail: format!(
                "The service has no permission to read `{}`; allow it in the file system.",
                printable(path)
            ),
        },
        ErrorKind::NotFound => ApiError::not_found("file or folder", &printable(path)),
        ErrorKind::NotADirectory => {
            ApiError::bad_request("not_a_folder", format!("`{}` is not a folder.", printable(path)))
        }
        _ => ApiError::internal(anyhow::anyhow!("cannot read {path:?}: {error}")),
    }
}

fn outside_media_error(path: &str) -> ApiError {
    ApiError::Forbidden {
        code: "outside_media_dirs",
        detail: format!(
            "`{}` is not an absolute path inside the media folders (SF_MEDIA_DIRS).",
            printable(path)
        ),
    }
}

/// Returns a path for messages: without control characters, and with at most 300 characters.
pub(super) fn printable(path: &str) -> String {
    path.chars().filter(|character| !character.is_control()).take(300).collect()
}

//! Which paths may be looked at.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::error::{ApiError, ApiResult};

/// The folders that may be looked into, as they really are.
#[derive(Debug)]
pub(super) struct Places {
    /// As the settings name them.
    named: Vec<PathBuf>,
    /// The same without symbolic links; those that are there.
    real: Vec<PathBuf>,
}

impl Places {
    /// The folders of the settings. Blocks.
    pub(super) fn new(media_dirs: &[PathBuf]) -> Self {
        let real = media_dirs.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
        Self { named: media_dirs.to_vec(), real }
    }

    /// The folders as the settings name them.
    pub(super) fn named(&self) -> &[PathBuf] {
        &self.named
    }

    /// The real path of something that may be looked at. Blocks.
    ///
    /// # Errors
    /// 403 `outside_media_dirs` for what does not lie in one of the folders, whether it exists or
    /// not; 404 for what would and does not exist.
    pub(super) fn resolve(&self, path: &str) -> ApiResult<PathBuf> {
        let asked = Path::new(path);
        let is_plain = asked.is_absolute()
            && !path.contains('\0')
            && asked.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
        let is_inside = is_plain && self.named.iter().chain(&self.real).any(|dir| asked.starts_with(dir));
        if !is_inside {
            return Err(outside(path));
        }
        match asked.canonicalize() {
            Ok(real) if self.contains(&real) => Ok(real),
            Ok(_) => Err(outside(path)),
            // A missing file must not reveal whether a file outside the folders exists.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                match asked.ancestors().skip(1).find_map(|above| above.canonicalize().ok()) {
                    Some(above) if self.contains(&above) => {
                        Err(ApiError::not_found("file or folder", &shown(path)))
                    }
                    _ => Err(outside(path)),
                }
            }
            Err(error) => Err(unreadable(path, &error)),
        }
    }

    /// Whether a path without symbolic links lies in one of the folders.
    pub(super) fn contains(&self, real: &Path) -> bool {
        self.real.iter().any(|dir| real.starts_with(dir))
    }

    /// Returns the path and metadata of a folder entry after resolving links, if it may be read.
    /// Blocks.
    pub(super) fn entry(&self, entry: &fs::DirEntry) -> Option<(PathBuf, fs::Metadata)> {
        let mut path = entry.path();
        if entry.file_type().ok()?.is_symlink() {
            path = path.canonicalize().ok().filter(|real| self.contains(real))?;
        }
        let facts = fs::metadata(&path).ok()?;
        Some((path, facts))
    }
}

/// 403 or 500 for what the system does not let be read.
pub(super) fn unreadable(path: &str, error: &std::io::Error) -> ApiError {
    match error.kind() {
        ErrorKind::PermissionDenied => ApiError::Forbidden {
            code: "not_readable",
            detail: format!("The system does not let the service read `{}`.", shown(path)),
        },
        ErrorKind::NotFound => ApiError::not_found("file or folder", &shown(path)),
        ErrorKind::NotADirectory => {
            ApiError::bad_request("not_a_folder", format!("`{}` is no folder.", shown(path)))
        }
        _ => ApiError::internal(anyhow::anyhow!("reading {path:?}: {error}")),
    }
}

fn outside(path: &str) -> ApiError {
    ApiError::Forbidden {
        code: "outside_media_dirs",
        detail: format!(
            "`{}` is in none of the folders that may be looked into (SF_MEDIA_DIRS).",
            shown(path)
        ),
    }
}

/// A path for a sentence.
pub(super) fn shown(path: &str) -> String {
    path.chars().filter(|letter| !letter.is_control()).take(300).collect()
}

//! Which folders of the machine may be searched for plugins.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::config::{BlobStore, Config};
use crate::error::{ApiError, ApiResult};

/// Most characters of a path that an error repeats.
const SHOWN_MAX_CHARS: usize = 300;

/// Where plugins may lie, by the names that the settings give.
#[derive(Debug, Clone)]
pub(in crate::plugins) struct PlaceNames {
    /// `None`: everywhere.
    roots: Option<Vec<PathBuf>>,
    /// Where the service stores things.
    stored: Vec<PathBuf>,
}

impl PlaceNames {
    /// Those of the settings.
    pub(in crate::plugins) fn new(config: &Config) -> Self {
        let mut stored = vec![config.storage.dir.clone()];
        if let BlobStore::SharedFolder(dir) = &config.storage.blobs {
            stored.push(dir.clone());
        }
        Self { roots: config.plugins.roots.clone(), stored }
    }

    /// The places as they are now. Blocks.
    pub(in crate::plugins) fn places(&self) -> Places {
        let real = |dir: &PathBuf| dir.canonicalize().unwrap_or_else(|_| dir.clone());
        Places {
            real_roots: self.roots.iter().flatten().map(real).collect(),
            roots: self.roots.clone(),
            stored: self.stored.iter().map(real).collect(),
        }
    }
}

/// Where plugins may lie: below the roots of the settings, if they name any, and never in what the
/// service stores, which other users have sent.
#[derive(Debug, Clone)]
pub(in crate::plugins) struct Places {
    /// As the settings name them; `None`: everywhere.
    roots: Option<Vec<PathBuf>>,
    /// The roots without symbolic links.
    real_roots: Vec<PathBuf>,
    /// What is stored, without symbolic links.
    stored: Vec<PathBuf>,
}

impl Places {
    /// Whether plugins may be looked for in a folder, or a file be one, by its path without
    /// symbolic links.
    pub(in crate::plugins) fn allow(&self, real: &Path) -> bool {
        self.is_below_roots(real) && !self.is_stored(real)
    }

    fn is_below_roots(&self, real: &Path) -> bool {
        self.roots.is_none() || self.real_roots.iter().any(|root| real.starts_with(root))
    }

    fn is_stored(&self, real: &Path) -> bool {
        self.stored.iter().any(|dir| real.starts_with(dir))
    }

    /// The real path of a folder that a user wants to add. Blocks.
    ///
    /// # Errors
    /// What is wrong with it, by name; outside the roots nothing tells whether it exists.
    pub(super) fn admit(&self, path: &str) -> ApiResult<PathBuf> {
        let asked = Path::new(path);
        let leads_back = asked.components().any(|part| matches!(part, Component::ParentDir));
        if !asked.is_absolute() || leads_back || path.contains('\0') {
            let detail = format!("`{}` is not the whole path of a folder, without `..`.", shown(path));
            return Err(ApiError::bad_request("not_a_whole_path", detail));
        }
        let real = match asked.canonicalize() {
            Ok(real) => real,
            Err(error) if self.names_a_root(asked) => return Err(missing(path, &error)),
            Err(_) => return Err(self.outside(path)),
        };
        if !self.is_below_roots(&real) {
            return Err(self.outside(path));
        }
        if self.is_stored(&real) {
            return Err(ApiError::Forbidden {
                code: "inside_storage",
                detail: format!(
                    "`{}` lies in the folder where the service stores what users send; no plugin is loaded from there.",
                    shown(path)
                ),
            });
        }
        std::fs::read_dir(&real).map_err(|error| missing(path, &error))?;
        Ok(real)
    }

    /// Whether a path lies below a root by its letters alone.
    fn names_a_root(&self, asked: &Path) -> bool {
        let Some(roots) = &self.roots else { return true };
        roots.iter().chain(&self.real_roots).any(|root| asked.starts_with(root))
    }

    fn outside(&self, path: &str) -> ApiError {
        let roots = self.roots.as_deref().unwrap_or_default();
        let named: Vec<String> = roots.iter().map(|root| format!("`{}`", root.display())).collect();
        let limit = if named.is_empty() { "it names none".to_owned() } else { named.join(", ") };
        ApiError::Forbidden {
            code: "outside_plugin_roots",
            detail: format!(
                "`{}` is in none of the folders that may hold plugins (SF_PLUGIN_ROOTS: {limit}).",
                shown(path)
            ),
        }
    }
}

fn missing(path: &str, error: &std::io::Error) -> ApiError {
    let path = shown(path);
    match error.kind() {
        ErrorKind::NotFound => ApiError::not_found("folder", &path),
        ErrorKind::NotADirectory => ApiError::bad_request("not_a_folder", format!("`{path}` is no folder.")),
        ErrorKind::PermissionDenied => ApiError::Forbidden {
            code: "not_readable",
            detail: format!("The system does not let the service read `{path}`."),
        },
        _ => ApiError::bad_request("not_a_folder", format!("`{path}` cannot be read: {error}.")),
    }
}

/// A path for a sentence.
pub(super) fn shown(path: &str) -> String {
    path.chars().filter(|letter| !letter.is_control()).take(SHOWN_MAX_CHARS).collect()
}

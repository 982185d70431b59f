//! Decides which folders of the machine may be searched for plugins.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::config::{BlobStore, Config};
use crate::error::{ApiError, ApiResult};

/// Maximum length of a path in an error text, in characters.
const PRINTED_PATH_MAX_CHARS: usize = 300;

/// Rules from the settings about folders that may contain plugins.
#[derive(Debug, Clone)]
pub(in crate::plugins) struct FolderRules {
    /// Root folders for plugins; `None` allows all folders.
    roots: Option<Vec<PathBuf>>,
    /// Storage folders of the service.
    storage_dirs: Vec<PathBuf>,
}

impl FolderRules {
    /// Reads the rules from the settings.
    pub(in crate::plugins) fn new(config: &Config) -> Self {
        let mut storage_dirs = vec![config.storage.dir.clone()];
        if let BlobStore::SharedFolder(dir) = &config.storage.blobs {
            storage_dirs.push(dir.clone());
        }
        Self { roots: config.plugins.roots.clone(), storage_dirs }
    }

    /// Resolves the symbolic links in the paths of the rules. Blocks.
    pub(in crate::plugins) fn resolve(&self) -> ResolvedFolderRules {
        let real = |dir: &PathBuf| dir.canonicalize().unwrap_or_else(|_| dir.clone());
        ResolvedFolderRules {
            real_roots: self.roots.iter().flatten().map(real).collect(),
            roots: self.roots.clone(),
            storage_dirs: self.storage_dirs.iter().map(real).collect(),
        }
    }
}

/// Rules about folders that may contain plugins, with resolved paths. Such folders must be below
/// the roots of the settings, if there are any. The storage folders are excluded, because they
/// contain uploads of users.
#[derive(Debug, Clone)]
pub(in crate::plugins) struct ResolvedFolderRules {
    /// Roots as written in the settings; `None` allows all folders.
    roots: Option<Vec<PathBuf>>,
    /// `roots` with symbolic links resolved.
    real_roots: Vec<PathBuf>,
    /// Storage folders without symbolic links.
    storage_dirs: Vec<PathBuf>,
}

impl ResolvedFolderRules {
    /// Whether a folder or file may be searched for plugins. `real` has no symbolic links.
    pub(in crate::plugins) fn allows(&self, real: &Path) -> bool {
        self.is_below_roots(real) && !self.is_in_storage(real)
    }

    fn is_below_roots(&self, real: &Path) -> bool {
        self.roots.is_none() || self.real_roots.iter().any(|root| real.starts_with(root))
    }

    fn is_in_storage(&self, real: &Path) -> bool {
        self.storage_dirs.iter().any(|dir| real.starts_with(dir))
    }

    /// Checks a folder that a user wants to add, and returns its path without symbolic links.
    /// Blocks.
    ///
    /// # Errors
    /// The reason why the folder is refused. For a folder outside the roots, the error does not
    /// reveal whether it exists.
    pub(super) fn admit(&self, path: &str) -> ApiResult<PathBuf> {
        let requested_path = Path::new(path);
        let has_parent_dir = requested_path.components().any(|part| matches!(part, Component::ParentDir));
        if !requested_path.is_absolute() || has_parent_dir || path.contains('\0') {
            let detail = format!(
                "`{}` is not a valid folder; give an absolute path without `..` and without NUL.",
                printable(path)
            );
            return Err(ApiError::bad_request("not_a_whole_path", detail));
        }
        let real = match requested_path.canonicalize() {
            Ok(real) => real,
            Err(error) if self.is_lexically_below_roots(requested_path) => {
                return Err(read_error(path, &error));
            }
            Err(_) => return Err(self.outside_roots_error(path)),
        };
        if !self.is_below_roots(&real) {
            return Err(self.outside_roots_error(path));
        }
        if self.is_in_storage(&real) {
            return Err(ApiError::Forbidden {
                code: "inside_storage",
                detail: format!(
                    "`{}` is in the storage folder, which contains uploads of users; add a folder outside it.",
                    printable(path)
                ),
            });
        }
        std::fs::read_dir(&real).map_err(|error| read_error(path, &error))?;
        Ok(real)
    }

    /// Whether a path is below a root, compared as text without resolving links.
    fn is_lexically_below_roots(&self, requested_path: &Path) -> bool {
        let Some(roots) = &self.roots else { return true };
        roots.iter().chain(&self.real_roots).any(|root| requested_path.starts_with(root))
    }

    fn outside_roots_error(&self, path: &str) -> ApiError {
        let roots = self.roots.as_deref().unwrap_or_default();
        let names: Vec<String> = roots.iter().map(|root| format!("`{}`", root.display())).collect();
        let allowed_names = if names.is_empty() { "not set".to_owned() } else { names.join(", ") };
        ApiError::Forbidden {
            code: "outside_plugin_roots",
            detail: format!(
                "`{}` is not inside a folder that is allowed for plugins (SF_PLUGIN_ROOTS: {allowed_names}).",
                printable(path)
            ),
        }
    }
}

fn read_error(path: &str, error: &std::io::Error) -> ApiError {
    let path = printable(path);
    match error.kind() {
        ErrorKind::NotFound => ApiError::not_found("folder", &path),
        ErrorKind::NotADirectory => {
            ApiError::bad_request("not_a_folder", format!("`{path}` is not a folder."))
        }
        ErrorKind::PermissionDenied => ApiError::Forbidden {
            code: "not_readable",
            detail: format!("The service has no permission to read `{path}`; allow it in the file system."),
        },
        _ => ApiError::bad_request("not_a_folder", format!("`{path}` cannot be read: {error}.")),
    }
}

/// Returns a path for an error text: without control characters, and with at most
/// [`PRINTED_PATH_MAX_CHARS`].
pub(super) fn printable(path: &str) -> String {
    path.chars().filter(|character| !character.is_control()).take(PRINTED_PATH_MAX_CHARS).collect()
}

//! Reads the source files of a crate as modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::lexer::{Parts, separate};

/// Path of a module within its crate. The path of the crate's root is empty.
pub(crate) type ModulePath = Vec<String>;

/// A source file of a crate, as a module.
#[derive(Debug)]
pub(crate) struct Module {
    /// Path of the file within the folder of sources.
    pub(crate) file: PathBuf,
    pub(crate) parts: Parts,
}

/// The source files of a crate without test files.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) modules: BTreeMap<ModulePath, Module>,
}

impl Sources {
    /// Reads the sources below the folder of `lib.rs`.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut files = Vec::new();
        collect(folder, &mut files);
        assert!(!files.is_empty(), "{} contains no sources", folder.display());
        Self::of(files.into_iter().map(|path| {
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path.strip_prefix(folder).expect("below the folder").to_owned(), text)
        }))
    }

    /// Creates the sources from paths and texts of files.
    pub(crate) fn of(files: impl IntoIterator<Item = (PathBuf, String)>) -> Self {
        let mut modules: BTreeMap<ModulePath, Module> = files
            .into_iter()
            .filter(|(file, _)| file != Path::new("main.rs"))
            .map(|(file, text)| (module_path(&file), Module { file, parts: separate(&text) }))
            .collect();
        let test_modules: BTreeSet<ModulePath> = modules
            .iter()
            .flat_map(|(path, module)| {
                module
                    .parts
                    .test_modules
                    .iter()
                    .map(|name| [path.as_slice(), std::slice::from_ref(name)].concat())
            })
            .collect();
        modules.retain(|path, _| !(0..=path.len()).any(|depth| test_modules.contains(&path[..depth])));
        Self { modules }
    }

    /// Returns the longest prefix of a path that is a module.
    pub(crate) fn module_of<'p>(&self, path: &'p [String]) -> &'p [String] {
        let depth = (0..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth]));
        &path[..depth.unwrap_or(0)]
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn module_path(file: &Path) -> ModulePath {
    let mut path: ModulePath =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| last == "mod" || (path.len() == 1 && last == "lib")) {
        path.pop();
    }
    path
}

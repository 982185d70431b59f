//! Finds the imports between the modules of a crate: `use` declarations, and paths in the code.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{ModulePath, Sources};

/// Maximum number of consecutive re-exports that are followed.
const MAX_REEXPORTS: usize = 16;

/// A path within the crate that a module uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// The path, from the root of the crate.
    pub(crate) path: Vec<String>,
    /// The name under which the module uses the path.
    name: String,
    /// Whether the name is re-exported by a `pub use` with any visibility.
    is_exported: bool,
}

/// The imports of all modules of a crate.
#[derive(Debug)]
pub(crate) struct Imports {
    pub(crate) of_module: BTreeMap<ModulePath, Vec<Import>>,
    exported: BTreeMap<(ModulePath, String), Vec<String>>,
}

impl Imports {
    pub(crate) fn of(sources: &Sources) -> Self {
        let of_module: BTreeMap<ModulePath, Vec<Import>> =
            sources.modules.keys().map(|path| (path.clone(), imports_of(sources, path))).collect();
        let exported = of_module
            .iter()
            .flat_map(|(path, imports)| {
                let exported = imports.iter().filter(|import| import.is_exported);
                exported.map(|import| ((path.clone(), import.name.clone()), import.path.clone()))
            })
            .collect();
        Self { of_module, exported }
    }

    /// Returns the module whose file defines the item of a path, after following re-exports.
    pub(crate) fn definition(&self, sources: &Sources, path: &[String]) -> ModulePath {
        let mut path = path.to_vec();
        for _ in 0..MAX_REEXPORTS {
            let module = sources.module_of(&path).to_vec();
            let Some(name) = path.get(module.len()) else { return module };
            let Some(exported_name) = self.exported.get(&(module.clone(), name.clone())) else {
                return module;
            };
            path = [exported_name.as_slice(), &path[module.len() + 1..]].concat();
        }
        panic!("re-exports form a cycle at {}", path.join("::"));
    }

    /// Whether a module exports this path by a `pub use`.
    pub(crate) fn exports(&self, path: &[String]) -> bool {
        path.split_last()
            .is_some_and(|(name, module)| self.exported.contains_key(&(module.to_vec(), name.clone())))
    }

    /// Returns the modules that each module imports from. An import counts for the module whose
    /// file defines the item.
    ///
    /// Imports from modules below a module are not counted, because a folder's module re-exports
    /// them. The modules in `roots` are not counted either, because they assemble the crate.
    pub(crate) fn edges(
        &self,
        sources: &Sources,
        roots: &[&str],
    ) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
        let is_root = |module: &ModulePath| roots.contains(&module.join("::").as_str());
        let modules = self.of_module.iter().filter(|(module, _)| !is_root(module));
        modules
            .map(|(module, imports)| {
                let definitions = imports.iter().map(|import| self.definition(sources, &import.path));
                (
                    module.clone(),
                    definitions.filter(|other_module| !other_module.starts_with(module)).collect(),
                )
            })
            .collect()
    }
}

fn imports_of(sources: &Sources, module: &ModulePath) -> Vec<Import> {
    let (declarations, remaining) = use_declarations(&sources.modules[module].parts.code);
    let mut imports = Vec::new();
    for (tree, is_exported) in declarations {
        for (path, name) in leaves(&tree) {
            imports.extend(from_root(sources, module, &path).map(|path| Import { path, name, is_exported }));
        }
    }
    imports.extend(paths(&remaining).filter_map(|path| {
        let path = from_root(sources, module, &path)?;
        Some(Import { name: path.last().cloned().unwrap_or_default(), path, is_exported: false })
    }));
    imports
}

/// Converts a path to one from the root of the crate; `None` for a path of another crate.
fn from_root(sources: &Sources, module: &[String], path: &[String]) -> Option<Vec<String>> {
    let (first, remaining) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(remaining.to_vec()),
        "self" => Some([module, remaining].concat()),
        "super" => {
            let parent = &module[..module.len().checked_sub(1)?];
            match remaining.first().map(String::as_str) {
                Some("super") => from_root(sources, parent, remaining),
                _ => Some([parent, remaining].concat()),
            }
        }
        _ => {
            let child_path = [module, std::slice::from_ref(first)].concat();
            sources.modules.contains_key(&child_path).then(|| [module, path].concat())
        }
    }
}

/// Returns the trees of the `use` declarations, each with whether it is a `pub use`, and the
/// remaining code.
fn use_declarations(code: &str) -> (Vec<(String, bool)>, String) {
    let (mut declarations, mut remaining) = (Vec::new(), String::new());
    let mut code = code;
    while let Some(offset) = find_word(code, "use") {
        let (code_before, from) = code.split_at(offset);
        let tree = &from["use".len()..];
        // `impl Trait + use<'a>` is not an import.
        let Some(end) = tree.find(';').filter(|_| !tree.trim_start().starts_with('<')) else {
            remaining.push_str(&code[..offset + "use".len()]);
            code = tree;
            continue;
        };
        let last_word = code_before.trim_end();
        let is_exported = last_word.ends_with("pub")
            || (last_word.ends_with(')')
                && last_word.rsplit_once("pub").is_some_and(|(_, scope)| {
                    let scope = scope.trim();
                    scope.starts_with('(') && scope.matches(')').count() == 1
                }));
        declarations.push((tree[..end].to_owned(), is_exported));
        remaining.push_str(code_before);
        code = &tree[end + 1..];
    }
    remaining.push_str(code);
    (declarations, remaining)
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).map(|(offset, _)| offset).find(|offset| {
        !text[..*offset].ends_with(is_word) && !text[offset + word.len()..].starts_with(is_word)
    })
}

/// Returns the paths of a `use` tree, each with its name in the module.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some((prefix, list)) = tree.split_once('{') else {
        let (path, name) = match tree.split_once(" as ") {
            Some((path, name)) => (segments(path), Some(name.trim().to_owned())),
            None => (segments(tree), None),
        };
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        return vec![(path, name)];
    };
    let prefix = segments(prefix);
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let mut paths_found = Vec::new();
    for part in split_list(list) {
        for (path, name) in leaves(part) {
            if path == ["self"] {
                let name = if name == "self" { prefix.last().cloned().unwrap_or_default() } else { name };
                paths_found.push((prefix.clone(), name));
            } else {
                paths_found.push(([prefix.as_slice(), &path].concat(), name));
            }
        }
    }
    paths_found
}

fn segments(path: &str) -> Vec<String> {
    // A star stands for items of the module before it, so the path is that of the module.
    path.split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty() && *part != "*")
        .map(str::to_owned)
        .collect()
}

/// Splits a list at commas outside of braces.
fn split_list(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (offset, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..offset]);
                start = offset + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Returns the paths in code that have at least two segments.
fn paths(code: &str) -> impl Iterator<Item = Vec<String>> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut paths_found = Vec::new();
    let mut remaining = code;
    while let Some(start) = remaining.find(is_word) {
        let mut path = Vec::new();
        let is_inner = remaining[..start].trim_end().ends_with("::");
        remaining = &remaining[start..];
        loop {
            let end = remaining.find(|character| !is_word(character)).unwrap_or(remaining.len());
            path.push(remaining[..end].to_owned());
            remaining = &remaining[end..];
            let Some(path_text) = remaining.trim_start().strip_prefix("::").map(str::trim_start) else {
                break;
            };
            if !path_text.starts_with(is_word) {
                break;
            }
            remaining = path_text;
        }
        if path.len() > 1 && !is_inner {
            paths_found.push(path);
        }
    }
    paths_found.into_iter()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        Sources::of(files.iter().map(|(file, text)| (PathBuf::from(file), (*text).to_owned())))
    }

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        let sources = sources(&[("lib.rs", ""), ("a/mod.rs", ""), ("a/b.rs", code), ("a/b/c.rs", "")]);
        let imports = imports_of(&sources, &vec!["a".to_owned(), "b".to_owned()]);
        let paths_found: Vec<String> = imports.iter().map(|import| import.path.join("::")).collect();
        assert_eq!(paths_found, expected, "{code}");
    }

    #[test]
    fn paths_are_found_in_every_form() {
        check("use crate::x::Y;", &["x::Y"]);
        check("use super::Y; use super::super::Z;", &["a::Y", "Z"]);
        check("use crate::x::{self, Y, z::{A, B as C}};", &["x", "x::Y", "x::z::A", "x::z::B"]);
        check("use self::c::D; pub use c::E; use serde::F;", &["a::b::c::D", "a::b::c::E"]);
        check("use super::*;", &["a"]);
        check("fn f() { crate::x::g(super::h::<T>()) }", &["x::g", "a::h"]);
        check("fn f() { c::g(); std::mem::take(x) }", &["a::b::c::g"]);
        check("fn f() -> impl Trait + use<'_> { } use crate::x;", &["x"]);
        check("use crate :: x ::\n Y ;", &["x::Y"]);
    }

    #[test]
    fn a_definition_is_found_through_re_exports() {
        let sources = sources(&[
            ("lib.rs", ""),
            ("a/mod.rs", "mod b; pub(crate) use b::{Thing as Other, deeper};"),
            ("a/b.rs", "pub mod deeper; pub use deeper::Thing;"),
            ("a/b/deeper.rs", ""),
        ]);
        let imports = Imports::of(&sources);
        for (path, expected) in [
            ("a::Other", "a::b::deeper"),
            ("a::deeper::run", "a::b::deeper"),
            ("a::b::Thing", "a::b::deeper"),
            ("a::Own", "a"),
        ] {
            let path: Vec<String> = path.split("::").map(str::to_owned).collect();
            assert_eq!(imports.definition(&sources, &path).join("::"), expected);
        }
    }
}

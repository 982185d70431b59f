//! Rules for the sources of the server: slices have separate stores and no import cycles.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cycles::{Edges, cycles, cycles_between_files};
use crate::imports::{Import, Imports};
use crate::sources::{ModulePath, Sources};

/// Modules that assemble the server and may therefore import every slice.
const ROOTS: &[&str] = &["router", "state"];

/// The struct whose fields are the services of the slices, in `state.rs`.
const SERVICES: &str = "pub struct Services {";

/// Prefixes of SQL statements.
const STATEMENTS: &[&str] =
    &["SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH ", "CREATE ", "ALTER ", "DROP ", "PRAGMA "];

/// Functions and types of `sqlx` that run an SQL statement.
const QUERIES: &[&str] = &["sqlx::query", "sqlx::raw_sql", "QueryBuilder"];

fn folder() -> PathBuf {
    Path::new(crate::ROOT).join("server/src")
}

#[test]
fn files_of_the_server_have_no_import_cycles() {
    assert_eq!(
        cycles_between_files(&folder(), ROOTS),
        [""; 0],
        "files of the server import each other in cycles"
    );
}

#[test]
fn slices_have_no_import_cycles() {
    let sources = Sources::read(&folder());
    let found = cycles(&between_slices(&sources, &Imports::of(&sources)));
    let found: Vec<String> = found.iter().map(|cycle| cycle.join(" -> ")).collect();
    assert_eq!(found, [""; 0], "slices of the server import each other in cycles");
}

#[test]
fn sql_is_only_in_stores() {
    let found = sql_outside_stores(&Sources::read(&folder()));
    assert_eq!(found, [""; 0], "SQL belongs in the `store.rs` of its slice");
}

#[test]
fn slices_use_only_exports_of_others() {
    let sources = Sources::read(&folder());
    let found = private_imports(&sources, &Imports::of(&sources));
    assert_eq!(found, [""; 0], "a slice uses an item that the `mod.rs` of another slice does not export");
}

/// Returns the imports between top-level modules. A use of another slice's service in the state
/// counts as an import.
fn between_slices(sources: &Sources, imports: &Imports) -> Edges<String> {
    let services = services(sources, imports);
    let mut edges: Edges<String> = Edges::new();
    let slice = |module: &ModulePath| module.first().cloned().unwrap_or_default();
    for (module, used_slices) in imports.edges(sources, ROOTS) {
        let importer = slice(&module);
        let code = &sources.modules[&module].parts.code;
        let used = services.iter().filter(|(field, _)| uses_service(code, field)).map(|(_, module)| module);
        let used_slices: Vec<String> =
            used_slices.iter().chain(used).map(&slice).filter(|used_slice| *used_slice != importer).collect();
        // Items in `lib.rs` belong to no slice.
        edges
            .entry(importer)
            .or_default()
            .extend(used_slices.into_iter().filter(|used_slice| !used_slice.is_empty()));
    }
    edges
}

/// Returns the fields of the state with the modules that define their types.
fn services(sources: &Sources, imports: &Imports) -> BTreeMap<String, ModulePath> {
    let state = vec!["state".to_owned()];
    let Some(module) = sources.modules.get(&state) else { return BTreeMap::new() };
    let fields = module.parts.code.split_once(SERVICES).map_or("", |(_, following_code)| following_code);
    let fields = fields.split_once("\n}").map_or(fields, |(fields, _)| fields);
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut services = BTreeMap::new();
    for field in fields.lines() {
        let Some((name, kind)) = field.split_once(": ") else { continue };
        let name = name.rsplit(|character| !is_word(character)).next().unwrap_or_default();
        for word in kind.split(|character| !is_word(character)) {
            let import = imports.of_module[&state]
                .iter()
                .find(|import| import.path.last().is_some_and(|last| last == word));
            if let Some(Import { path, .. }) = import {
                services.insert(name.to_owned(), imports.definition(sources, path));
            }
        }
    }
    services
}

/// Whether code reads a field of a variable whose name ends in `state`.
fn uses_service(code: &str, field: &str) -> bool {
    let reads = |following_code: &str| {
        let following_code = following_code.trim_start().strip_prefix('.').map(str::trim_start);
        let after_field = following_code.and_then(|following_code| following_code.strip_prefix(field));
        after_field.is_some_and(|after_field| {
            !after_field.starts_with(|character: char| character.is_alphanumeric() || character == '_')
        })
    };
    code.match_indices("state").any(|(at, word)| reads(&code[at + word.len()..]))
}

/// Whether a file may contain SQL, because it is a part of a slice's store or of the module `db`.
fn may_contain_sql(file: &Path) -> bool {
    file.starts_with("db")
        || file.file_name().is_some_and(|name| name == "store.rs")
        || file.parent().is_some_and(|folder| folder.ends_with("store"))
}

fn sql_outside_stores(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for module in sources.modules.values().filter(|module| !may_contain_sql(&module.file)) {
        let file = module.file.display();
        let statements = module
            .parts
            .literals
            .iter()
            .filter(|text| STATEMENTS.iter().any(|start| text.trim_start().starts_with(start)));
        found.extend(statements.map(|text| format!("{file}: {}", text.chars().take(60).collect::<String>())));
        let code = module.parts.code.split_whitespace().collect::<String>();
        found.extend(
            QUERIES.iter().filter(|query| code.contains(*query)).map(|query| format!("{file}: {query}")),
        );
    }
    found.sort();
    found
}

/// Returns the imports of slices from private modules or stores of other slices.
fn private_imports(sources: &Sources, imports: &Imports) -> Vec<String> {
    let mut found = Vec::new();
    for (module, own_imports) in &imports.of_module {
        for path in own_imports.iter().map(|import| &import.path) {
            if path.first() == module.first() {
                continue;
            }
            let modules = sources.module_of(path);
            let is_private = |depth: &usize| {
                !is_importable(sources, &modules[..*depth]) && !imports.exports(&path[..*depth])
            };
            if let Some(depth) = (2..=modules.len()).find(is_private) {
                let (module, path, private) =
                    (module.join("::"), path.join("::"), modules[..depth].join("::"));
                found.push(format!("{module} uses {path}: {private} is private"));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Whether a module is visible in the whole crate and is not a store.
fn is_importable(sources: &Sources, module: &[String]) -> bool {
    let Some((name, parent)) = module.split_last() else { return true };
    let code = &sources.modules[parent].parts.code;
    let declaration = code.lines().map(str::trim).find(|line| line.ends_with(&format!("mod {name};")));
    name != "store"
        && declaration.is_some_and(|line| line.starts_with("pub mod") || line.starts_with("pub(crate) mod"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        Sources::of(files.iter().map(|(file, text)| (PathBuf::from(file), (*text).to_owned())))
    }

    #[test]
    fn sql_is_found_in_all_forms() {
        let sources = sources(&[
            ("lib.rs", ""),
            ("a/mod.rs", "const X: &str = \"SELECT 1 FROM a\";"),
            ("a/store.rs", "const X: &str = \"SELECT 1 FROM a\";"),
            ("a/store/more.rs", "fn f() { sqlx::query(X) }"),
            ("a/words.rs", "const X: &str = \"UPDATES of a\";"),
            ("a/built.rs", "fn f() { sqlx::\n  query_as(x) }"),
            ("db/mod.rs", "const X: &str = \"PRAGMA y\";"),
        ]);
        assert_eq!(sql_outside_stores(&sources), ["a/built.rs: sqlx::query", "a/mod.rs: SELECT 1 FROM a"]);
    }

    #[test]
    fn modules_that_a_slice_does_not_export_are_private() {
        let sources = sources(&[
            ("lib.rs", ""),
            (
                "a/mod.rs",
                "mod inner;\nmod make;\npub(crate) mod open;\npub(crate) mod store;\n\
                 pub(crate) use inner::Thing;\npub(crate) use make::make;",
            ),
            ("a/inner.rs", ""),
            ("a/make.rs", ""),
            ("a/open.rs", ""),
            ("a/store.rs", ""),
            (
                "b.rs",
                "use crate::a::{Thing, make, open::run, inner::Thing as Other}; use crate::a::store::get;",
            ),
        ]);
        let found = private_imports(&sources, &Imports::of(&sources));
        assert_eq!(
            found,
            ["b uses a::inner::Thing: a::inner is private", "b uses a::store::get: a::store is private"]
        );
    }

    #[test]
    fn a_slice_reaches_another_through_the_state() {
        let sources = sources(&[
            ("lib.rs", ""),
            ("state.rs", "use crate::a::Audio;\npub struct Services {\n    pub(crate) audio: Audio,\n}\n"),
            ("a.rs", "use crate::b::Thing;"),
            ("b.rs", "fn f(state: &AppState) { state.audio.run() }"),
        ]);
        let edges = between_slices(&sources, &Imports::of(&sources));
        assert_eq!(cycles(&edges), [["a", "b", "a"].map(str::to_owned)]);
    }
}

//! The rules of ARCHITECTURE.md: which crate may use which, and how the sources of a crate may
//! import each other.

mod crates;
mod cycles;
mod engine;
mod imports;
mod lexer;
mod server;
mod sources;

/// Folder of the workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

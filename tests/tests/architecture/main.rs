//! Checks the rules of ARCHITECTURE.md: dependencies between crates, and imports between the
//! sources of a crate.

mod crates;
mod cycles;
mod engine;
mod imports;
mod lexer;
mod server;
mod sources;

/// Folder of the workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

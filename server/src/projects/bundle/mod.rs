//! A project and its audio in one file, to take along and to bring.
//!
//! A zip archive with `bundle.json` (what is in it), `project.json` (the project as it is stored)
//! and the audio files as they came, each once, as `audio/<SHA-256>.<extension>`. A bundle of one
//! revision always has the same bytes.
//!
//! [`archive`], [`manifest`] and [`audio_ids`] know nothing of the service: `tests/fuzz` compiles
//! them by themselves.

mod archive;
mod audio_ids;
pub(super) mod export;
pub(super) mod import;
mod manifest;

/// Folder of the store that bundles pass through.
const FOLDER: &str = "bundles";

#[cfg(test)]
mod tests;

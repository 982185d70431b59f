//! A project and its audio in one file, to take along and to bring.
//!
//! A zip archive with `bundle.json` (what is in it), `project.json` (the project as it is stored) and the audio files as they
//! came, each once, as `audio/<SHA-256>.<extension>`. A bundle of one revision always has the same bytes.

mod archive;
mod audio_ids;
pub(super) mod export;
pub(super) mod import;

use serde::{Deserialize, Serialize};

/// Folder of the store that bundles pass through.
const FOLDER: &str = "bundles";

/// What a bundle says it is.
const FORMAT: &str = "songfoundry-bundle";

/// The version of bundles that this program writes, and the newest that it reads.
const VERSION: u32 = 1;

/// Names within the archive.
const MANIFEST: &str = "bundle.json";
const PROJECT: &str = "project.json";
const AUDIO_FOLDER: &str = "audio/";

/// What is in a bundle.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    /// The project's id on the service that it comes from.
    project_id: String,
    /// Its title.
    name: String,
    /// The audio that it names.
    audio: Vec<BundledAudio>,
    /// Ids of audio that it names and that was not there.
    missing: Vec<String>,
}

/// An audio file in a bundle.
#[derive(Debug, Serialize, Deserialize)]
struct BundledAudio {
    /// The id that the project names it by.
    server_file_id: String,
    /// Where it is in the archive.
    path: String,
    /// What its owner called it.
    name: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    sha256: String,
    /// Its size in bytes.
    size_bytes: u64,
}

#[cfg(test)]
mod tests;

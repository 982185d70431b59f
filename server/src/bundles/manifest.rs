//! The manifest of a bundle, `bundle.json`, lists its contents.

use std::io::{Read, Seek};

use serde::{Deserialize, Serialize};

use super::archive::{AUDIO_FOLDER, Archive, BundleError, MANIFEST_PATH, is_bundle_entry};

/// Maximum size of a manifest, in bytes.
const MANIFEST_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Name of the format in a manifest.
pub(super) const FORMAT: &str = "songfoundry-bundle";

/// Version of the format that this program writes. It is also the newest that it reads.
pub(super) const VERSION: u32 = 1;

/// The contents of a bundle.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) version: u32,
    /// Id of the project on the exporting service.
    pub(super) project_id: String,
    /// Title of the project.
    pub(super) name: String,
    /// The audio files that the project uses.
    pub(super) audio: Vec<BundledAudio>,
    /// Ids of audio files that the project uses but the exporting service did not have.
    pub(super) missing: Vec<String>,
}

/// An audio file in a bundle.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BundledAudio {
    /// Id of the file in the project.
    pub(super) server_file_id: String,
    /// Path of the file in the archive.
    pub(super) path: String,
    /// Name of the file on the exporting service.
    pub(super) name: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub(super) sha256: String,
    /// Size of the file in bytes.
    pub(super) size_bytes: u64,
}

/// Reads the manifest of a bundle, and checks that this version can read the bundle.
///
/// # Errors
/// [`BundleError::Bad`] if the manifest is missing, damaged, of a newer version, or lists a path
/// that a bundle cannot have. [`BundleError::TooLarge`] if it is too large.
pub(super) fn read<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Manifest, BundleError> {
    let text = archive.read_entry(MANIFEST_PATH, MANIFEST_MAX_BYTES, "The manifest of a bundle")?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|error| BundleError::from_reason(format!("`{MANIFEST_PATH}` cannot be read: {error}")))?;
    if manifest.format != FORMAT || manifest.version > VERSION {
        let Manifest { format, version, .. } = manifest;
        let format: String = format.chars().take(50).collect();
        return Err(BundleError::from_reason(format!(
            "`{MANIFEST_PATH}` has the format `{format}`, version {version}, but this service reads `{FORMAT}` up to \
             version {VERSION}"
        )));
    }
    if let Some(bundled_file) = manifest.audio.iter().find(|bundled_file| {
        !bundled_file.path.starts_with(AUDIO_FOLDER) || !is_bundle_entry(&bundled_file.path)
    }) {
        let path: String = bundled_file.path.chars().take(100).collect();
        return Err(BundleError::from_reason(format!(
            "`{MANIFEST_PATH}` lists `{path}`, which does not belong in a bundle"
        )));
    }
    Ok(manifest)
}

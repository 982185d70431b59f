//! `bundle.json`, which says what is in a bundle.

use std::io::{Read, Seek};

use serde::{Deserialize, Serialize};

use super::archive::{AUDIO_FOLDER, Archive, BundleError, MANIFEST, is_ours};

/// Largest manifest in bytes.
const MANIFEST_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The format that a manifest names.
pub(super) const FORMAT: &str = "songfoundry-bundle";

/// The version of bundles that this program writes, and the newest that it reads.
pub(super) const VERSION: u32 = 1;

/// The contents of a bundle.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) version: u32,
    /// The project's id on the service that it comes from.
    pub(super) project_id: String,
    /// Its title.
    pub(super) name: String,
    /// The audio that it names.
    pub(super) audio: Vec<BundledAudio>,
    /// Ids of audio that it names and that was not there.
    pub(super) missing: Vec<String>,
}

/// An audio file in a bundle.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BundledAudio {
    /// The id that the project names it by.
    pub(super) server_file_id: String,
    /// Where it is in the archive.
    pub(super) path: String,
    /// What its owner called it.
    pub(super) name: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub(super) sha256: String,
    /// Its size in bytes.
    pub(super) size_bytes: u64,
}

/// The manifest of a bundle that this version reads.
///
/// # Errors
/// [`BundleError::Bad`] if there is none, or it is damaged, of another version, or names anything
/// that a bundle does not have; [`BundleError::TooLarge`].
pub(super) fn read<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Manifest, BundleError> {
    let text = archive.text(MANIFEST, MANIFEST_MAX_BYTES, "The list of what is in a bundle")?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|error| BundleError::bad(format!("`{MANIFEST}` is not what it should be: {error}")))?;
    if manifest.format != FORMAT || manifest.version > VERSION {
        let Manifest { format, version, .. } = manifest;
        let format: String = format.chars().take(50).collect();
        return Err(BundleError::bad(format!(
            "`{MANIFEST}` says `{format}` of version {version}; `{FORMAT}` up to {VERSION} is read"
        )));
    }
    if let Some(one) =
        manifest.audio.iter().find(|one| !one.path.starts_with(AUDIO_FOLDER) || !is_ours(&one.path))
    {
        let path: String = one.path.chars().take(100).collect();
        return Err(BundleError::bad(format!(
            "`{MANIFEST}` names `{path}`, which is nothing that a bundle has"
        )));
    }
    Ok(manifest)
}

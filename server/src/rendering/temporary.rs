//! Temporary files of exports.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::encoder::Encoding;
use super::normalization::FRAME_BYTES;
use super::options::MixOptions;
use super::workspace::Workspace;

/// Temporary files of an export.
#[derive(Debug, Default)]
pub(super) struct TemporaryFiles {
    /// Keeps the samples until their loudness is known.
    pub(super) staging_file: Option<File>,
    /// Encodes formats other than WAV.
    pub(super) encoding: Option<Arc<Encoding>>,
}

impl TemporaryFiles {
    /// Returns the largest size of a file of `max_frames` frames with its temporary files, in
    /// bytes.
    pub(super) fn size_bytes(options: &MixOptions, max_frames: u64) -> u64 {
        let file_bytes = options.max_file_bytes(max_frames);
        let encoded_bytes = if options.needs_encoder() { file_bytes } else { 0 };
        let staged_bytes = match options.normalization {
            None => 0,
            Some(_) => max_frames.saturating_mul(FRAME_BYTES as u64),
        };
        file_bytes.saturating_add(encoded_bytes).saturating_add(staged_bytes)
    }

    /// Makes sure that the disk has space for a file of at most `max_frames` frames, and makes its
    /// temporary files.
    ///
    /// # Errors
    /// A file cannot be created, or the disk is full.
    pub(super) fn open(
        options: &MixOptions,
        max_frames: u64,
        workspace: &mut dyn Workspace,
    ) -> io::Result<Self> {
        workspace.ensure_room(Self::size_bytes(options, max_frames))?;
        Ok(Self {
            staging_file: options.normalization.map(|_| workspace.temporary_file()).transpose()?,
            encoding: Encoding::open(options, max_frames, workspace)?.map(Arc::new),
        })
    }
}

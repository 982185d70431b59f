//! The codecs. Each file writes one format.

mod flac;
mod mp3;
pub(super) mod opus;
mod vorbis;

use std::fs::File;
use std::io;

use super::{Codec, Request};

/// Writes a file.
pub(super) trait Encode {
    /// Appends the samples of whole interleaved frames: for FLAC little-endian integers, for others
    /// little-endian floats.
    ///
    /// # Errors
    /// If the codec fails or the file cannot be written.
    fn write(&mut self, samples: &[u8]) -> io::Result<()>;

    /// Completes the file.
    ///
    /// # Errors
    /// If the codec fails or the file cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Starts a file.
///
/// # Errors
/// If the codec refuses the settings, or the file cannot be written.
pub(super) fn start(request: &Request, file: File) -> io::Result<Box<dyn Encode>> {
    Ok(match request.codec {
        Codec::Flac { bits } => Box::new(flac::FlacEncoder::new(request, bits, file)?),
        Codec::Mp3(quality) => Box::new(mp3::Mp3Encoder::new(request, quality, file)?),
        Codec::Vorbis(quality) => Box::new(vorbis::VorbisFileEncoder::new(request, quality, file)?),
        Codec::Opus(quality) => Box::new(opus::OpusEncoder::new(request, quality, file)?),
    })
}

/// Splits interleaved little-endian floats into two channels.
fn deinterleave(samples: &[u8], [left, right]: &mut [Vec<f32>; 2]) {
    left.clear();
    right.clear();
    for frame in samples.chunks_exact(2 * size_of::<f32>()) {
        let [l0, l1, l2, l3, r0, r1, r2, r3] = *frame else { continue };
        left.push(f32::from_le_bytes([l0, l1, l2, l3]));
        right.push(f32::from_le_bytes([r0, r1, r2, r3]));
    }
}

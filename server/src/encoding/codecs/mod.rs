//! The codecs. Each module writes one format. The module `symphonia` decodes all formats except
//! Opus.

mod flac;
mod mp3;
mod opus;
mod symphonia;
mod vorbis;

use std::fs::File;
use std::io::{self, BufReader};

use super::Request;
use super::audio_format::AudioFormat;

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
    Ok(match request.format {
        AudioFormat::Wav => return Err(io::Error::other("WAV files need no codec")),
        AudioFormat::Flac => Box::new(flac::FlacEncoder::new(request, file)?),
        AudioFormat::Mp3 => Box::new(mp3::Mp3Encoder::new(request, file)?),
        AudioFormat::Ogg => Box::new(vorbis::VorbisFileEncoder::new(request, file)?),
        AudioFormat::Opus => Box::new(opus::OpusEncoder::new(request, file)?),
    })
}

/// Passes the interleaved frames of a complete file to `add`.
///
/// # Errors
/// If the file is damaged.
pub(super) fn decode(request: &Request, file: File, add: &mut dyn FnMut(&[f32])) -> io::Result<()> {
    match request.format {
        AudioFormat::Opus => opus::decode(BufReader::new(file), add),
        AudioFormat::Wav | AudioFormat::Flac | AudioFormat::Mp3 | AudioFormat::Ogg => {
            symphonia::decode(file, request.sample_rate_hz, add)
        }
    }
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

//! Decodes a file that was just encoded, and measures it.

use std::fs::File;
use std::io::{self, Seek as _};

use super::measure::FileMeter;
use super::{EncodedFile, Request, SentSamples, codecs};
use crate::storage::sha256_of;

/// Decodes and measures a file.
///
/// # Errors
/// If the file cannot be decoded, or if a lossless file does not contain the samples that were
/// sent.
pub(super) fn measure(
    request: &Request,
    mut file: File,
    sent_samples: &SentSamples,
) -> io::Result<EncodedFile> {
    file.rewind()?;
    let file_sha256 = sha256_of(&file)?;
    file.rewind()?;
    let format = request.sample_format();
    let mut measure = FileMeter::new(request.sample_rate_hz, format).map_err(io::Error::other)?;
    let mut clipped_samples = 0;
    let mut bytes = Vec::new();
    let mut add = |samples: &[f32]| {
        bytes.clear();
        if format.integer_bits().is_none() {
            clipped_samples += samples.iter().filter(|sample| sample.abs() > 1.0).count() as u64;
        }
        format.encode_decoded(samples, &mut bytes);
        measure.add(&bytes);
    };
    // Decoders refuse files without samples.
    if sent_samples.frames > 0 {
        codecs::decode(request, file, &mut add)?;
    }
    let measurements = measure.finish();
    if request.format.is_lossless() && measurements.pcm_sha256 != sent_samples.sha256 {
        let name = request.format.name();
        let error = format!("the {name} file does not contain the samples that it was made from");
        return Err(io::Error::other(error));
    }
    Ok(EncodedFile { measured: measurements, clipped_samples, file_sha256 })
}

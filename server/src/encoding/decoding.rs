//! Decodes a file that was just encoded, and measures it.

use std::fs::File;
use std::io::{self, Seek as _};

use dsp_core::wav::SampleFormat;

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
        match format {
            // A float holds every integer of up to 24 bits exactly.
            SampleFormat::Pcm16 => {
                bytes.extend(samples.iter().flat_map(|sample| ((sample * 32_768.0) as i16).to_le_bytes()));
            }
            SampleFormat::Pcm24 => {
                for sample in samples {
                    bytes.extend_from_slice(&((sample * 8_388_608.0) as i32).to_le_bytes()[..3]);
                }
            }
            SampleFormat::Pcm8 => {
                bytes.extend(samples.iter().map(|sample| (sample * 128.0 + 128.0) as u8));
            }
            SampleFormat::Float32 => {
                clipped_samples += samples.iter().filter(|sample| sample.abs() > 1.0).count() as u64;
                bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
            }
        }
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

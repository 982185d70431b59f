//! Decodes a file that was just encoded, and measures it.

use std::fs::File;
use std::io::{self, BufReader, Seek as _};

use dsp_core::wav::SampleFormat;
use symphonia::core::codecs::audio::AudioDecoderOptions;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;

use super::measure::Measure;
use super::{CHANNELS, Codec, Encoded, Request, Sent, codecs};
use crate::storage::sha256_of;

/// Decodes and measures a file.
///
/// # Errors
/// If the file cannot be decoded, or if a lossless file does not contain the samples that were sent.
pub(super) fn measure(request: &Request, mut file: File, sent: &Sent) -> io::Result<Encoded> {
    file.rewind()?;
    let file_sha256 = sha256_of(&file)?;
    file.rewind()?;
    let format = match request.codec {
        Codec::Flac { bits: 16 } => SampleFormat::Pcm16,
        Codec::Flac { .. } => SampleFormat::Pcm24,
        Codec::Mp3(_) | Codec::Vorbis(_) | Codec::Opus(_) => SampleFormat::Float32,
    };
    let mut measure = Measure::new(request.sample_rate_hz, format).map_err(io::Error::other)?;
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
            SampleFormat::Pcm8 | SampleFormat::Float32 => {
                clipped_samples += samples.iter().filter(|sample| sample.abs() > 1.0).count() as u64;
                bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
            }
        }
        measure.add(&bytes);
    };
    match request.codec {
        // Decoders refuse files without sound.
        _ if sent.frames == 0 => {}
        Codec::Opus(_) => codecs::opus::decode(BufReader::new(file), &mut add)?,
        Codec::Flac { .. } | Codec::Mp3(_) | Codec::Vorbis(_) => {
            decode(file, request.sample_rate_hz, &mut add)?;
        }
    }
    let measured = measure.finish();
    if matches!(request.codec, Codec::Flac { .. }) && measured.pcm_sha256 != sent.sha256 {
        return Err(io::Error::other("the FLAC file does not contain the samples that it was made from"));
    }
    Ok(Encoded { measured, clipped_samples, file_sha256 })
}

/// Passes the interleaved frames of a stereo file with this sample rate to `add`.
fn decode(file: File, sample_rate_hz: u32, add: &mut dyn FnMut(&[f32])) -> io::Result<()> {
    let mut format = symphonia::default::get_probe()
        .probe(
            &Hint::new(),
            MediaSourceStream::new(Box::new(file), Default::default()),
            FormatOptions::default(),
            MetadataOptions::default(),
        )
        .map_err(io::Error::other)?;
    let track = format.default_track(TrackType::Audio);
    let track = track.ok_or_else(|| io::Error::other("the file contains no audio"))?;
    let track_id = track.id;
    let params = track.codec_params.as_ref().and_then(|params| params.audio());
    let params = params.ok_or_else(|| io::Error::other("the file names no codec"))?;
    let mut decoder = symphonia::default::get_codecs()
        .make_audio_decoder(params, &AudioDecoderOptions::default())
        .map_err(io::Error::other)?;
    let mut interleaved = Vec::new();
    loop {
        let packet = match format.next_packet() {
            Ok(Some(packet)) if packet.track_id == track_id => packet,
            Ok(Some(_)) => continue,
            Ok(None) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        };
        let decoded = decoder.decode(&packet).map_err(io::Error::other)?;
        let spec = decoded.spec();
        if spec.channels().count() != CHANNELS || spec.rate() != sample_rate_hz {
            return Err(io::Error::other("the file has another sample rate, or it is not stereo"));
        }
        decoded.copy_to_vec_interleaved(&mut interleaved);
        add(&interleaved);
    }
}

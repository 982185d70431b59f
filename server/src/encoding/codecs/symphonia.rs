//! Decodes files with `symphonia`.

use std::fs::File;
use std::io;

use symphonia::core::codecs::audio::AudioDecoderOptions;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;

use crate::encoding::CHANNELS;

/// Passes the interleaved frames of a stereo file with this sample rate to `add`.
pub(super) fn decode(file: File, sample_rate_hz: u32, add: &mut dyn FnMut(&[f32])) -> io::Result<()> {
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
        let audio_buffer = decoder.decode(&packet).map_err(io::Error::other)?;
        let spec = audio_buffer.spec();
        if spec.channels().count() != CHANNELS || spec.rate() != sample_rate_hz {
            return Err(io::Error::other(format!(
                "the file has {} channels at {} Hz; expected {CHANNELS} channels at {sample_rate_hz} Hz",
                spec.channels().count(),
                spec.rate()
            )));
        }
        audio_buffer.copy_to_vec_interleaved(&mut interleaved);
        add(&interleaved);
    }
}

//! Reads and decodes the packets of a file with `symphonia`.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use symphonia::core::audio::AudioSpec;
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;

use super::input::Input;
use super::packets::{End, PacketEvent, Packets};
use super::refusal::{disk_error, no_decoder, refusal_of_error, unknown_format};
use super::repair::Repair;
use super::{HeaderInfo, Refusal};

/// Maximum number of frames of a damaged packet that are replaced with silence. A damaged packet
/// that claims more frames is dropped. A FLAC packet has at most 65,535 frames (RFC 9639, section
/// 8.2).
const PACKET_MAX_FRAMES: u64 = 65_536;

/// The next decoded frames, damage or end.
pub(super) enum DecodeEvent {
    /// Interleaved frames were decoded.
    Frames(AudioSpec),
    /// This number of frames is missing or cannot be decoded.
    Damaged(u64),
    /// The file has ended.
    Ended(End),
    /// The file cannot be used.
    Failed(Refusal),
}

/// An opened file.
pub(super) struct Source {
    packets: Packets,
    decoder: Box<dyn AudioDecoder>,
    /// Length in frames according to the header.
    pub(super) declared_frames: Option<u64>,
    /// The last decoding error because of an unsupported feature.
    pub(super) unsupported_refusal: Option<Refusal>,
    is_chained: bool,
    size_bytes: u64,
    position_bytes: Arc<AtomicU64>,
}

impl Source {
    /// Opens a file. If `repair` lists pieces, only those are read.
    pub(super) fn open(path: &Path, repair: Repair) -> Result<Self, Refusal> {
        let input = Input::open(path, repair.pieces).map_err(disk_error)?;
        let (size_bytes, position_bytes) = (input.size_bytes(), input.shared_position());
        let probe_result = symphonia::default::get_probe().probe(
            &Hint::new(),
            MediaSourceStream::new(Box::new(input), Default::default()),
            FormatOptions::default(),
            MetadataOptions::default(),
        );
        let format = probe_result.map_err(refusal_of_error)?;
        let track = format
            .default_track(TrackType::Audio)
            .ok_or_else(|| Refusal::Unsupported("contains no audio of a supported kind".to_owned()))?;
        let params =
            track.codec_params.as_ref().and_then(|params| params.audio()).ok_or_else(unknown_format)?;
        let decoder = symphonia::default::get_codecs()
            .make_audio_decoder(params, &AudioDecoderOptions::default())
            .map_err(|error| no_decoder(params, error))?;
        let (track_id, declared_frames) = (track.id, track.num_frames);
        Ok(Self {
            packets: Packets::new(format, track_id, repair.gaps),
            decoder,
            declared_frames,
            unsupported_refusal: None,
            is_chained: repair.is_chained,
            size_bytes,
            position_bytes,
        })
    }

    /// Returns the kind of file: `wave`, `flac`, `mp3` and so on.
    pub(super) fn container(&self) -> &'static str {
        self.packets.format().format_info().short_name
    }

    /// Returns the codec of the samples.
    pub(super) fn codec(&self) -> &'static str {
        self.decoder.codec_info().short_name
    }

    /// Returns the properties from the header, or `None` if one of them is missing.
    pub(super) fn header_info(&self) -> Option<HeaderInfo> {
        let track = self.packets.format().default_track(TrackType::Audio)?;
        let params = track.codec_params.as_ref()?.audio()?;
        Some(HeaderInfo {
            container: self.container().to_owned(),
            codec: self.codec().to_owned(),
            sample_rate_hz: params.sample_rate?,
            channels: params.channels.as_ref()?.count() as u32,
            frames: self.declared_frames,
        })
    }

    /// Returns the fraction of the file that was read, 0 to 1.
    pub(super) fn fraction_read(&self) -> f64 {
        self.position_bytes.load(Ordering::Relaxed) as f64 / self.size_bytes.max(1) as f64
    }

    /// Decodes the next packet to `interleaved`, or reports the gap or the end that comes instead.
    pub(super) fn next(&mut self, interleaved: &mut Vec<f32>) -> DecodeEvent {
        let packet = match self.packets.next() {
            PacketEvent::Packet(packet) => packet,
            PacketEvent::Lost(frames) => {
                // The decoder's state belongs to the packet before the gap.
                self.decoder.reset();
                return DecodeEvent::Damaged(frames);
            }
            PacketEvent::Ended(End::Regular) if self.is_chained => return DecodeEvent::Ended(End::Chained),
            PacketEvent::Ended(end) => return DecodeEvent::Ended(end),
            PacketEvent::Failed(refusal) => return DecodeEvent::Failed(refusal),
        };
        let frames = Some(packet.dur.get()).filter(|frames| *frames <= PACKET_MAX_FRAMES).unwrap_or(0);
        match self.decoder.decode(&packet) {
            Ok(audio_buffer) => {
                let spec = audio_buffer.spec().clone();
                audio_buffer.copy_to_vec_interleaved(interleaved);
                DecodeEvent::Frames(spec)
            }
            // Packets are in memory, so an I/O error means a truncated packet.
            Err(Error::DecodeError(_) | Error::IoError(_)) => DecodeEvent::Damaged(frames),
            // Damage can look like an unsupported feature, so decoding continues.
            Err(error @ Error::Unsupported(_)) => {
                self.unsupported_refusal = Some(refusal_of_error(error));
                DecodeEvent::Damaged(frames)
            }
            Err(Error::ResetRequired) => DecodeEvent::Ended(End::Chained),
            Err(read_error) => DecodeEvent::Failed(refusal_of_error(read_error)),
        }
    }
}

/// Reads the header of a file. Returns `None` if the file is not supported audio.
pub(super) fn inspect(path: &Path) -> io::Result<Option<HeaderInfo>> {
    let repair = super::repair::scan_header(path)?;
    Ok(Source::open(path, repair).ok().and_then(|source| source.header_info()))
}

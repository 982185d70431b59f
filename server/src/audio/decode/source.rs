//! A file as `symphonia` reads it: packets, decoded one after another.

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
use super::packets::{End, Found, Packets};
use super::refusal::{disk, not_decoded, refusal, unknown};
use super::repair::Repair;
use super::{Facts, Refusal};

/// A damaged packet that claims to last longer than this many frames is left out without silence in
/// its place.
const PACKET_MAX_FRAMES: u64 = 65_536;

/// What comes next from a file.
pub(super) enum Next {
    /// Frames, interleaved.
    Frames(AudioSpec),
    /// Sound of so many frames that is missing or cannot be decoded.
    Damaged(u64),
    /// Nothing any more.
    Ended(End),
    /// The file cannot be used.
    Failed(Refusal),
}

/// An opened file.
pub(super) struct Source {
    packets: Packets,
    decoder: Box<dyn AudioDecoder>,
    /// Length in frames by the header.
    pub(super) promised_frames: Option<u64>,
    /// What the decoder found in a packet that it does not know.
    pub(super) unsupported: Option<Refusal>,
    is_chained: bool,
    size_bytes: u64,
    reached: Arc<AtomicU64>,
}

impl Source {
    /// Opens a file; reads the pieces that `repair` lists in place of the whole file.
    pub(super) fn open(path: &Path, repair: Repair) -> Result<Self, Refusal> {
        let input = Input::open(path, repair.pieces).map_err(disk)?;
        let (size_bytes, reached) = (input.size_bytes(), input.reached());
        let probed = symphonia::default::get_probe().probe(
            &Hint::new(),
            MediaSourceStream::new(Box::new(input), Default::default()),
            FormatOptions::default(),
            MetadataOptions::default(),
        );
        let format = probed.map_err(refusal)?;
        let track = format
            .default_track(TrackType::Audio)
            .ok_or_else(|| Refusal::Unsupported("holds no audio that is read here".to_owned()))?;
        let params = track.codec_params.as_ref().and_then(|params| params.audio()).ok_or_else(unknown)?;
        let decoder = symphonia::default::get_codecs()
            .make_audio_decoder(params, &AudioDecoderOptions::default())
            .map_err(|error| not_decoded(params, error))?;
        let (track_id, promised_frames) = (track.id, track.num_frames);
        Ok(Self {
            packets: Packets::new(format, track_id, repair.missing),
            decoder,
            promised_frames,
            unsupported: None,
            is_chained: repair.is_chained,
            size_bytes,
            reached,
        })
    }

    /// Kind of file: `wave`, `flac`, `mp3` and so on.
    pub(super) fn container(&self) -> &'static str {
        self.packets.format().format_info().short_name
    }

    /// How its samples are coded.
    pub(super) fn codec(&self) -> &'static str {
        self.decoder.codec_info().short_name
    }

    /// What the header says, if it says enough.
    pub(super) fn facts(&self) -> Option<Facts> {
        let track = self.packets.format().default_track(TrackType::Audio)?;
        let params = track.codec_params.as_ref()?.audio()?;
        Some(Facts {
            container: self.container().to_owned(),
            codec: self.codec().to_owned(),
            sample_rate_hz: params.sample_rate?,
            channels: params.channels.as_ref()?.count() as u32,
            frames: self.promised_frames,
        })
    }

    /// Share of the file that was read, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        self.reached.load(Ordering::Relaxed) as f64 / self.size_bytes.max(1) as f64
    }

    /// Decodes the next packet to `interleaved`.
    pub(super) fn next(&mut self, interleaved: &mut Vec<f32>) -> Next {
        let packet = match self.packets.next() {
            Found::Packet(packet) => packet,
            Found::Lost(frames) => {
                // What the decoder remembers is not what the next packet builds on.
                self.decoder.reset();
                return Next::Damaged(frames);
            }
            Found::Ended(End::Regular) if self.is_chained => return Next::Ended(End::Chained),
            Found::Ended(end) => return Next::Ended(end),
            Found::Failed(refusal) => return Next::Failed(refusal),
        };
        let frames = Some(packet.dur.get()).filter(|frames| *frames <= PACKET_MAX_FRAMES).unwrap_or(0);
        match self.decoder.decode(&packet) {
            Ok(decoded) => {
                let spec = decoded.spec().clone();
                decoded.copy_to_vec_interleaved(interleaved);
                Next::Frames(spec)
            }
            // A packet is in memory: it ends before its content does.
            Err(Error::DecodeError(_) | Error::IoError(_)) => Next::Damaged(frames),
            // Damage, too, looks like what nobody has implemented.
            Err(error @ Error::Unsupported(_)) => {
                self.unsupported = Some(refusal(error));
                Next::Damaged(frames)
            }
            Err(Error::ResetRequired) => Next::Ended(End::Chained),
            Err(other) => Next::Failed(refusal(other)),
        }
    }
}

/// What the header of a file says; `None` if it is no audio file that is read here.
pub(super) fn inspect(path: &Path) -> io::Result<Option<Facts>> {
    let repair = super::repair::of_header(path)?;
    Ok(Source::open(path, repair).ok().and_then(|source| source.facts()))
}

//! Opus (RFC 6716) in an Ogg file (RFC 7845), with libopus.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write as _};

use ogg::{PacketReader, PacketWriteEndInfo, PacketWriter};
use opusic_c::{Application, Bitrate, Channels, Decoder, Encoder, ErrorCode, SampleRate, Signal};

use super::Encode;
use crate::encoding::quality::Quality;
use crate::encoding::tags::comment_block;
use crate::encoding::{CHANNELS, Request};

/// The only sample rate of the files.
const SAMPLE_RATE: SampleRate = SampleRate::Hz48000;

/// Number of frames in a packet: 20 ms.
const PACKET_FRAMES: usize = 960;

/// Number of packets on a page of the file: one second.
const PAGE_PACKETS: u64 = 50;

/// Maximum size of a packet of 20 ms in bytes (RFC 6716, section 3.4).
const PACKET_MAX_BYTES: usize = 1_275;

/// Maximum number of frames in a packet: 120 ms.
const DECODED_MAX_FRAMES: usize = 5_760;

/// Serial number of the only stream in the file. It is constant, so that the same samples give the
/// same file.
const STREAM_SERIAL: u32 = 1;

/// Offset of the number of skipped frames in the first packet, in bytes.
const PRE_SKIP_OFFSET: usize = 10;

/// Writes an Ogg Opus file.
pub(super) struct OpusEncoder {
    pages: PacketWriter<'static, BufWriter<File>>,
    encoder: Encoder,
    /// Number of frames at the start that a decoder skips.
    pre_skip_frames: u64,
    /// Number of frames that were received.
    frames: u64,
    packets: u64,
    /// Interleaved samples that do not fill a packet yet.
    pending_samples: Vec<f32>,
}

impl OpusEncoder {
    pub(super) fn new(request: &Request, file: File) -> io::Result<Self> {
        let Quality::BitRate(kbps) = request.quality else {
            let quality = request.quality;
            return Err(io::Error::other(format!("an Opus file needs a bit rate instead of {quality:?}")));
        };
        let mut encoder =
            Encoder::new(Channels::Stereo, SAMPLE_RATE, Application::Audio).map_err(opus_error)?;
        encoder.set_bitrate(Bitrate::Value(u32::from(kbps) * 1_000)).map_err(opus_error)?;
        encoder.set_signal(Signal::Music).map_err(opus_error)?;
        encoder.set_complexity(10).map_err(opus_error)?;
        let pre_skip = encoder.get_look_ahead().map_err(opus_error)? as u16;
        let mut pages = PacketWriter::new(BufWriter::new(file));
        pages.write_packet(
            head(pre_skip, request.sample_rate_hz),
            STREAM_SERIAL,
            PacketWriteEndInfo::EndPage,
            0,
        )?;
        let mut tags = b"OpusTags".to_vec();
        tags.extend(comment_block(&request.tags.ogg_comments(request.sample_rate_hz)));
        pages.write_packet(tags, STREAM_SERIAL, PacketWriteEndInfo::EndPage, 0)?;
        Ok(Self {
            pages,
            encoder,
            pre_skip_frames: u64::from(pre_skip),
            frames: 0,
            packets: 0,
            pending_samples: Vec::new(),
        })
    }

    /// Encodes a packet.
    fn encode(&mut self, samples: &[f32], is_last: bool) -> io::Result<()> {
        let mut packet = vec![0; PACKET_MAX_BYTES];
        let packet_bytes = self.encoder.encode_float_to_slice(samples, &mut packet).map_err(opus_error)?;
        packet.truncate(packet_bytes);
        self.packets += 1;
        // The position includes the skipped frames. The position of the last packet is the end of
        // the audio.
        let end = self.packets * PACKET_FRAMES as u64;
        let (kind, granule_position) = match is_last {
            true => (PacketWriteEndInfo::EndStream, self.pre_skip_frames + self.frames),
            false if self.packets.is_multiple_of(PAGE_PACKETS) => (PacketWriteEndInfo::EndPage, end),
            false => (PacketWriteEndInfo::NormalPacket, end),
        };
        self.pages.write_packet(packet, STREAM_SERIAL, kind, granule_position)
    }
}

impl Encode for OpusEncoder {
    fn write(&mut self, samples: &[u8]) -> io::Result<()> {
        let floats = samples.chunks_exact(size_of::<f32>()).filter_map(|bytes| bytes.try_into().ok());
        let mut unencoded_samples = std::mem::take(&mut self.pending_samples);
        unencoded_samples.extend(floats.map(f32::from_le_bytes));
        self.frames += (samples.len() / size_of::<f32>() / CHANNELS) as u64;
        let packet_samples = PACKET_FRAMES * CHANNELS;
        let whole_len = unencoded_samples.len() - unencoded_samples.len() % packet_samples;
        for packet in unencoded_samples[..whole_len].chunks_exact(packet_samples) {
            self.encode(packet, false)?;
        }
        unencoded_samples.drain(..whole_len);
        self.pending_samples = unencoded_samples;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let mut unencoded_samples = std::mem::take(&mut self.pending_samples);
        // Silence flushes the frames in the encoder's delay.
        let end = self.pre_skip_frames + self.frames;
        loop {
            unencoded_samples.resize(PACKET_FRAMES * CHANNELS, 0.0);
            let is_last = (self.packets + 1) * PACKET_FRAMES as u64 >= end;
            self.encode(&unencoded_samples, is_last)?;
            if is_last {
                break;
            }
            unencoded_samples.clear();
        }
        self.pages.inner_mut().flush()
    }
}

/// Returns the first packet (RFC 7845, section 5.1).
fn head(pre_skip: u16, input_rate_hz: u32) -> Vec<u8> {
    let (version, output_gain, mapping) = (1, 0_u16, 0);
    let mut id_header = b"OpusHead".to_vec();
    id_header.extend([version, CHANNELS as u8]);
    id_header.extend(pre_skip.to_le_bytes());
    id_header.extend(input_rate_hz.to_le_bytes());
    id_header.extend(output_gain.to_le_bytes());
    id_header.push(mapping);
    id_header
}

/// Passes the interleaved frames of a file that [`OpusEncoder`] wrote to `add`.
///
/// # Errors
/// If the file is damaged.
pub(super) fn decode(file: impl Read + Seek, add: &mut dyn FnMut(&[f32])) -> io::Result<()> {
    let mut packets = PacketReader::new(file);
    let mut next = || packets.read_packet().map_err(io::Error::other);
    let id_header = next()?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let [low, high] = id_header
        .data
        .get(PRE_SKIP_OFFSET..PRE_SKIP_OFFSET + 2)
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut frames_to_skip = usize::from(u16::from_le_bytes([low, high]));
    next()?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut decoder = Decoder::new(Channels::Stereo, SAMPLE_RATE).map_err(opus_error)?;
    let mut samples = vec![0.0; DECODED_MAX_FRAMES * CHANNELS];
    let mut granule_position = 0;
    while let Some(packet) = next()? {
        let frames = decoder.decode_float_to_slice(&packet.data, &mut samples, false).map_err(opus_error)?;
        // The position of the last packet is lower than the number of decoded frames.
        let start = granule_position;
        granule_position += frames as u64;
        let kept_frames = match packet.last_in_stream() {
            true => packet.absgp_page().saturating_sub(start).min(frames as u64) as usize,
            false => frames,
        };
        let skipped_frames = frames_to_skip.min(kept_frames);
        frames_to_skip -= skipped_frames;
        add(&samples[skipped_frames * CHANNELS..kept_frames * CHANNELS]);
    }
    Ok(())
}

fn opus_error(error: ErrorCode) -> io::Error {
    io::Error::other(format!("Opus: {error:?}"))
}

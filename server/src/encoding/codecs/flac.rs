//! FLAC (RFC 9639), with `flacenc`.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};

use flacenc::bitsink::ByteSink;
use flacenc::component::{BitRepr, StreamInfo};
use flacenc::config;
use flacenc::error::{Verified, Verify as _};
use flacenc::source::{Context, Fill as _, FrameBuf};

use super::Encode;
use crate::encoding::tags::comment_block;
use crate::encoding::{CHANNELS, Request};

/// Number of frames in a FLAC frame.
const BLOCK_FRAMES: usize = 4_096;

/// Types of metadata blocks (RFC 9639, section 8.1).
const STREAM_INFO: u8 = 0;
const VORBIS_COMMENT: u8 = 4;
const PICTURE: u8 = 6;
/// Marks the last metadata block.
const LAST_BLOCK: u8 = 0x80;

/// Offset of the stream information in the file, in bytes: after `fLaC` and the head of the block.
const STREAM_INFO_OFFSET: u64 = 8;

/// Writes a FLAC file.
pub(super) struct FlacEncoder {
    file: BufWriter<File>,
    config: Verified<config::Encoder>,
    info: StreamInfo,
    context: Context,
    block: FrameBuf,
    sample_bytes: usize,
    /// Samples that do not fill a block yet.
    waiting: Vec<u8>,
}

impl FlacEncoder {
    pub(super) fn new(request: &Request, bits: u8, file: File) -> io::Result<Self> {
        let bits = usize::from(bits);
        let mut encoder = config::Encoder::default();
        encoder.block_size = BLOCK_FRAMES;
        let config = encoder.into_verified().map_err(|(_, error)| flac_error(error))?;
        let mut info =
            StreamInfo::new(request.sample_rate_hz as usize, CHANNELS, bits).map_err(flac_error)?;
        info.set_block_sizes(BLOCK_FRAMES, BLOCK_FRAMES).map_err(flac_error)?;
        let block = FrameBuf::with_size(CHANNELS, BLOCK_FRAMES).map_err(flac_error)?;
        let mut file = BufWriter::new(file);
        file.write_all(b"fLaC")?;
        let info_bytes = bytes_of(&info)?;
        write_block(&mut file, STREAM_INFO, &info_bytes)?;
        if let Some(cover) = &request.tags.cover {
            write_block(&mut file, PICTURE, &cover.flac_picture())?;
        }
        let comments = request.tags.vorbis_comments(request.sample_rate_hz);
        write_block(&mut file, VORBIS_COMMENT | LAST_BLOCK, &comment_block(&comments))?;
        Ok(Self {
            file,
            config,
            info,
            context: Context::new(bits, CHANNELS),
            block,
            sample_bytes: bits / 8,
            waiting: Vec::new(),
        })
    }

    /// Encodes the samples of one block.
    fn encode(&mut self, samples: &[u8]) -> io::Result<()> {
        self.context.fill_le_bytes(samples, self.sample_bytes).map_err(flac_error)?;
        self.block.fill_le_bytes(samples, self.sample_bytes).map_err(flac_error)?;
        let number = self.context.current_frame_number().unwrap_or(0);
        let frame = flacenc::encode_fixed_size_frame(&self.config, &self.block, number, &self.info)
            .map_err(flac_error)?;
        self.file.write_all(&bytes_of(&frame)?)
    }
}

impl Encode for FlacEncoder {
    fn write(&mut self, samples: &[u8]) -> io::Result<()> {
        let block_bytes = BLOCK_FRAMES * CHANNELS * self.sample_bytes;
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend_from_slice(samples);
        let whole = waiting.len() - waiting.len() % block_bytes;
        for block in waiting[..whole].chunks_exact(block_bytes) {
            self.encode(block)?;
        }
        waiting.drain(..whole);
        self.waiting = waiting;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let last = std::mem::take(&mut self.waiting);
        if !last.is_empty() {
            self.encode(&last)?;
        }
        self.info.set_total_samples(self.context.total_samples());
        self.info.set_md5_digest(&self.context.md5_digest());
        self.file.seek(SeekFrom::Start(STREAM_INFO_OFFSET))?;
        self.file.write_all(&bytes_of(&self.info)?)?;
        self.file.flush()
    }
}

/// Writes a metadata block with its head.
fn write_block(file: &mut BufWriter<File>, kind: u8, content: &[u8]) -> io::Result<()> {
    let [high, length @ ..] = (content.len() as u32).to_be_bytes();
    if high != 0 {
        return Err(io::Error::other("the tags exceed 16 MiB"));
    }
    file.write_all(&[kind])?;
    file.write_all(&length)?;
    file.write_all(content)
}

/// Returns the bytes of a part of a stream.
fn bytes_of(part: &impl BitRepr) -> io::Result<Vec<u8>> {
    let mut sink = ByteSink::new();
    part.write(&mut sink).map_err(flac_error)?;
    Ok(sink.into_inner())
}

/// The library's errors cannot be sent between threads, so only their texts are kept.
fn flac_error(error: impl std::error::Error) -> io::Error {
    io::Error::other(error.to_string())
}

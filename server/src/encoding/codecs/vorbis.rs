//! Vorbis in an Ogg file, with libvorbis.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::num::{NonZeroU8, NonZeroU32};

use vorbis_rs::{VorbisBitrateManagementStrategy, VorbisEncoder, VorbisEncoderBuilder};

use super::{Encode, deinterleave};
use crate::encoding::Request;
use crate::encoding::quality::{Quality, VARIABLE_MAX};

/// Serial number of the only stream in the file. It is constant, so that the same samples give the
/// same file.
const STREAM_SERIAL: i32 = 1;

/// Writes an Ogg Vorbis file.
pub(super) struct VorbisFileEncoder {
    encoder: VorbisEncoder<BufWriter<File>>,
    channels: [Vec<f32>; 2],
}

impl VorbisFileEncoder {
    pub(super) fn new(request: &Request, file: File) -> io::Result<Self> {
        let rate_hz = NonZeroU32::new(request.sample_rate_hz).ok_or(io::ErrorKind::InvalidInput)?;
        let channels = NonZeroU8::new(2).ok_or(io::ErrorKind::InvalidInput)?;
        let strategy = match request.quality {
            Quality::BitRate(kbps) => VorbisBitrateManagementStrategy::Abr {
                average_bitrate: NonZeroU32::new(u32::from(kbps) * 1_000)
                    .ok_or(io::ErrorKind::InvalidInput)?,
            },
            Quality::Variable(quality) => VorbisBitrateManagementStrategy::QualityVbr {
                target_quality: f32::from(quality) / f32::from(VARIABLE_MAX),
            },
        };
        let mut builder =
            VorbisEncoderBuilder::new_with_serial(rate_hz, channels, BufWriter::new(file), STREAM_SERIAL);
        builder.bitrate_management_strategy(strategy);
        let comments = request.tags.ogg_comments(request.sample_rate_hz);
        builder.comment_tags(comments).map_err(io::Error::other)?;
        Ok(Self { encoder: builder.build().map_err(io::Error::other)?, channels: [Vec::new(), Vec::new()] })
    }
}

impl Encode for VorbisFileEncoder {
    fn write(&mut self, samples: &[u8]) -> io::Result<()> {
        deinterleave(samples, &mut self.channels);
        self.encoder.encode_audio_block(&self.channels).map_err(io::Error::other)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.encoder.finish().map_err(io::Error::other)?.flush()
    }
}

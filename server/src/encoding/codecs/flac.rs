//! FLAC (RFC 9639), with `flac-codec`.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};

use flac_codec::byteorder::LittleEndian;
use flac_codec::encode::{FlacByteWriter, Options};
use flac_codec::metadata::{Picture, PictureType, VorbisComment};

use super::Encode;
use crate::encoding::cover::Cover;
use crate::encoding::tags::ENCODED_BY;
use crate::encoding::{CHANNELS, Request};

/// Writes a FLAC file.
pub(super) struct FlacEncoder {
    writer: FlacByteWriter<BufWriter<File>, LittleEndian>,
    has_samples: bool,
}

impl FlacEncoder {
    pub(super) fn new(request: &Request, bits: u8, file: File) -> io::Result<Self> {
        let comments = request.tags.vorbis_comments(request.sample_rate_hz);
        let fields = comments.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut options =
            Options::default().comment(VorbisComment { vendor_string: ENCODED_BY.to_owned(), fields });
        if let Some(cover) = &request.tags.cover {
            options = options.picture(picture(cover));
        }
        let file = BufWriter::new(file);
        let writer = FlacByteWriter::new(
            file,
            options,
            request.sample_rate_hz,
            u32::from(bits),
            CHANNELS as u8,
            None,
        )?;
        Ok(Self { writer, has_samples: false })
    }
}

impl Encode for FlacEncoder {
    fn write(&mut self, samples: &[u8]) -> io::Result<()> {
        self.has_samples |= !samples.is_empty();
        self.writer.write_all(samples)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        // The metadata alone are a file without samples; the library refuses to finish it.
        if self.has_samples {
            self.writer.finalize()?;
            return Ok(());
        }
        self.writer.flush()
    }
}

fn picture(cover: &Cover) -> Picture {
    let dimensions = cover.dimensions();
    Picture {
        picture_type: PictureType::FrontCover,
        media_type: cover.media_type().to_owned(),
        description: String::new(),
        width: dimensions.width,
        height: dimensions.height,
        color_depth: dimensions.bits_per_pixel,
        colors_used: None,
        data: cover.bytes(),
    }
}

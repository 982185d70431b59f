//! FLAC (RFC 9639), with `flac-codec`.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::rc::Rc;

use flac_codec::byteorder::LittleEndian;
use flac_codec::encode::{FlacByteWriter, Options};
use flac_codec::metadata::{Picture, PictureType, VorbisComment};

use super::Encode;
use crate::encoding::cover::Cover;
use crate::encoding::tags::ENCODED_BY;
use crate::encoding::{CHANNELS, Request};

/// Writes a FLAC file.
pub(super) struct FlacEncoder {
    file: SharedFile,
    writer: FlacByteWriter<SharedFile, LittleEndian>,
    has_samples: bool,
}

/// The buffered file. The library drops its writer when it finishes, and an error of the buffer
/// would then be lost. Therefore the buffer is shared, and is flushed afterwards.
#[derive(Clone)]
struct SharedFile(Rc<RefCell<BufWriter<File>>>);

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.0.borrow_mut().seek(position)
    }
}

impl FlacEncoder {
    pub(super) fn new(request: &Request, file: File) -> io::Result<Self> {
        let comments = request.tags.vorbis_comments(request.sample_rate_hz);
        let fields = comments.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut options =
            Options::default().comment(VorbisComment { vendor_string: ENCODED_BY.to_owned(), fields });
        if let Some(cover) = &request.tags.cover {
            options = options.picture(picture(cover));
        }
        let file = SharedFile(Rc::new(RefCell::new(BufWriter::new(file))));
        let writer = FlacByteWriter::new(
            file.clone(),
            options,
            request.sample_rate_hz,
            8 * request.sample_format().bytes_per_sample() as u32,
            CHANNELS as u8,
            None,
        )?;
        Ok(Self { file, writer, has_samples: false })
    }
}

impl Encode for FlacEncoder {
    fn write(&mut self, samples: &[u8]) -> io::Result<()> {
        self.has_samples |= !samples.is_empty();
        self.writer.write_all(samples)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Self { mut file, writer, has_samples } = *self;
        // The metadata alone is a valid file without samples, which the library refuses to finish.
        if has_samples {
            writer.finalize()?;
        }
        file.flush()
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

//! MP3 (ISO/IEC 11172-3 layer III), with LAME.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::num::NonZeroU32;

use id3::TagLike as _;
use id3::frame::TableOfContents;
use mp3lame_encoder::{
    Bitrate, Builder, DualPcm, Encoder, FlushGap, Quality as LameQuality, VbrMode, max_required_buffer_size,
};

use super::{Encode, deinterleave};
use crate::encoding::Request;
use crate::encoding::chapters::ms_of;
use crate::encoding::quality::{Quality, VARIABLE_MAX};
use crate::encoding::tags::ENCODED_BY;

/// Quality of the search for the best encoding, from 0 (best, slowest) to 9: 2.
const ENCODER_QUALITY: LameQuality = LameQuality::NearBest;

/// Writes an MP3 file with ID3v2 tags and a LAME tag, which contains the length.
pub(super) struct Mp3Encoder {
    file: BufWriter<File>,
    encoder: Encoder,
    request: Request,
    /// Number of frames written.
    frames: u64,
    /// Size of the ID3v2 tags in bytes.
    tags_bytes: u64,
    channels: [Vec<f32>; 2],
    /// Factor that is applied to the samples to compensate [`lame_gain`].
    gain: f32,
    encoded_bytes: Vec<u8>,
}

impl Mp3Encoder {
    pub(super) fn new(request: &Request, file: File) -> io::Result<Self> {
        let mut builder = Builder::new()
            .ok_or_else(|| io::Error::other("LAME cannot be initialized (`lame_init` failed)"))?;
        builder.set_sample_rate(request.sample_rate_hz).map_err(lame_error)?;
        // Otherwise LAME lowers the sample rate of files with a low bit rate.
        builder.set_output_sample_rate(NonZeroU32::new(request.sample_rate_hz)).map_err(lame_error)?;
        builder.set_num_channels(2).map_err(lame_error)?;
        builder.set_quality(ENCODER_QUALITY).map_err(lame_error)?;
        builder.set_to_write_vbr_tag(true).map_err(lame_error)?;
        let gain = 1.0 / lame_gain(request.quality);
        match request.quality {
            Quality::BitRate(kbps) => {
                builder.set_vbr_mode(VbrMode::Off).map_err(lame_error)?;
                builder.set_brate(bit_rate(kbps)?).map_err(lame_error)?;
            }
            Quality::Variable(quality) => {
                builder.set_vbr_mode(VbrMode::Mtrh).map_err(lame_error)?;
                builder.set_vbr_quality(lame_quality(quality)).map_err(lame_error)?;
            }
        }
        let encoder = builder.build().map_err(lame_error)?;
        let tags = write_id3_tags(request, request.max_frames)?;
        let mut file = BufWriter::new(file);
        file.write_all(&tags)?;
        Ok(Self {
            file,
            encoder,
            request: request.clone(),
            frames: 0,
            tags_bytes: tags.len() as u64,
            channels: [Vec::new(), Vec::new()],
            gain,
            encoded_bytes: Vec::new(),
        })
    }
}

impl Encode for Mp3Encoder {
    fn write(&mut self, samples: &[u8]) -> io::Result<()> {
        deinterleave(samples, &mut self.channels);
        self.channels.iter_mut().flatten().for_each(|value| *value *= self.gain);
        let [left, right] = &self.channels;
        self.frames += left.len() as u64;
        self.encoded_bytes.clear();
        self.encoded_bytes.reserve(max_required_buffer_size(left.len()));
        self.encoder
            .encode_to_vec(
                DualPcm { left: left.as_slice(), right: right.as_slice() },
                &mut self.encoded_bytes,
            )
            .map_err(|error| io::Error::other(error.to_string()))?;
        self.file.write_all(&self.encoded_bytes)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.encoded_bytes.clear();
        self.encoded_bytes.reserve(max_required_buffer_size(0));
        self.encoder
            .flush_to_vec::<FlushGap>(&mut self.encoded_bytes)
            .map_err(|error| io::Error::other(error.to_string()))?;
        self.file.write_all(&self.encoded_bytes)?;
        // The end of the last chapter is known only now. The size of the tags does not change.
        let tags = write_id3_tags(&self.request, self.frames)?;
        self.file.rewind()?;
        self.file.write_all(&tags)?;
        // The first frame of audio was reserved for the LAME tag.
        let mut lame_tag = Vec::with_capacity(self.encoder.lame_tag_size());
        if self.encoder.lame_tag_encode_to_vec(&mut lame_tag).is_some() {
            self.file.seek(SeekFrom::Start(self.tags_bytes))?;
            self.file.write_all(&lame_tag)?;
        }
        self.file.flush()
    }
}

/// Returns the tags of a file of `frames` as an ID3v2.3 tag, the version that most players read.
fn write_id3_tags(request: &Request, frames: u64) -> io::Result<Vec<u8>> {
    let tags = &request.tags;
    let mut tag = id3::Tag::new();
    let mut set = |id: &str, value: Option<&String>| {
        if let Some(value) = value {
            tag.set_text(id, value);
        }
    };
    set("TIT2", tags.title.as_ref());
    set("TPE1", tags.artist.as_ref());
    set("TALB", tags.album.as_ref());
    set("TCON", tags.genre.as_ref());
    set("TSRC", tags.isrc.as_ref());
    set("TENC", Some(&ENCODED_BY.to_owned()));
    if let Some(year) = tags.year {
        tag.set_year(i32::from(year));
    }
    if let Some(comment) = &tags.comment {
        tag.add_frame(id3::frame::Comment {
            lang: "und".to_owned(),
            description: String::new(),
            text: comment.clone(),
        });
    }
    if let Some(cover) = &tags.cover {
        tag.add_frame(id3::frame::Picture {
            mime_type: cover.media_type().to_owned(),
            picture_type: id3::frame::PictureType::CoverFront,
            description: String::new(),
            data: cover.bytes(),
        });
    }
    add_chapters(&mut tag, request, frames);
    let mut bytes = Vec::new();
    tag.write_to(&mut bytes, id3::Version::Id3v23).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Adds the chapters of a file of `frames`, and their table of contents (ID3v2 Chapter Frame
/// Addendum 1.0).
fn add_chapters(tag: &mut id3::Tag, request: &Request, frames: u64) {
    let chapters = &request.tags.chapters;
    if chapters.is_empty() {
        return;
    }
    let ms = |frame| ms_of(frame, request.sample_rate_hz).try_into().unwrap_or(u32::MAX);
    let ends = chapters.iter().skip(1).map(|chapter| chapter.frame).chain([frames]);
    let mut elements = Vec::new();
    for ((chapter, end), number) in chapters.iter().zip(ends).zip(1..) {
        let element_id = format!("chp{number}");
        elements.push(element_id.clone());
        tag.add_frame(id3::frame::Chapter {
            element_id,
            start_time: ms(chapter.frame),
            end_time: ms(end),
            // Chapters are defined by their times instead of by offsets in bytes.
            start_offset: u32::MAX,
            end_offset: u32::MAX,
            frames: vec![id3::Frame::text("TIT2", &chapter.name)],
        });
    }
    let element_id = "toc".to_owned();
    let contents =
        TableOfContents { element_id, top_level: true, ordered: true, elements, frames: Vec::new() };
    tag.add_frame(contents);
}

fn bit_rate(kbps: u16) -> io::Result<Bitrate> {
    Ok(match kbps {
        96 => Bitrate::Kbps96,
        128 => Bitrate::Kbps128,
        160 => Bitrate::Kbps160,
        192 => Bitrate::Kbps192,
        224 => Bitrate::Kbps224,
        256 => Bitrate::Kbps256,
        320 => Bitrate::Kbps320,
        _ => return Err(io::Error::other(format!("MP3 has no bit rate of {kbps} kbit/s"))),
    })
}

/// Returns the factor by which LAME 3.100 lowers the level at a constant bit rate, so that its
/// files clip less often. Without compensation they would miss a target loudness by up to 0.45 dB.
fn lame_gain(quality: Quality) -> f32 {
    match quality {
        Quality::BitRate(..=160) => 0.95,
        Quality::BitRate(192) => 0.97,
        Quality::BitRate(224) => 0.98,
        Quality::BitRate(_) | Quality::Variable(_) => 1.0,
    }
}

/// Returns the quality of LAME, V9 to V0, for a quality of 0 to 10.
fn lame_quality(quality: u8) -> LameQuality {
    match VARIABLE_MAX.saturating_sub(quality) {
        0 => LameQuality::Best,
        1 => LameQuality::SecondBest,
        2 => LameQuality::NearBest,
        3 => LameQuality::VeryNice,
        4 => LameQuality::Nice,
        5 => LameQuality::Good,
        6 => LameQuality::Decent,
        7 => LameQuality::Ok,
        8 => LameQuality::SecondWorst,
        _ => LameQuality::Worst,
    }
}

fn lame_error(error: mp3lame_encoder::BuildError) -> io::Error {
    io::Error::other(error.to_string())
}

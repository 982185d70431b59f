//! The options of a command that writes an audio file.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::output::STANDARD_STREAM;
use crate::encoding::audio_format::{AudioFormat, BitDepth, in_words};
use crate::encoding::cover::{COVER_MAX_BYTES, Cover};
use crate::encoding::quality::Quality;
use crate::encoding::tags::{BadTag, Tags, UncheckedTags};
use crate::rendering::mix::MixOptions;
use crate::rendering::normalization::{LUFS_MIN, TRUE_PEAK_MIN_DB, Target};
use crate::rendering::selection::Selection;

/// The file to write.
#[derive(Debug, clap::Args)]
pub(super) struct FileArgs {
    /// Path of the file. Its extension sets the format (see --format); a name without an extension
    /// gives a WAV file. `-` is standard output. A name that ends with `/` is a folder, in which
    /// the file gets the name of its input.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,
    #[arg(long, value_parser = format_name, help = format_help())]
    format: Option<AudioFormat>,
    /// Show no progress and no warnings, and no summary except with --json.
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// 44100, 48000 or 96000 Hz. Default: the rate of the input (48000 for MIDI files), or the
    /// next rate that the format supports.
    #[arg(long, value_name = "HZ", value_parser = sample_rate_hz)]
    sample_rate: Option<u32>,
    /// Sample format of a WAV or FLAC file. Default: pcm16.
    #[arg(long, value_enum, ignore_case = true)]
    bit_depth: Option<BitDepth>,
    /// Bit rate of an MP3 file (constant, default 320) or an Opus file (average, default 160).
    #[arg(long, value_name = "KBPS")]
    bit_rate_kbps: Option<u32>,
    /// Quality of an Ogg Vorbis file (default 6) or of an MP3 file with a variable bit rate, 0 to
    /// 10; 10 is the best.
    #[arg(long, value_name = "NUMBER", conflicts_with = "bit_rate_kbps")]
    quality: Option<u32>,
    #[command(flatten)]
    tags: TagArgs,
    /// Move the quantization noise of integer samples to frequencies at which the ear is least
    /// sensitive (at 44100 and 48000 Hz).
    #[arg(long)]
    noise_shaping: bool,
    /// Normalize the loudness to this many LUFS, for example -14 for streaming.
    #[arg(long, value_name = "LUFS", allow_negative_numbers = true, value_parser = lufs)]
    lufs: Option<f64>,
    /// Highest true peak of a normalized file, in dBTP.
    #[arg(long, value_name = "DB", allow_negative_numbers = true, default_value = "-1", requires = "lufs",
          value_parser = true_peak_db)]
    true_peak_db: f64,
    /// Check how the file sounds in mono, and warn of octaves that a mono loudspeaker loses.
    #[arg(long)]
    channel_check: bool,
}

/// The tags of the file.
#[derive(Debug, clap::Args)]
struct TagArgs {
    /// Title of the song.
    #[arg(long)]
    title: Option<String>,
    /// Artist.
    #[arg(long)]
    artist: Option<String>,
    /// Album.
    #[arg(long)]
    album: Option<String>,
    /// Genre.
    #[arg(long)]
    genre: Option<String>,
    /// Year of the recording.
    #[arg(long)]
    year: Option<u32>,
    /// Comment.
    #[arg(long)]
    comment: Option<String>,
    /// International Standard Recording Code, such as GB-A1B-23-00001.
    #[arg(long)]
    isrc: Option<String>,
    /// Cover picture, a JPEG or PNG file of at most 1 MiB. Not supported in WAV files.
    #[arg(long, value_name = "FILE")]
    cover: Option<PathBuf>,
}

impl TagArgs {
    fn check(&self, format: AudioFormat) -> anyhow::Result<Tags> {
        let tags = self.check_text()?;
        let Some(cover) = &self.cover else { return Ok(tags) };
        if !format.has_cover() {
            let name = format.name();
            bail!("a {name} file cannot have a cover picture; leave out --cover, or choose another format");
        }
        Ok(Tags { cover: Some(read_cover(cover)?), ..tags })
    }

    /// Returns the tags without the cover.
    fn check_text(&self) -> anyhow::Result<Tags> {
        let Self { title, artist, album, genre, year, comment, isrc, cover: _ } = self;
        let tags = UncheckedTags {
            title: title.clone(),
            artist: artist.clone(),
            album: album.clone(),
            genre: genre.clone(),
            year: *year,
            comment: comment.clone(),
            isrc: isrc.clone(),
            cover: None,
        };
        tags.check().map_err(|BadTag { name, problem }| anyhow::anyhow!("--{name} {problem}"))
    }
}

/// The checked options of an audio file.
#[derive(Clone)]
pub(super) struct OutputFileOptions {
    format: AudioFormat,
    bit_depth: BitDepth,
    quality: Quality,
    tags: Tags,
    sample_rate_hz: Option<u32>,
    noise_shaping: bool,
    normalization: Option<Target>,
    channel_check: bool,
}

impl FileArgs {
    /// Returns the folder of the output, which is created; `None` if the output is not a folder.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub(super) fn folder(&self) -> anyhow::Result<Option<&Path>> {
        if !self.is_folder() {
            return Ok(None);
        }
        let folder = &self.output;
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        Ok(Some(folder))
    }

    fn is_folder(&self) -> bool {
        self.output.as_os_str().as_encoded_bytes().ends_with(b"/")
    }

    /// Returns the format, from the option or from the name of the output.
    fn checked_format(&self) -> anyhow::Result<AudioFormat> {
        if self.is_folder() || self.output.as_os_str() == STANDARD_STREAM {
            return Ok(self.format.unwrap_or_default());
        }
        let format_of_name = format_of(&self.output)?;
        match self.format {
            Some(format) if format != format_of_name && self.output.extension().is_some() => bail!(
                "{} is the name of a {} file, but the format is {}; leave out --format",
                self.output.display(),
                format_of_name.extension(),
                format.extension()
            ),
            chosen_format => Ok(chosen_format.unwrap_or(format_of_name)),
        }
    }

    /// Checks the options.
    ///
    /// # Errors
    /// The first option that the format does not support.
    pub(super) fn check(&self) -> anyhow::Result<OutputFileOptions> {
        let format = self.checked_format()?;
        if let Some(rate_hz) = self.sample_rate {
            format.check_rate(rate_hz).map_err(anyhow::Error::msg)?;
        }
        Ok(OutputFileOptions {
            format,
            bit_depth: match self.bit_depth {
                Some(depth) => format.check_depth(depth.name()).map_err(anyhow::Error::msg)?,
                None => format.depth_for(BitDepth::default()),
            },
            quality: format.check_quality(self.bit_rate_kbps, self.quality).map_err(anyhow::Error::msg)?,
            tags: self.tags.check(format)?,
            sample_rate_hz: self.sample_rate,
            noise_shaping: self.noise_shaping,
            normalization: self.normalization(),
            channel_check: self.channel_check,
        })
    }

    /// Returns the options of a further file. Options that its format does not support have their
    /// defaults.
    ///
    /// # Errors
    /// No format has the extension of the file, a tag is invalid, or the cover cannot be read.
    pub(super) fn check_further(&self, path: &Path) -> anyhow::Result<OutputFileOptions> {
        let format = format_of(path)?;
        let tags = self.tags.check_text()?;
        let quality = format.check_quality(self.bit_rate_kbps, self.quality);
        let cover = self.tags.cover.as_deref().filter(|_| format.has_cover()).map(read_cover).transpose()?;
        Ok(OutputFileOptions {
            format,
            bit_depth: format.depth_for(self.bit_depth.unwrap_or_default()),
            quality: quality.unwrap_or_else(|_| format.quality_default()),
            tags: Tags { cover, ..tags },
            sample_rate_hz: self.sample_rate.map(|rate_hz| format.rate_for(rate_hz)),
            noise_shaping: self.noise_shaping,
            normalization: self.normalization(),
            channel_check: self.channel_check,
        })
    }

    fn normalization(&self) -> Option<Target> {
        self.lufs.map(|lufs| Target { lufs, true_peak_db: self.true_peak_db })
    }
}

impl OutputFileOptions {
    /// Returns the name of the file that is made from an input with this name.
    pub(super) fn file_name(&self, stem: &str) -> String {
        self.format.file_name(stem)
    }

    /// Returns the options of a file that has a part of the song. `part` is appended to the title,
    /// which is the song's name by default.
    pub(super) fn of_part(mut self, song_name: &str, part: &str) -> Self {
        /// Maximum length of the title without the part.
        const MAX_CHARS: usize = 100;
        let title = self.tags.title.as_deref().unwrap_or(song_name).chars();
        let title: String = title.filter(|character| !character.is_control()).take(MAX_CHARS).collect();
        self.tags.title = Some(title + part);
        self
    }

    /// Returns the options for a source with this sample rate in hertz.
    pub(super) fn options(self, source_rate_hz: u32, tail_secs: f64) -> MixOptions {
        let Self { format, bit_depth, quality, tags, sample_rate_hz, .. } = self;
        MixOptions {
            sample_rate_hz: sample_rate_hz.unwrap_or_else(|| format.rate_for(source_rate_hz)),
            format,
            bit_depth,
            quality,
            tags: Some(tags),
            noise_shaping: self.noise_shaping,
            normalization: self.normalization,
            selection: Selection::default(),
            channel_check: self.channel_check,
            tail_secs,
        }
    }
}

fn read_cover(path: &Path) -> anyhow::Result<Cover> {
    let cannot_read = || format!("cannot read the cover {}", path.display());
    let mut bytes = Vec::new();
    // Reads one byte more than allowed, to detect a file that is too large.
    let mut file = File::open(path).with_context(cannot_read)?.take(COVER_MAX_BYTES as u64 + 1);
    file.read_to_end(&mut bytes).with_context(cannot_read)?;
    Cover::from_bytes(&bytes).map_err(|problem| anyhow::anyhow!("the cover {} {problem}", path.display()))
}

fn format_help() -> String {
    let known_extensions = in_words(&AudioFormat::EXTENSIONS);
    format!("Format, if the output is a folder or standard output: one of {known_extensions} [default: wav]")
}

fn format_name(text: &str) -> Result<AudioFormat, String> {
    let known_extensions = in_words(&AudioFormat::EXTENSIONS);
    AudioFormat::of_extension(text).ok_or_else(|| format!("`{text}` is not one of {known_extensions}"))
}

/// Returns the format for the extension of a file name.
fn format_of(output: &Path) -> anyhow::Result<AudioFormat> {
    let Some(extension) = output.extension() else { return Ok(AudioFormat::default()) };
    let extension = extension.to_string_lossy();
    AudioFormat::of_extension(&extension).with_context(|| {
        format!(
            "cannot write {}: the format `{extension}` is not supported; supported formats: {}",
            output.display(),
            in_words(&AudioFormat::EXTENSIONS)
        )
    })
}

fn sample_rate_hz(text: &str) -> Result<u32, String> {
    let rates_hz = AudioFormat::default().sample_rates_hz();
    let rate_hz = text.parse().ok().filter(|rate_hz| rates_hz.contains(rate_hz));
    rate_hz.ok_or_else(|| format!("`{text}` is not one of {}", in_words(rates_hz)))
}

fn lufs(text: &str) -> Result<f64, String> {
    number(text, LUFS_MIN, "LUFS")
}

fn true_peak_db(text: &str) -> Result<f64, String> {
    number(text, TRUE_PEAK_MIN_DB, "dBTP")
}

/// Parses a number from `min` to 0.
fn number(text: &str, min: f64, unit: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (min..=0.0).contains(value));
    value.ok_or_else(|| format!("`{text}` is not a number from {min} to 0 {unit}"))
}

//! File formats of rendered audio, with their names, extensions, media types, sample formats and
//! sample rates. [`super::codecs`] writes the files, except WAV files.

use dsp_core::wav::SampleFormat;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::quality::{Quality, VARIABLE_MAX};

/// File format of rendered audio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Format)]
pub enum AudioFormat {
    /// WAV.
    #[default]
    Wav,
    /// FLAC, which is lossless.
    Flac,
    /// MP3.
    Mp3,
    /// Vorbis in an Ogg file.
    Ogg,
    /// Opus in an Ogg file.
    Opus,
}

/// Sample format of an exported file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum BitDepth {
    /// 8-bit integers with TPDF dither.
    Pcm8,
    /// 16-bit integers with TPDF dither.
    #[default]
    Pcm16,
    /// 24-bit integers with TPDF dither.
    Pcm24,
    /// 32-bit floats without dither.
    Float32,
}

/// Names of a format, and the properties that it supports.
struct Description {
    /// Extension of the files, without the dot. It is also the format's name in requests.
    extension: &'static str,
    /// Name for people.
    name: &'static str,
    /// Typical use of the format, as a part of a sentence.
    purpose: &'static str,
    media_type: &'static str,
    /// Supported bit depths; none for lossy formats.
    bit_depths: &'static [BitDepth],
    /// Supported sample rates in hertz, in ascending order.
    sample_rates_hz: &'static [u32],
    /// Supported bit rates in kilobits per second, in ascending order.
    bit_rates_kbps: &'static [u16],
    /// Whether the format has a variable quality from 0 to 10.
    has_variable_quality: bool,
    /// Default quality; `None` for lossless formats.
    quality_default: Option<Quality>,
    /// Whether a file can have a cover picture.
    has_cover: bool,
}

const WAV: Description = Description {
    extension: "wav",
    name: "WAV",
    purpose: "for mastering and editing",
    media_type: "audio/wav",
    bit_depths: BitDepth::ALL,
    sample_rates_hz: &[44_100, 48_000, 96_000],
    bit_rates_kbps: &[],
    has_variable_quality: false,
    quality_default: None,
    has_cover: false,
};

const FLAC: Description = Description {
    extension: "flac",
    name: "FLAC",
    purpose: "lossless, about half the size",
    media_type: "audio/flac",
    bit_depths: &[BitDepth::Pcm16, BitDepth::Pcm24],
    sample_rates_hz: &[44_100, 48_000, 96_000],
    bit_rates_kbps: &[],
    has_variable_quality: false,
    quality_default: None,
    has_cover: true,
};

const MP3: Description = Description {
    extension: "mp3",
    name: "MP3",
    purpose: "plays everywhere",
    media_type: "audio/mpeg",
    bit_depths: &[],
    sample_rates_hz: &[44_100, 48_000],
    bit_rates_kbps: &[96, 128, 160, 192, 224, 256, 320],
    has_variable_quality: true,
    quality_default: Some(Quality::BitRate(320)),
    has_cover: true,
};

const OGG: Description = Description {
    extension: "ogg",
    name: "Ogg Vorbis",
    purpose: "for games and the web",
    media_type: "audio/ogg",
    bit_depths: &[],
    sample_rates_hz: &[44_100, 48_000, 96_000],
    bit_rates_kbps: &[],
    has_variable_quality: true,
    quality_default: Some(Quality::Variable(6)),
    has_cover: true,
};

const OPUS: Description = Description {
    extension: "opus",
    name: "Opus",
    purpose: "smallest, for the web",
    media_type: "audio/ogg",
    bit_depths: &[],
    sample_rates_hz: &[48_000],
    bit_rates_kbps: &[64, 96, 128, 160, 192, 256, 320],
    has_variable_quality: false,
    quality_default: Some(Quality::BitRate(160)),
    has_cover: true,
};

impl AudioFormat {
    /// Every format.
    pub const ALL: &[Self] = &[Self::Wav, Self::Flac, Self::Mp3, Self::Ogg, Self::Opus];

    /// Extensions of all formats, without the dot.
    pub(crate) const EXTENSIONS: [&str; Self::ALL.len()] = {
        let mut extensions = [""; Self::ALL.len()];
        let mut index = 0;
        while index < extensions.len() {
            extensions[index] = Self::ALL[index].extension();
            index += 1;
        }
        extensions
    };

    const fn description(self) -> &'static Description {
        match self {
            Self::Wav => &WAV,
            Self::Flac => &FLAC,
            Self::Mp3 => &MP3,
            Self::Ogg => &OGG,
            Self::Opus => &OPUS,
        }
    }

    /// Returns the name of the format for people.
    pub(crate) const fn name(self) -> &'static str {
        self.description().name
    }

    /// Returns the typical use of the format, as a part of a sentence.
    pub(crate) const fn purpose(self) -> &'static str {
        self.description().purpose
    }

    /// Returns the extension of files, without the dot. It is also the format's name in requests.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        self.description().extension
    }

    /// Returns the media type of the files.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        self.description().media_type
    }

    /// Returns the bit depths that the format supports. Lossy formats have none.
    #[must_use]
    pub const fn bit_depths(self) -> &'static [BitDepth] {
        self.description().bit_depths
    }

    /// Returns the bit depth with this name.
    ///
    /// # Errors
    /// A sentence with the supported depths.
    pub(crate) fn check_depth(self, name: &str) -> Result<BitDepth, String> {
        let depths = self.bit_depths();
        if depths.is_empty() {
            return Err(format!(
                "The format `{}` has no bit depth; leave out `bit_depth`.",
                self.extension()
            ));
        }
        BitDepth::of_name(name).filter(|depth| depths.contains(depth)).ok_or_else(|| {
            let names: Vec<String> = depths.iter().map(|depth| format!("`{}`", depth.name())).collect();
            format!(
                "The bit depth `{name}` is not supported{}; supported depths: {}.",
                self.describe_by_format(),
                in_words(&names)
            )
        })
    }

    /// Returns the sample format of a file if the request names none: `preferred_depth`, or else
    /// the format's largest bit depth. The encoders of lossy formats read floats.
    pub(crate) fn depth_for(self, preferred_depth: BitDepth) -> BitDepth {
        match self.bit_depths() {
            [] => BitDepth::Float32,
            depths if depths.contains(&preferred_depth) => preferred_depth,
            [.., deepest] => *deepest,
        }
    }

    /// Returns the sample rates that the format supports, in hertz, in ascending order.
    #[must_use]
    pub const fn sample_rates_hz(self) -> &'static [u32] {
        self.description().sample_rates_hz
    }

    /// Returns the bit rates that the format supports, in kilobits per second, in ascending order.
    #[must_use]
    pub const fn bit_rates_kbps(self) -> &'static [u16] {
        self.description().bit_rates_kbps
    }

    /// Whether a file can have a cover picture.
    #[must_use]
    pub const fn has_cover(self) -> bool {
        self.description().has_cover
    }

    /// Whether a file contains exactly the samples that it was made from.
    #[must_use]
    pub const fn is_lossless(self) -> bool {
        self.description().quality_default.is_none()
    }

    /// Whether the format has a variable quality from 0 to 10.
    #[must_use]
    pub const fn has_variable_quality(self) -> bool {
        self.description().has_variable_quality
    }

    /// Returns the default quality of the format. It has no effect on lossless formats.
    #[must_use]
    pub(crate) fn quality_default(self) -> Quality {
        self.description().quality_default.unwrap_or_default()
    }

    /// Returns the format with this extension, which may be in upper or lower case.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.extension().eq_ignore_ascii_case(extension))
    }

    /// Returns `stem` with the extension of this format.
    pub(crate) fn file_name(self, stem: &str) -> String {
        format!("{stem}.{}", self.extension())
    }

    /// Returns the sample rate if the format supports it.
    ///
    /// # Errors
    /// A sentence with the supported sample rates.
    pub(crate) fn check_rate(self, sample_rate_hz: u32) -> Result<u32, String> {
        match self.sample_rates_hz().contains(&sample_rate_hz) {
            true => Ok(sample_rate_hz),
            false => Err(format!(
                "The sample rate {sample_rate_hz} Hz is not supported{}; choose {} Hz.",
                self.describe_by_format(),
                join_alternatives(self.sample_rates_hz())
            )),
        }
    }

    /// Returns the quality for the options `bit_rate_kbps` and `quality` of a request.
    ///
    /// # Errors
    /// A sentence with the supported values.
    pub(crate) fn check_quality(
        self,
        bit_rate_kbps: Option<u32>,
        quality: Option<u32>,
    ) -> Result<Quality, String> {
        let name = self.extension();
        match (bit_rate_kbps, quality) {
            (None, None) => Ok(self.quality_default()),
            (Some(_), Some(_)) => {
                Err("A file has either a `bit_rate_kbps` or a `quality`; leave one out.".to_owned())
            }
            (Some(_), None) if self.bit_rates_kbps().is_empty() => {
                Err(format!("The format `{name}` has no bit rate; leave out `bit_rate_kbps`."))
            }
            (Some(kbps), None) => {
                let known_kbps =
                    self.bit_rates_kbps().iter().find(|known_kbps| u32::from(**known_kbps) == kbps);
                known_kbps.map(|known_kbps| Quality::BitRate(*known_kbps)).ok_or_else(|| {
                    format!(
                        "The bit rate {kbps} kbit/s is not supported{}; choose {} kbit/s.",
                        self.describe_by_format(),
                        join_alternatives(self.bit_rates_kbps())
                    )
                })
            }
            (None, Some(_)) if !self.has_variable_quality() => {
                Err(format!("The format `{name}` has no variable quality; leave out `quality`."))
            }
            (None, Some(quality)) => match u8::try_from(quality) {
                Ok(quality) if quality <= VARIABLE_MAX => Ok(Quality::Variable(quality)),
                _ => Err(format!("The quality {quality} is not supported; choose 0 to {VARIABLE_MAX}.")),
            },
        }
    }

    /// Returns the sample rate of a file if the request names none: the rate of the project, or
    /// else the next higher rate of the format. If there is none, returns the format's highest
    /// rate.
    pub(crate) fn rate_for(self, project_rate_hz: u32) -> u32 {
        let rates_hz = self.sample_rates_hz();
        let higher = rates_hz.iter().find(|rate_hz| **rate_hz >= project_rate_hz);
        match self {
            // A WAV file can have every rate of a project.
            Self::Wav => project_rate_hz,
            _ => higher.or(rates_hz.last()).copied().unwrap_or(project_rate_hz),
        }
    }

    /// Returns the part of an error that names the format, such as `` by `flac` ``; empty for WAV,
    /// the default.
    fn describe_by_format(self) -> String {
        match self {
            Self::Wav => String::new(),
            other_format => format!(" by `{}`", other_format.extension()),
        }
    }
}

impl BitDepth {
    const ALL: &'static [Self] = &[Self::Pcm8, Self::Pcm16, Self::Pcm24, Self::Float32];

    /// Names of all bit depths.
    pub(crate) const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = Self::ALL[index].name();
            index += 1;
        }
        names
    };

    /// Returns the name of the bit depth in requests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcm8 => "pcm8",
            Self::Pcm16 => "pcm16",
            Self::Pcm24 => "pcm24",
            Self::Float32 => "float32",
        }
    }

    /// Returns the bit depth with this name, which may be in upper or lower case.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|depth| depth.name().eq_ignore_ascii_case(name))
    }
}

impl From<BitDepth> for SampleFormat {
    fn from(depth: BitDepth) -> Self {
        match depth {
            BitDepth::Pcm8 => Self::Pcm8,
            BitDepth::Pcm16 => Self::Pcm16,
            BitDepth::Pcm24 => Self::Pcm24,
            BitDepth::Float32 => Self::Float32,
        }
    }
}

/// Joins the items of a list as in `one of 1, 2 and 3`.
fn join_alternatives(list: &[impl ToString]) -> String {
    if list.len() == 1 { in_words(list) } else { format!("one of {}", in_words(list)) }
}

/// Joins the items of a list as in `1, 2 and 3`.
pub(crate) fn in_words(list: &[impl ToString]) -> String {
    let words: Vec<String> = list.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, earlier_words)) => format!("{} and {last}", earlier_words.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_has_the_same_name_in_json_and_as_file_extension() {
        for format in AudioFormat::ALL {
            assert_eq!(serde_json::to_value(format).expect("JSON"), format.extension());
            assert_eq!(AudioFormat::of_extension(&format.extension().to_uppercase()), Some(*format));
            for depth in format.bit_depths() {
                assert_eq!(serde_json::to_value(depth).expect("JSON"), depth.name());
                assert_eq!(BitDepth::of_name(&depth.name().to_uppercase()), Some(*depth));
            }
        }
        assert_eq!((AudioFormat::of_extension("aiff"), BitDepth::of_name("pcm12")), (None, None));
    }

    #[test]
    fn the_error_for_an_unsupported_rate_lists_the_supported_rates() {
        assert_eq!(AudioFormat::Wav.check_rate(48_000), Ok(48_000));
        let error = AudioFormat::Wav.check_rate(8_000).expect_err("is refused");
        assert_eq!(
            error,
            "The sample rate 8000 Hz is not supported; choose one of 44100, 48000 and 96000 Hz."
        );
    }
}

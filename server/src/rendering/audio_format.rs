//! File formats of rendered audio, with their names, extensions, media types, sample formats and
//! sample rates. `encoder.rs` writes the files.

use dsp_core::wav::SampleFormat;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::encoding::quality::{Quality, VARIABLE_MAX};

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
    /// 32-bit floats, exactly as computed by the engine.
    Float32,
}

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

    /// Returns the extension of files, without the dot. It is also the format's name in requests.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Wav => "wav",
            Self::Flac => "flac",
            Self::Mp3 => "mp3",
            Self::Ogg => "ogg",
            Self::Opus => "opus",
        }
    }

    /// Returns the media type of the files.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Wav => "audio/wav",
            Self::Flac => "audio/flac",
            Self::Mp3 => "audio/mpeg",
            Self::Ogg | Self::Opus => "audio/ogg",
        }
    }

    /// Returns the bit depths that the format supports. Lossy formats have none.
    #[must_use]
    pub const fn bit_depths(self) -> &'static [BitDepth] {
        match self {
            Self::Wav => BitDepth::ALL,
            Self::Flac => &[BitDepth::Pcm16, BitDepth::Pcm24],
            Self::Mp3 | Self::Ogg | Self::Opus => &[],
        }
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
                self.of_format(),
                in_words(&names)
            )
        })
    }

    /// Returns the sample format of a file if the request names none: `preferred`, or else the
    /// deepest of the format. The encoders of lossy formats read floats.
    pub(crate) fn depth_for(self, preferred: BitDepth) -> BitDepth {
        match self.bit_depths() {
            [] => BitDepth::Float32,
            depths if depths.contains(&preferred) => preferred,
            [.., deepest] => *deepest,
        }
    }

    /// Returns the sample rates that the format supports, in hertz, in ascending order.
    #[must_use]
    pub const fn sample_rates_hz(self) -> &'static [u32] {
        match self {
            Self::Wav | Self::Flac | Self::Ogg => &[44_100, 48_000, 96_000],
            Self::Mp3 => &[44_100, 48_000],
            Self::Opus => &[48_000],
        }
    }

    /// Returns the bit rates that the format supports, in kilobits per second, in ascending order.
    #[must_use]
    pub const fn bit_rates_kbps(self) -> &'static [u16] {
        match self {
            Self::Wav | Self::Flac | Self::Ogg => &[],
            Self::Mp3 => &[96, 128, 160, 192, 224, 256, 320],
            Self::Opus => &[64, 96, 128, 160, 192, 256, 320],
        }
    }

    /// Whether a file can have a cover picture.
    #[must_use]
    pub const fn has_cover(self) -> bool {
        !matches!(self, Self::Wav)
    }

    /// Whether a file contains exactly the samples that it was made from.
    #[must_use]
    pub const fn is_lossless(self) -> bool {
        matches!(self, Self::Wav | Self::Flac)
    }

    /// Whether the format has a variable quality from 0 to 10.
    #[must_use]
    pub const fn has_variable_quality(self) -> bool {
        matches!(self, Self::Mp3 | Self::Ogg)
    }

    /// Returns the default quality of the format.
    #[must_use]
    pub(crate) const fn quality_default(self) -> Quality {
        match self {
            Self::Wav | Self::Flac | Self::Mp3 => Quality::BitRate(320),
            Self::Ogg => Quality::Variable(6),
            Self::Opus => Quality::BitRate(160),
        }
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
                self.of_format(),
                one_of(self.sample_rates_hz())
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
                let known = self.bit_rates_kbps().iter().find(|known| u32::from(**known) == kbps);
                known.map(|known| Quality::BitRate(*known)).ok_or_else(|| {
                    format!(
                        "The bit rate {kbps} kbit/s is not supported{}; choose {} kbit/s.",
                        self.of_format(),
                        one_of(self.bit_rates_kbps())
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

    /// Returns the sample rate of a file if the request names none: that of the project, or else
    /// the next higher one that the format supports, or else the highest.
    pub(crate) fn rate_for(self, project_rate_hz: u32) -> u32 {
        let rates_hz = self.sample_rates_hz();
        let higher = rates_hz.iter().find(|rate_hz| **rate_hz >= project_rate_hz);
        match self {
            // A WAV file can have every rate of a project.
            Self::Wav => project_rate_hz,
            _ => higher.or(rates_hz.last()).copied().unwrap_or(project_rate_hz),
        }
    }

    /// Returns who does not support a value, for errors; nothing for WAV, the default.
    fn of_format(self) -> String {
        match self {
            Self::Wav => String::new(),
            other => format!(" by `{}`", other.extension()),
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
fn one_of(list: &[impl ToString]) -> String {
    if list.len() == 1 { in_words(list) } else { format!("one of {}", in_words(list)) }
}

/// Joins the items of a list as in `1, 2 and 3`.
pub(crate) fn in_words(list: &[impl ToString]) -> String {
    let words: Vec<String> = list.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
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

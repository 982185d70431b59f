//! File formats of rendered audio, with their names, extensions, media types, sample formats and
//! sample rates. `encoder.rs` writes the files.

use dsp_core::wav::SampleFormat;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// File format of rendered audio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Format)]
pub enum AudioFormat {
    /// WAV.
    #[default]
    Wav,
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
    pub const ALL: &[Self] = &[Self::Wav];

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
        }
    }

    /// Returns the media type of the files.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Wav => "audio/wav",
        }
    }

    /// Returns the bit depths that the format supports.
    #[must_use]
    pub const fn bit_depths(self) -> &'static [BitDepth] {
        match self {
            Self::Wav => BitDepth::ALL,
        }
    }

    /// Returns the sample rates that the format supports, in hertz, in ascending order.
    #[must_use]
    pub const fn sample_rates_hz(self) -> &'static [u32] {
        match self {
            Self::Wav => &[44_100, 48_000, 96_000],
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
                "The sample rate {sample_rate_hz} Hz is not supported; choose one of {} Hz.",
                in_words(self.sample_rates_hz())
            )),
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
        assert_eq!((AudioFormat::of_extension("mp3"), BitDepth::of_name("pcm12")), (None, None));
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

//! The quality of files of lossy formats.

use serde::{Deserialize, Serialize};

/// Quality of a lossy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// The bit rate in kilobits per second: constant for MP3, the average for Vorbis and Opus.
    BitRate(u16),
    /// The same quality throughout with a variable bit rate, 0 to 10; 10 is the best.
    Variable(u8),
}

impl Quality {
    /// Returns the bit rate in kilobits per second, or the variable quality.
    pub(crate) fn split(self) -> (Option<u16>, Option<u8>) {
        match self {
            Self::BitRate(kbps) => (Some(kbps), None),
            Self::Variable(quality) => (None, Some(quality)),
        }
    }
}

impl Default for Quality {
    fn default() -> Self {
        Self::BitRate(320)
    }
}

/// Highest variable quality.
pub(crate) const VARIABLE_MAX: u8 = 10;

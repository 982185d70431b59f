//! Settings that a synthesizer is created with.

use crate::session::{Interpolation, Session, VelocityToCutoff};

/// Supported sample rates in hertz.
const SAMPLE_RATES_HZ: core::ops::RangeInclusive<u32> = 16_000..=192_000;

/// Supported values of the maximum number of voices.
const POLYPHONY_RANGE: core::ops::RangeInclusive<u16> = 8..=256;

/// Why a synthesizer cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SynthError {
    /// The sample rate is not supported.
    #[error("the synthesizer supports sample rates from 16000 to 192000 Hz, not {sample_rate_hz} Hz")]
    SampleRate {
        /// The requested sample rate in hertz.
        sample_rate_hz: u32,
    },
    /// The number of voices is not supported.
    #[error("the synthesizer supports a polyphony of 8 to 256 voices, not {polyphony}")]
    Polyphony {
        /// The requested number of voices.
        polyphony: u16,
    },
}

/// Settings that cannot change after a synthesizer is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SynthConfig {
    pub(super) sample_rate_hz: u32,
    pub(super) polyphony: u16,
    pub(super) interpolation: Interpolation,
    pub(super) velocity_to_cutoff: VelocityToCutoff,
}

impl SynthConfig {
    /// Returns the settings of a session.
    pub(crate) fn from_session(session: &Session) -> Self {
        let Session { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff, .. } = *session;
        Self { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff }
    }

    /// Checks the sample rate and the number of voices.
    pub(super) fn validate(&self) -> Result<(), SynthError> {
        let Self { sample_rate_hz, polyphony, .. } = *self;
        if !SAMPLE_RATES_HZ.contains(&sample_rate_hz) {
            return Err(SynthError::SampleRate { sample_rate_hz });
        }
        if !POLYPHONY_RANGE.contains(&polyphony) {
            return Err(SynthError::Polyphony { polyphony });
        }
        Ok(())
    }

    /// Converts a time in seconds to frames, rounded down.
    pub(crate) fn frames(&self, secs: f32) -> u32 {
        (secs * self.sample_rate_hz as f32) as u32
    }
}

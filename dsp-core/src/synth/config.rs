//! Settings with which a synthesizer is created.

use crate::session::{Interpolation, Session, VelocityToCutoff};

/// Supported sample rates in hertz.
const SAMPLE_RATES_HZ: core::ops::RangeInclusive<u32> = 16_000..=192_000;

/// Supported maximum numbers of voices.
const POLYPHONIES: core::ops::RangeInclusive<u16> = 8..=256;

/// Why a synthesizer could not be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SynthError {
    /// An unsupported sample rate.
    #[error("instruments cannot be played at {sample_rate_hz} Hz; 16000 to 192000 can")]
    SampleRate {
        /// The requested rate in hertz.
        sample_rate_hz: u32,
    },
    /// An unsupported number of voices.
    #[error("instruments cannot be played with {polyphony} voices; 8 to 256 can be had")]
    Polyphony {
        /// The requested number of voices.
        polyphony: u16,
    },
}

/// Settings that stay fixed while a synthesizer exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SynthConfig {
    pub(super) sample_rate_hz: u32,
    pub(super) polyphony: u16,
    pub(super) interpolation: Interpolation,
    pub(super) velocity_to_cutoff: VelocityToCutoff,
}

impl SynthConfig {
    /// The settings that a session states.
    pub(crate) fn of(session: &Session) -> Self {
        let Session { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff, .. } = *session;
        Self { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff }
    }

    /// Checks the sample rate and the number of voices.
    pub(super) fn validate(&self) -> Result<(), SynthError> {
        let Self { sample_rate_hz, polyphony, .. } = *self;
        if !SAMPLE_RATES_HZ.contains(&sample_rate_hz) {
            return Err(SynthError::SampleRate { sample_rate_hz });
        }
        if !POLYPHONIES.contains(&polyphony) {
            return Err(SynthError::Polyphony { polyphony });
        }
        Ok(())
    }

    /// A time in frames, rounded down.
    pub(crate) fn frames(&self, secs: f32) -> u32 {
        (secs * self.sample_rate_hz as f32) as u32
    }
}

//! Settings of the engine that change the sound.

use serde::{Deserialize, Serialize};

use crate::Extra;
use crate::number::whole;

/// Settings of the engine that change the sound. They are stored in the project, so every machine
/// renders it with the same sound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Maximum number of voices of a track, 8 to 256.
    #[serde(default = "default_polyphony", deserialize_with = "whole")]
    pub polyphony: u16,
    /// Interpolation between the values of a sample.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Whether velocity changes the cutoff of the filter.
    #[serde(default)]
    pub velocity_to_cutoff: VelocityToCutoff,
    /// The reverb that all instruments share.
    #[serde(default)]
    pub reverb: ReverbSettings,
    /// The chorus that all instruments share.
    #[serde(default)]
    pub chorus: ChorusSettings,
    /// Seed of all random sequences, 0 to 2^53 - 1.
    #[serde(default, deserialize_with = "whole")]
    pub seed: u64,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            polyphony: default_polyphony(),
            interpolation: Interpolation::default(),
            velocity_to_cutoff: VelocityToCutoff::default(),
            reverb: ReverbSettings::default(),
            chorus: ChorusSettings::default(),
            seed: 0,
            extra: Extra::default(),
        }
    }
}

/// Interpolation between the values of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Linear, between two values.
    Linear,
    /// Cubic, through four values.
    #[default]
    FourPoint,
    /// A windowed sinc.
    Sinc,
}

/// Whether velocity changes the cutoff of the filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VelocityToCutoff {
    /// Velocity changes the cutoff only in zones of the bank that have such a modulator.
    #[default]
    AsStated,
    /// Zones of the bank without such a modulator use the default modulator of the SoundFont
    /// specification 2.04, section 8.4.2.
    Specification,
}

/// The reverb that all instruments share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReverbSettings {
    /// Size of the room, 0 to 1. The reverb of a larger room decays more slowly.
    #[serde(default = "default_room")]
    pub room: f64,
    /// Damping of the treble, 0 to 1.
    #[serde(default = "default_damping")]
    pub damping: f64,
    /// Stereo width, 0 (mono) to 1.
    #[serde(default = "default_width")]
    pub width: f64,
    /// Level of the reverb in the mix in decibels, -144 (silence) to 6.
    #[serde(default)]
    pub level_db: f64,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

impl Default for ReverbSettings {
    fn default() -> Self {
        Self {
            room: default_room(),
            damping: default_damping(),
            width: default_width(),
            level_db: 0.0,
            extra: Extra::default(),
        }
    }
}

/// The chorus that all instruments share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChorusSettings {
    /// Mean delay in milliseconds, 1 to 50.
    #[serde(default = "default_delay_ms")]
    pub delay_ms: f64,
    /// Modulation depth to either side of the mean delay, in milliseconds, 0 to 20. Values above
    /// `delay_ms` count as `delay_ms`.
    #[serde(default = "default_depth_ms")]
    pub depth_ms: f64,
    /// Modulation rate in hertz, 0.05 to 10.
    #[serde(default = "default_rate_hz")]
    pub rate_hz: f64,
    /// Level of the chorus in the mix in decibels, -144 (silence) to 6.
    #[serde(default)]
    pub level_db: f64,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

impl Default for ChorusSettings {
    fn default() -> Self {
        Self {
            delay_ms: default_delay_ms(),
            depth_ms: default_depth_ms(),
            rate_hz: default_rate_hz(),
            level_db: 0.0,
            extra: Extra::default(),
        }
    }
}

fn default_polyphony() -> u16 {
    256
}

fn default_room() -> f64 {
    0.5
}

fn default_damping() -> f64 {
    0.5
}

fn default_width() -> f64 {
    1.0
}

fn default_delay_ms() -> f64 {
    8.0
}

fn default_depth_ms() -> f64 {
    2.5
}

fn default_rate_hz() -> f64 {
    0.4
}

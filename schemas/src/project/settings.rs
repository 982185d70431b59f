//! What decides how the engine sounds.

use serde::{Deserialize, Serialize};

use crate::Extra;
use crate::number::whole;

/// What decides how the engine sounds; it belongs to the project, not to the machine that
/// renders it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Most voices that one track sounds at a time, 8 to 256.
    #[serde(default = "default_polyphony", deserialize_with = "whole")]
    pub polyphony: u16,
    /// How the engine reads between the values of a sample.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// How velocity moves the cutoff of the filter.
    #[serde(default)]
    pub velocity_to_cutoff: VelocityToCutoff,
    /// The room that all instruments share.
    #[serde(default)]
    pub reverb: ReverbSettings,
    /// The chorus that all instruments share.
    #[serde(default)]
    pub chorus: ChorusSettings,
    /// Start of every random sequence, 0 to 2^53 - 1.
    #[serde(default, deserialize_with = "whole")]
    pub seed: u64,
    /// Unknown fields.
    #[serde(flatten)]
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

/// How the engine reads between the values of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// A straight line between two values.
    Linear,
    /// A cubic through four values.
    #[default]
    FourPoint,
    /// A windowed sinc.
    Sinc,
}

/// How velocity moves the cutoff of the filter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VelocityToCutoff {
    /// As the zones of the bank state; not at all where they state nothing.
    #[default]
    AsStated,
    /// As they state; where they state nothing, by the default of the SoundFont specification 2.04,
    /// section 8.4.2.
    Specification,
}

/// The room that all instruments share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReverbSettings {
    /// Size of the room, 0 to 1: how slowly it falls silent.
    #[serde(default = "default_room")]
    pub room: f64,
    /// Damping of the treble, 0 to 1.
    #[serde(default = "default_damping")]
    pub damping: f64,
    /// How far the two sides differ, 0 (mono) to 1.
    #[serde(default = "default_width")]
    pub width: f64,
    /// Level of what it adds to the mix in decibels, -144 (silence) to 6.
    #[serde(default)]
    pub level_db: f64,
    /// Unknown fields.
    #[serde(flatten)]
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
    /// Middle of the delay in milliseconds, 1 to 50.
    #[serde(default = "default_delay_ms")]
    pub delay_ms: f64,
    /// How far the delay drifts to either side of the middle, in milliseconds, 0 to 20; beyond
    /// `delay_ms` it counts as that.
    #[serde(default = "default_depth_ms")]
    pub depth_ms: f64,
    /// Drifts there and back a second, 0.05 to 10.
    #[serde(default = "default_rate_hz")]
    pub rate_hz: f64,
    /// Level of what it adds to the mix in decibels, -144 (silence) to 6.
    #[serde(default)]
    pub level_db: f64,
    /// Unknown fields.
    #[serde(flatten)]
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

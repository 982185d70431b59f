//! Reports how a mix sounds in mono.

use dsp_core::analysis::{OctaveCheck, StereoCheck};
use serde::Serialize;
use utoipa::ToSchema;

/// Loss of an octave in mono above which a warning is given, in decibels. Independent channels lose
/// 3 dB.
const LOSS_WARNING_DB: f64 = 6.0;

/// Octaves that are softer than the loudest one by more than this get no warning, in decibels.
const SOFT_OCTAVE_DB: f64 = 30.0;

/// Correlation below which a warning is given.
const CORRELATION_WARNING: f64 = 0.0;

/// How a mix sounds in mono.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChannelReport {
    /// Correlation of the channels, -1 to 1: 1 for equal channels, 0 for independent ones, -1 for
    /// opposite ones; null if a channel is silent.
    pub correlation: Option<f64>,
    /// Level of the side signal above the mid signal, in decibels; null if one of them is silent.
    /// These signals are half the difference and half the sum of the channels.
    pub side_level_db: Option<f64>,
    /// Loss of level in the sum of the channels, in decibels: 0 for equal channels, 3 for
    /// independent ones; null if the sum is silent.
    pub mono_loss_db: Option<f64>,
    /// The octaves with sound, from low to high.
    pub octaves: Vec<OctaveReport>,
}

/// Loss of level of an octave in mono.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct OctaveReport {
    /// Centre of the octave in hertz.
    pub center_hz: f64,
    /// Level of the octave in dBFS, where a full-scale sine in both channels is 0.
    pub level_db: f64,
    /// Loss of level in the sum of the channels, in decibels; null if the sum is silent.
    pub mono_loss_db: Option<f64>,
}

impl From<StereoCheck> for ChannelReport {
    fn from(check: StereoCheck) -> Self {
        let StereoCheck { correlation, side_level_db, mono_loss_db, octaves } = check;
        let octave = |OctaveCheck { center_hz, level_db, mono_loss_db }| OctaveReport {
            center_hz,
            level_db,
            mono_loss_db: Some(mono_loss_db).filter(|loss_db| loss_db.is_finite()),
        };
        let octaves = octaves.into_iter().map(octave).collect();
        Self { correlation, side_level_db, mono_loss_db, octaves }
    }
}

impl ChannelReport {
    /// Returns warnings, as sentences.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(correlation) = self.correlation
            && correlation < CORRELATION_WARNING
        {
            warnings.push(format!(
                "The channels have a correlation of {correlation:.2}: much of the song is missing on a mono loudspeaker."
            ));
        }
        let loudest_db = self.octaves.iter().map(|octave| octave.level_db).fold(f64::NEG_INFINITY, f64::max);
        let is_lost = |octave: &&OctaveReport| {
            octave.level_db > loudest_db - SOFT_OCTAVE_DB
                && octave.mono_loss_db.is_none_or(|loss_db| loss_db > LOSS_WARNING_DB)
        };
        for OctaveReport { center_hz, mono_loss_db, .. } in self.octaves.iter().filter(is_lost) {
            warnings.push(match mono_loss_db {
                Some(loss_db) => {
                    format!("In mono, the octave at {center_hz:.0} Hz is {loss_db:.1} dB softer.")
                }
                None => format!("In mono, nothing of the octave at {center_hz:.0} Hz remains."),
            });
        }
        warnings
    }
}

//! The envelope of a stereo signal.

use super::stereo_frames::Frame;

/// A level below this magnitude becomes 0.
const SILENT_LEVEL: f64 = 1e-20;

/// Envelope follower of the louder channel.
#[derive(Debug, Clone)]
pub(crate) struct EnvelopeFollower {
    pub(crate) level: f64,
    /// Coefficients of attack and release per frame: `1 - e^(-1 / frames)`.
    pub(crate) attack_coefficient: f64,
    pub(crate) release_coefficient: f64,
}

impl EnvelopeFollower {
    pub(crate) fn process(&mut self, audio: &[Frame]) {
        for value in audio {
            let [left, right] = value.to_array();
            let difference = left.abs().max(right.abs()) - self.level;
            self.level += difference
                * if difference > 0.0 { self.attack_coefficient } else { self.release_coefficient };
        }
    }

    pub(crate) fn flush_denormals(&mut self) {
        if self.level < SILENT_LEVEL {
            self.level = 0.0;
        }
    }
}

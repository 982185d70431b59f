//! Normalizes a mix to a target loudness and true peak.
//!
//! The gain depends on the loudness of the whole mix. Therefore the mix is kept in a temporary file
//! until it is complete. Then the gain is applied, and the limiter of the effect catalogue limits
//! the true peak. The resulting file is measured. If its true peak exceeds the ceiling, for example
//! because of dither, the file is written again with a lower limit.

use std::fs::File;
use std::io::{BufReader, BufWriter, IntoInnerError, Read as _, Seek as _, SeekFrom, Write as _};

use dsp_core::effects::{EffectConfig, effect_kind};
use dsp_core::gain;
use dsp_core::loudness::{ChannelLayout, Loudness, LoudnessMeter, Normalization};
use dsp_core::mixer::{EffectChain, EffectSlot};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CHANNELS, RenderError};

/// Default target loudness in LUFS.
pub const LUFS_DEFAULT: f64 = -14.0;

/// Default limit on the true peak in dBTP.
pub const TRUE_PEAK_DEFAULT_DB: f64 = dsp_core::loudness::MAX_TRUE_PEAK_DBTP;

/// Lowest target loudness in LUFS. The highest is 0.
pub const LUFS_MIN: f64 = -60.0;

/// Lowest limit on the true peak in dBTP. The highest is 0.
pub const TRUE_PEAK_MIN_DB: f64 = -20.0;

/// Number of frames that are read from the temporary file at a time.
const READ_FRAMES: usize = 4_096;

/// Size of a stereo frame in the temporary file, in bytes.
pub(super) const FRAME_BYTES: usize = CHANNELS as usize * size_of::<f32>();

/// Maximum number of times that a file is written.
pub(super) const ATTEMPTS_MAX: u32 = 4;

/// Decibels by which the limit is lowered in addition to the excess of the true peak.
const SAFETY_DB: f64 = 0.02;

/// Difference from the target loudness above which a warning is given, in LU: the precision of the
/// warning.
const LOUDNESS_TOLERANCE_LU: f64 = 0.1;

/// Target of a normalization.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Gated loudness in LUFS.
    pub lufs: f64,
    /// Highest true peak in dBTP.
    pub true_peak_db: f64,
}

/// Report of the normalization of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
#[schema(as = NormalizationReport)]
pub struct NormalizationReport {
    /// Target loudness in LUFS.
    pub target_lufs: f64,
    /// Highest permitted true peak in dBTP.
    pub true_peak_max_db: f64,
    /// Gated loudness before the normalization, in LUFS; null if the song is silent, or too short
    /// or too soft to be measured.
    pub original_lufs: Option<f64>,
    /// Gain in decibels; 0 without `original_lufs`.
    pub gain_db: f64,
    /// Amount by which the highest true peak exceeded the limit after the gain, in decibels; 0 if
    /// it did not. The limiter reduced it by this amount, so the file can be softer than the
    /// target.
    pub peak_reduction_db: f64,
    /// Number of times that the file was written, 1 to 4. It is written again with a lower limit
    /// while its true peak exceeds `true_peak_max_db`. After the fourth time the peak may still
    /// exceed it; a warning says so.
    pub attempts: u32,
}

impl NormalizationReport {
    /// Returns a warning if a file with a loudness of `lufs` does not have its target loudness.
    pub(super) fn loudness_warning(&self, lufs: Option<f64>) -> Option<String> {
        let Self { target_lufs, true_peak_max_db, .. } = *self;
        if self.original_lufs.is_none() {
            return Some(
                "The loudness cannot be measured, because the audio is shorter than 0.4 s or softer than \
                 -70 LUFS, so only its true peak was limited."
                    .to_owned(),
            );
        }
        let lufs = lufs?;
        if (lufs - target_lufs).abs() <= LOUDNESS_TOLERANCE_LU {
            return None;
        }
        let is_limited = self.peak_reduction_db > 0.0 || self.attempts > 1;
        let reason = match is_limited && lufs < target_lufs {
            true => format!("because the limiter keeps the true peak at or below {true_peak_max_db:.1} dBTP"),
            false => "because of the noise of the dither or the loss of the encoder".to_owned(),
        };
        Some(format!("The loudness is {lufs:.1} LUFS instead of {target_lufs:.1} LUFS, {reason}."))
    }
}

/// Samples of a mix, which are kept in a temporary file until their loudness is known.
pub(super) struct StagedMix {
    file: BufWriter<File>,
    meter: LoudnessMeter,
    sample_rate_hz: u32,
    frames: u64,
    /// The bytes of the last frames.
    bytes: Vec<u8>,
}

impl StagedMix {
    /// Starts with an empty `file`, which must be readable.
    ///
    /// # Errors
    /// The loudness meter does not support the sample rate.
    pub(super) fn new(file: File, sample_rate_hz: u32) -> Result<Self, RenderError> {
        let meter = LoudnessMeter::new(sample_rate_hz, ChannelLayout::Stereo)?;
        Ok(Self { file: BufWriter::new(file), meter, sample_rate_hz, frames: 0, bytes: Vec::new() })
    }

    /// Appends frames.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        self.meter.add(&[left, right]);
        self.frames += left.len() as u64;
        self.bytes.clear();
        for frame in left.iter().zip(right) {
            self.bytes.extend(frame.0.to_le_bytes());
            self.bytes.extend(frame.1.to_le_bytes());
        }
        Ok(self.file.write_all(&self.bytes)?)
    }

    /// Ends writing.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(self) -> Result<CompleteMix, RenderError> {
        let file = self.file.into_inner().map_err(IntoInnerError::into_error)?;
        Ok(CompleteMix {
            file,
            loudness: self.meter.loudness(),
            sample_rate_hz: self.sample_rate_hz,
            frames: self.frames,
        })
    }
}

/// A complete mix in a temporary file.
pub(super) struct CompleteMix {
    file: File,
    pub(super) loudness: Loudness,
    sample_rate_hz: u32,
    pub(super) frames: u64,
}

impl CompleteMix {
    /// Returns the gain and the excess of the true peak for a target, both in decibels. The gain is
    /// 0 if the mix has no loudness.
    pub(super) fn gain_and_excess_db(&self, target: Target) -> (f64, f64) {
        let (gain_db, true_peak_dbtp) = match Normalization::new(&self.loudness, target.lufs) {
            Some(normalization) => (normalization.gain_db, normalization.true_peak_dbtp),
            None => (0.0, self.loudness.true_peak_dbtp),
        };
        (gain_db, (true_peak_dbtp - target.true_peak_db).max(0.0))
    }

    /// Passes the mix to `write` after a gain and a limiter of the true peak, in blocks.
    ///
    /// # Errors
    /// Those of `write`, or the file cannot be read.
    pub(super) fn normalized(
        &mut self,
        gain_db: f64,
        true_peak_db: f64,
        mut write: impl FnMut(&[f32], &[f32]) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::new(&self.file);
        let mut limiter = limiter(self.sample_rate_hz, true_peak_db);
        let mut frames_to_drop = limiter.latency_frames();
        let factor = gain::from_db(gain_db);
        let mut bytes = vec![0; READ_FRAMES * FRAME_BYTES];
        let (mut left, mut right) = (Vec::with_capacity(READ_FRAMES), Vec::with_capacity(READ_FRAMES));
        // The last frames are still in the limiter's delay when the file ends.
        let mut unread_frames = self.frames;
        let mut unwritten_frames = self.frames;
        while unwritten_frames > 0 {
            let frames = unread_frames.min(READ_FRAMES as u64) as usize;
            unread_frames -= frames as u64;
            reader.read_exact(&mut bytes[..frames * FRAME_BYTES])?;
            left.clear();
            right.clear();
            for frame in bytes[..frames * FRAME_BYTES].chunks_exact(FRAME_BYTES) {
                let [l0, l1, l2, l3, r0, r1, r2, r3] = *frame else { continue };
                left.push(f32::from_le_bytes([l0, l1, l2, l3]) * factor);
                right.push(f32::from_le_bytes([r0, r1, r2, r3]) * factor);
            }
            if frames < READ_FRAMES {
                left.resize(READ_FRAMES, 0.0);
                right.resize(READ_FRAMES, 0.0);
            }
            limiter.process(&mut left, &mut right, &[]);
            let first = frames_to_drop.min(READ_FRAMES);
            frames_to_drop -= first;
            let last = READ_FRAMES.min(first + usize::try_from(unwritten_frames).unwrap_or(usize::MAX));
            unwritten_frames -= (last - first) as u64;
            write(&left[first..last], &right[first..last])?;
        }
        Ok(())
    }
}

/// Returns the limit on the true peak with headroom for a quantization that can raise a peak by
/// `quantization_peak`, where full scale is 1. The limit is at most 6.02 dB below `target_db`.
pub(super) fn limit_with_headroom_db(target_db: f64, quantization_peak: f64) -> f64 {
    let target = f64::from(gain::from_db(target_db));
    gain::to_db((target - quantization_peak).max(target / 2.0))
}

/// Returns the limit on the true peak for the next attempt, after a file whose true peak exceeds
/// `target_db`.
pub(super) fn lowered_limit_db(limit_db: f64, true_peak_db: f64, target_db: f64) -> f64 {
    limit_db - (true_peak_db - target_db) - SAFETY_DB
}

/// Makes a chain that contains only the limiter of the effect catalogue.
fn limiter(sample_rate_hz: u32, ceiling_dbtp: f64) -> EffectChain {
    let kind = effect_kind("limiter").expect("the catalogue has a limiter");
    let config = EffectConfig { sample_rate_hz, seed: 0, impulse: None };
    let mut slot = EffectSlot::new("limiter", kind, &config);
    let ceiling = kind.parameter_index("ceiling_dbtp").expect("the limiter has a ceiling");
    slot.set_parameter(ceiling, ceiling_dbtp, 0);
    let mut chain = EffectChain::new(sample_rate_hz);
    chain.push(slot);
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loudness_that_misses_its_target_is_reported_with_the_reason() {
        let report = |peak_reduction_db, attempts| NormalizationReport {
            target_lufs: -14.0,
            true_peak_max_db: -1.0,
            original_lufs: Some(-20.0),
            gain_db: 6.0,
            peak_reduction_db,
            attempts,
        };
        assert_eq!(report(3.0, 1).loudness_warning(Some(-14.05)), None);
        for limited_report in [report(3.0, 1), report(0.0, 2)] {
            let warning = limited_report.loudness_warning(Some(-14.37)).expect("a warning");
            assert_eq!(
                warning,
                "The loudness is -14.4 LUFS instead of -14.0 LUFS, because the limiter keeps the true peak at or \
                 below -1.0 dBTP."
            );
        }
        let warning = report(0.0, 1).loudness_warning(Some(-14.37)).expect("a warning");
        assert!(warning.contains("encoder"), "{warning}");
    }
}

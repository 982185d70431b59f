//! Measures the master output.

use alloc::vec;
use alloc::vec::Vec;

use super::gating::{GatedLoudness, lufs};
use super::intervals::{
    INTERVALS_PER_SEC, Interval, Intervals, MOMENTARY_INTERVALS, SHORT_TERM_INTERVALS, SIGNAL_INTERVALS,
};
use super::spectrum::{BandSpectrum, SPECTRUM_BANDS};
use crate::gain::to_db;
use crate::k_weighting::KWeighting;
use crate::true_peak::TruePeakMeter;

/// Number of intervals from the start of a gating block to the start of the next block: 100 ms.
const BLOCK_STEP_INTERVALS: u64 = 10;

/// Maximum magnitude of a sample: 120 dBFS. Samples above it are treated as silence.
const MAX_MAGNITUDE: f32 = 1e6;

/// The readings of a [`MasterMeter`]. Levels of silence are minus infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MasterReadings {
    /// Loudness of the last 400 ms, in LUFS.
    pub momentary_lufs: f64,
    /// Loudness of the last 3 s, in LUFS.
    pub short_term_lufs: f64,
    /// Integrated (gated) loudness in LUFS since the start of the measurement. Frames that
    /// [`MasterMeter::process`] adds without `is_counted` are left out.
    pub integrated_lufs: f64,
    /// Highest true peak of either channel since the start of the measurement, in dBTP.
    pub true_peak_dbtp: f64,
    /// Highest sample peak of either channel since the start of the measurement, in dBFS.
    pub sample_peak_dbfs: f64,
    /// Correlation of left and right, -1 to 1. Signals that differ only by a positive gain have 1,
    /// signals of opposite polarity -1, and unrelated signals 0. If a channel is silent, the
    /// correlation is 0.
    pub correlation: f64,
    /// Root mean square of left and right in decibels. A full-scale sine has -3.01 dB.
    pub rms_db: [f64; 2],
    /// Levels of the third-octave bands from 20 Hz to 20 kHz in decibels, as the mean of both
    /// channels. A full-scale sine in both channels has 0 dB.
    pub spectrum_db: [f64; SPECTRUM_BANDS],
}

/// Measures a stereo signal in real time.
#[derive(Debug, Clone)]
pub struct MasterMeter {
    /// Samples of left and right in the incomplete interval.
    pending_samples: [Vec<f32>; 2],
    pending_frames: usize,
    /// Whether all frames of the incomplete interval count for integrated loudness.
    is_pending_counted: bool,
    k_weighting: KWeighting,
    intervals: Intervals,
    /// Number of intervals since the last one that did not count for integrated loudness.
    counted_intervals: u64,
    integrated: GatedLoudness,
    peaks: [TruePeakMeter; 2],
    spectrum: BandSpectrum,
}

impl MasterMeter {
    /// Creates a meter for a sample rate of at least 8000 Hz.
    pub fn new(sample_rate_hz: u32) -> Self {
        let interval_frames = ((sample_rate_hz + INTERVALS_PER_SEC / 2) / INTERVALS_PER_SEC).max(1) as usize;
        let peak = TruePeakMeter::new(sample_rate_hz);
        Self {
            pending_samples: [vec![0.0; interval_frames], vec![0.0; interval_frames]],
            pending_frames: 0,
            is_pending_counted: true,
            k_weighting: KWeighting::new(sample_rate_hz),
            intervals: Intervals::default(),
            counted_intervals: 0,
            integrated: GatedLoudness::new(),
            peaks: [peak.clone(), peak],
            spectrum: BandSpectrum::new(sample_rate_hz),
        }
    }

    /// Resets to the state of a new meter.
    pub fn reset(&mut self) {
        self.pending_frames = 0;
        self.k_weighting.reset();
        self.intervals = Intervals::default();
        self.spectrum.reset();
        self.restart();
        self.peaks.iter_mut().for_each(TruePeakMeter::reset);
    }

    /// Restarts the measurement of integrated loudness and peaks. Other readings continue.
    pub fn restart(&mut self) {
        // The frames of the incomplete interval came before the restart.
        self.is_pending_counted = self.pending_frames == 0;
        self.counted_intervals = 0;
        self.integrated.reset();
        self.peaks.iter_mut().for_each(TruePeakMeter::restart);
    }

    /// Adds the same number of samples of left and right. `is_counted` says whether the frames
    /// count for integrated loudness. A gating block with a frame that does not count is left out.
    pub fn process(&mut self, audio: [&[f32]; 2], is_counted: bool) {
        let interval_frames = self.pending_samples[0].len();
        let frames = audio[0].len().min(audio[1].len());
        let mut processed_frames = 0;
        while processed_frames < frames {
            let count = (frames - processed_frames).min(interval_frames - self.pending_frames);
            for (pending_channel, channel) in self.pending_samples.iter_mut().zip(audio) {
                let free_buffers = pending_channel[self.pending_frames..].iter_mut();
                free_buffers
                    .zip(&channel[processed_frames..processed_frames + count])
                    .for_each(|(slot, sample)| *slot = sanitize(*sample));
            }
            processed_frames += count;
            self.pending_frames += count;
            self.is_pending_counted &= is_counted;
            if self.pending_frames == interval_frames {
                self.end_interval();
            }
        }
    }

    fn end_interval(&mut self) {
        let [left, right] = &self.pending_samples;
        let mut squares = [0.0; 2];
        self.k_weighting.add_squares(left, right, &mut squares);
        let loudness_power = (squares[0] + squares[1]) / left.len().max(1) as f64;
        self.intervals.push(Interval::measure(loudness_power, left, right));
        for (peak, channel) in self.peaks.iter_mut().zip(&self.pending_samples) {
            peak.process(channel);
        }
        self.spectrum.add([left, right]);
        self.counted_intervals = if self.is_pending_counted { self.counted_intervals + 1 } else { 0 };
        if self.counted_intervals >= MOMENTARY_INTERVALS as u64
            && self.counted_intervals.is_multiple_of(BLOCK_STEP_INTERVALS)
        {
            self.integrated.add_block(self.intervals.mean(MOMENTARY_INTERVALS).loudness_power);
        }
        (self.pending_frames, self.is_pending_counted) = (0, true);
    }

    /// Returns the current readings.
    pub fn read(&self) -> MasterReadings {
        let highest = |peaks: [f32; 2]| to_db(f64::from(peaks[0].max(peaks[1])));
        let signal = self.intervals.mean(SIGNAL_INTERVALS);
        MasterReadings {
            momentary_lufs: lufs(self.intervals.mean(MOMENTARY_INTERVALS).loudness_power),
            short_term_lufs: lufs(self.intervals.mean(SHORT_TERM_INTERVALS).loudness_power),
            integrated_lufs: self.integrated.lufs(),
            true_peak_dbtp: highest(self.peaks.each_ref().map(TruePeakMeter::true_peak_so_far)),
            sample_peak_dbfs: highest(self.peaks.each_ref().map(TruePeakMeter::sample_peak)),
            correlation: signal.correlation(),
            rms_db: signal.squares.map(|square| 10.0 * libm::log10(square)),
            spectrum_db: self.spectrum.levels_db(),
        }
    }
}

/// Returns the sample; 0 if it is not finite or above [`MAX_MAGNITUDE`].
fn sanitize(sample: f32) -> f32 {
    if sample.abs() <= MAX_MAGNITUDE { sample } else { 0.0 }
}

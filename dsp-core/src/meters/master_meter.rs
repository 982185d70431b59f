//! The meter of the master.

use alloc::vec;
use alloc::vec::Vec;

use super::gating::{GatedLoudness, lufs};
use super::intervals::{
    INTERVALS_PER_SEC, Interval, Intervals, MOMENTARY_INTERVALS, SHORT_TERM_INTERVALS, SIGNAL_INTERVALS,
};
use super::k_weighting::KWeighting;
use super::spectrum::{BandSpectrum, SPECTRUM_BANDS};
use crate::gain::to_db;
use crate::true_peak::TruePeakMeter;

/// Number of intervals from the start of a gating block to the next start: 100 ms.
const BLOCK_STEP_INTERVALS: u64 = 10;

/// Maximum magnitude of a sample, 120 dB above full scale. Higher ones are treated as silence.
const MAX_MAGNITUDE: f32 = 1e6;

/// The readings of a [`MasterMeter`]. Levels of silence are minus infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MasterReadings {
    /// Loudness of the last 400 ms, in LUFS.
    pub momentary_lufs: f64,
    /// Loudness of the last 3 s, in LUFS.
    pub short_term_lufs: f64,
    /// Gated loudness of the counted frames since the start of the measurement, in LUFS.
    pub integrated_lufs: f64,
    /// Highest level at or between samples of either channel since the start of the measurement, in
    /// dBTP.
    pub true_peak_dbtp: f64,
    /// Highest level of any sample of either channel since the start of the measurement, in dBFS.
    pub sample_peak_dbfs: f64,
    /// Correlation of left and right: 1 if equal, 0 if unrelated or one is silent, -1 if inverted.
    pub correlation: f64,
    /// Root mean square of left and right, in decibels: a sine of full scale has -3.01.
    pub rms_db: [f64; 2],
    /// Levels of the third octaves from 20 Hz to 20 kHz in decibels, as the mean of both channels.
    /// A sine of full scale in both has 0.
    pub spectrum_db: [f64; SPECTRUM_BANDS],
}

/// Measures a stereo signal in real time.
#[derive(Debug, Clone)]
pub struct MasterMeter {
    /// Left and right of the incomplete interval.
    pending: [Vec<f32>; 2],
    pending_frames: usize,
    /// Whether all frames of the incomplete interval count.
    is_pending_counted: bool,
    k_weighting: KWeighting,
    intervals: Intervals,
    /// Number of consecutive intervals that count.
    counted_intervals: u64,
    integrated: GatedLoudness,
    peaks: [TruePeakMeter; 2],
    spectrum: BandSpectrum,
}

impl MasterMeter {
    /// A meter for a sample rate in hertz, from 8000 on.
    pub fn new(sample_rate_hz: u32) -> Self {
        let interval_frames = ((sample_rate_hz + INTERVALS_PER_SEC / 2) / INTERVALS_PER_SEC).max(1) as usize;
        let peak = TruePeakMeter::new(sample_rate_hz);
        Self {
            pending: [vec![0.0; interval_frames], vec![0.0; interval_frames]],
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

    /// Restarts integrated loudness and peaks only.
    pub fn restart(&mut self) {
        // The frames of the incomplete interval came before the restart.
        self.is_pending_counted = self.pending_frames == 0;
        self.counted_intervals = 0;
        self.integrated.reset();
        self.peaks.iter_mut().for_each(TruePeakMeter::restart);
    }

    /// Adds frames of left and right, of the same length. `counts` is whether they count for
    /// integrated loudness, which leaves out gating blocks with other frames.
    pub fn process(&mut self, audio: [&[f32]; 2], counts: bool) {
        let interval_frames = self.pending[0].len();
        let frames = audio[0].len().min(audio[1].len());
        let mut done = 0;
        while done < frames {
            let count = (frames - done).min(interval_frames - self.pending_frames);
            for (pending, channel) in self.pending.iter_mut().zip(audio) {
                let room = pending[self.pending_frames..].iter_mut();
                room.zip(&channel[done..done + count]).for_each(|(kept, sample)| *kept = cleaned(*sample));
            }
            done += count;
            self.pending_frames += count;
            self.is_pending_counted &= counts;
            if self.pending_frames == interval_frames {
                self.end_interval();
            }
        }
    }

    fn end_interval(&mut self) {
        let [left, right] = &self.pending;
        let loudness_power = self.k_weighting.power(left, right);
        self.intervals.push(Interval::of(loudness_power, left, right));
        for (peak, channel) in self.peaks.iter_mut().zip(&self.pending) {
            peak.process(channel);
        }
        self.spectrum.add([left, right]);
        self.counted_intervals = if self.is_pending_counted { self.counted_intervals + 1 } else { 0 };
        if self.counted_intervals >= MOMENTARY_INTERVALS as u64
            && self.counted_intervals.is_multiple_of(BLOCK_STEP_INTERVALS)
        {
            self.integrated.add_block(self.intervals.mean(MOMENTARY_INTERVALS).loudness);
        }
        (self.pending_frames, self.is_pending_counted) = (0, true);
    }

    /// The current readings.
    pub fn read(&self) -> MasterReadings {
        let highest = |peaks: [f32; 2]| to_db(f64::from(peaks[0].max(peaks[1])));
        let signal = self.intervals.mean(SIGNAL_INTERVALS);
        MasterReadings {
            momentary_lufs: lufs(self.intervals.mean(MOMENTARY_INTERVALS).loudness),
            short_term_lufs: lufs(self.intervals.mean(SHORT_TERM_INTERVALS).loudness),
            integrated_lufs: self.integrated.lufs(),
            true_peak_dbtp: highest(self.peaks.each_ref().map(TruePeakMeter::true_peak_so_far)),
            sample_peak_dbfs: highest(self.peaks.each_ref().map(TruePeakMeter::sample_peak)),
            correlation: signal.correlation(),
            rms_db: signal.squares.map(|square| 10.0 * libm::log10(square)),
            spectrum_db: self.spectrum.levels_db(),
        }
    }
}

fn cleaned(sample: f32) -> f32 {
    if sample.abs() <= MAX_MAGNITUDE { sample } else { 0.0 }
}

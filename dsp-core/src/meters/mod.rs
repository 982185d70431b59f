//! Meters of a stereo signal while it plays: loudness, peaks, width and spectrum.
//!
//! | figure | ballistics |
//! |---|---|
//! | momentary, short-term loudness | means of the last 400 ms and 3 s (EBU Tech 3341), new every 10 ms |
//! | integrated loudness | gated blocks of 400 ms, three quarters overlapping (ITU-R BS.1770-4), of what counts |
//! | true peak, sample peak | the highest since the measurement began |
//! | RMS, correlation | means of the last 300 ms, new every 10 ms |
//! | spectrum | see `spectrum` |
//!
//! Frames are measured together, 10 ms at a time: a reading leaves out the frames of the 10 ms at
//! hand.

pub(crate) mod gating;
mod k_weighting;
mod parts;
mod sliding;
mod spectrum;

use alloc::vec;
use alloc::vec::Vec;

use crate::gain::to_db;
use crate::true_peak::TruePeakMeter;
use gating::{GatedLoudness, lufs};
use k_weighting::KWeighting;
use parts::{MOMENTARY_PARTS, PARTS_A_SECOND, Part, Parts, SHORT_TERM_PARTS, SIGNAL_PARTS};
use spectrum::BandSpectrum;
pub use spectrum::SPECTRUM_BANDS;

/// Parts from the beginning of a gating block to that of the next: 100 ms.
const STEP_PARTS: u64 = 10;

/// Highest magnitude that counts as sound, 120 dB above full scale: what is beyond counts as
/// silence.
const MAX_MAGNITUDE: f32 = 1e6;

/// What the meters show. Levels of silence are minus infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MasterReadings {
    /// Loudness of the last 400 ms, in LUFS.
    pub momentary_lufs: f64,
    /// Loudness of the last 3 s, in LUFS.
    pub short_term_lufs: f64,
    /// Gated loudness of all that counts since the measurement began, in LUFS.
    pub integrated_lufs: f64,
    /// Highest level at or between samples of either channel since the measurement began, in dBTP.
    pub true_peak_dbtp: f64,
    /// Highest level of any sample of either channel since the measurement began, in dBFS.
    pub sample_peak_dbfs: f64,
    /// How alike left and right are: 1 the same, 0 unrelated, -1 opposed; 0 if either is silent.
    pub correlation: f64,
    /// Root mean square of left and right, in decibels: a sine of full scale has -3.01.
    pub rms_db: [f64; 2],
    /// Levels of the third octaves from 20 Hz to 20 kHz, mean of both channels, in decibels: a sine
    /// of full scale in both has 0.
    pub spectrum_db: [f64; SPECTRUM_BANDS],
}

/// Measures a stereo signal in real time.
#[derive(Debug, Clone)]
pub struct MasterMeter {
    /// The part at hand: left, right, how many frames are there, and whether all of them count.
    begun: [Vec<f32>; 2],
    begun_frames: usize,
    begun_counts: bool,
    k_weighting: KWeighting,
    parts: Parts,
    /// Parts in a row that count.
    counted_parts: u64,
    integrated: GatedLoudness,
    peaks: [TruePeakMeter; 2],
    spectrum: BandSpectrum,
}

impl MasterMeter {
    /// A meter for a sample rate in hertz, from 8000 on.
    pub fn new(sample_rate_hz: u32) -> Self {
        let part_frames = ((sample_rate_hz + PARTS_A_SECOND / 2) / PARTS_A_SECOND).max(1) as usize;
        let peak = TruePeakMeter::new(sample_rate_hz);
        Self {
            begun: [vec![0.0; part_frames], vec![0.0; part_frames]],
            begun_frames: 0,
            begun_counts: true,
            k_weighting: KWeighting::new(sample_rate_hz),
            parts: Parts::default(),
            counted_parts: 0,
            integrated: GatedLoudness::new(),
            peaks: [peak.clone(), peak],
            spectrum: BandSpectrum::new(sample_rate_hz),
        }
    }

    /// Back to the state of a new meter.
    pub fn reset(&mut self) {
        self.begun_frames = 0;
        self.k_weighting.reset();
        self.parts = Parts::default();
        self.spectrum.reset();
        self.restart();
        self.peaks.iter_mut().for_each(TruePeakMeter::reset);
    }

    /// Begins integrated loudness and peaks anew; the rest goes on.
    pub fn restart(&mut self) {
        // What has come of the part at hand came before.
        self.begun_counts = self.begun_frames == 0;
        self.counted_parts = 0;
        self.integrated.reset();
        self.peaks.iter_mut().for_each(TruePeakMeter::restart);
    }

    /// Adds frames, left and right of one length. `counts` says whether they count for integrated
    /// loudness: it passes over what does not, and over gating blocks that would reach across.
    pub fn process(&mut self, audio: [&[f32]; 2], counts: bool) {
        let part_frames = self.begun[0].len();
        let frames = audio[0].len().min(audio[1].len());
        let mut done = 0;
        while done < frames {
            let count = (frames - done).min(part_frames - self.begun_frames);
            for (begun, channel) in self.begun.iter_mut().zip(audio) {
                let room = begun[self.begun_frames..].iter_mut();
                room.zip(&channel[done..done + count]).for_each(|(kept, sample)| *kept = cleaned(*sample));
            }
            done += count;
            self.begun_frames += count;
            self.begun_counts &= counts;
            if self.begun_frames == part_frames {
                self.end_part();
            }
        }
    }

    fn end_part(&mut self) {
        let [left, right] = &self.begun;
        let loudness_power = self.k_weighting.power(left, right);
        self.parts.push(Part::of(loudness_power, left, right));
        for (peak, channel) in self.peaks.iter_mut().zip(&self.begun) {
            peak.process(channel);
        }
        self.spectrum.add([left, right]);
        self.counted_parts = if self.begun_counts { self.counted_parts + 1 } else { 0 };
        if self.counted_parts >= MOMENTARY_PARTS as u64 && self.counted_parts.is_multiple_of(STEP_PARTS) {
            self.integrated.add_block(self.parts.mean(MOMENTARY_PARTS).loudness);
        }
        (self.begun_frames, self.begun_counts) = (0, true);
    }

    /// What the meters show now.
    pub fn read(&self) -> MasterReadings {
        let highest = |peaks: [f32; 2]| to_db(f64::from(peaks[0].max(peaks[1])));
        let signal = self.parts.mean(SIGNAL_PARTS);
        MasterReadings {
            momentary_lufs: lufs(self.parts.mean(MOMENTARY_PARTS).loudness),
            short_term_lufs: lufs(self.parts.mean(SHORT_TERM_PARTS).loudness),
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

#[cfg(test)]
mod tests;

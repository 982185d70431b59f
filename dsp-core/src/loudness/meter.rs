//! Measures the loudness of a signal.

use core::ops::RangeInclusive;

use super::measurement::Loudness;
use super::windows::Windows;
use crate::k_weighting::KWeighting;
use crate::true_peak::TruePeakMeter;

/// The order of a signal's channels. Surround channels are weighted by 1.5 dB, and the
/// low-frequency channel is ignored (BS.1770-4, table 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelLayout {
    /// One channel.
    Mono,
    /// Left, right.
    Stereo,
    /// Left, right, centre.
    ThreeZero,
    /// Left, right, left surround, right surround.
    Quad,
    /// Left, right, centre, left surround, right surround.
    FiveZero,
    /// Left, right, centre, LFE (low-frequency effects), left surround, right surround.
    FiveOne,
}

impl ChannelLayout {
    /// Returns the usual layout of a file with 1 to 6 channels; `None` for other numbers.
    pub fn of_channels(channels: usize) -> Option<Self> {
        let layouts = [Self::Mono, Self::Stereo, Self::ThreeZero, Self::Quad, Self::FiveZero, Self::FiveOne];
        channels.checked_sub(1).and_then(|index| layouts.get(index)).copied()
    }

    /// Returns the number of channels.
    pub fn channel_count(self) -> usize {
        self.weights().len()
    }

    /// Returns the weight of each channel's power.
    fn weights(self) -> &'static [f64] {
        const SURROUND_WEIGHT: f64 = 1.41;
        match self {
            Self::Mono => &[1.0],
            Self::Stereo => &[1.0; 2],
            Self::ThreeZero => &[1.0; 3],
            Self::Quad => &[1.0, 1.0, SURROUND_WEIGHT, SURROUND_WEIGHT],
            Self::FiveZero => &[1.0, 1.0, 1.0, SURROUND_WEIGHT, SURROUND_WEIGHT],
            Self::FiveOne => &[1.0, 1.0, 1.0, 0.0, SURROUND_WEIGHT, SURROUND_WEIGHT],
        }
    }
}

/// The loudness meter does not support the sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the loudness meter supports sample rates from 1000 to 2822400 Hz, not {sample_rate_hz} Hz")]
pub struct LoudnessError {
    /// The unsupported sample rate in hertz.
    pub sample_rate_hz: u32,
}

/// Supported sample rates in hertz. The highest is that of libebur128.
const RATES_HZ: RangeInclusive<u32> = 1_000..=2_822_400;

/// Measures the loudness and peaks of a signal in chunks.
pub struct LoudnessMeter {
    weights: &'static [f64],
    /// The filters of each pair of channels.
    filters: Vec<KWeighting>,
    /// Sums of the squares of each pair of channels in the current interval.
    sums: Vec<[f64; 2]>,
    windows: Windows,
    peaks: Vec<TruePeakMeter>,
}

impl LoudnessMeter {
    /// Creates a meter for a sample rate in hertz.
    ///
    /// # Errors
    ///
    /// [`LoudnessError`] for a rate outside 1,000 to 2,822,400 Hz.
    pub fn new(sample_rate_hz: u32, layout: ChannelLayout) -> Result<Self, LoudnessError> {
        if !RATES_HZ.contains(&sample_rate_hz) {
            return Err(LoudnessError { sample_rate_hz });
        }
        let weights = layout.weights();
        let pairs = weights.len().div_ceil(2);
        Ok(Self {
            weights,
            filters: vec![KWeighting::of_libebur128(sample_rate_hz); pairs],
            sums: vec![[0.0; 2]; pairs],
            windows: Windows::new(sample_rate_hz),
            peaks: vec![TruePeakMeter::new(sample_rate_hz); weights.len()],
        })
    }

    /// Adds frames: one slice per channel, all of the same length.
    ///
    /// # Panics
    ///
    /// Panics if the number of slices is not the number of channels, or if their lengths differ.
    pub fn add(&mut self, channels: &[&[f32]]) {
        let frames = channels.first().map_or(0, |channel| channel.len());
        assert!(
            channels.len() == self.weights.len() && channels.iter().all(|channel| channel.len() == frames),
            "there must be one slice per channel, and all slices must have the same number of frames"
        );
        for (peak, channel) in self.peaks.iter_mut().zip(channels) {
            peak.process(channel);
        }
        let mut start_frame = 0;
        while start_frame < frames {
            let part = start_frame..frames.min(start_frame + self.windows.missing_frames());
            for ((filter, sums), pair) in self.filters.iter_mut().zip(&mut self.sums).zip(channels.chunks(2))
            {
                let [first, second] = [pair[0], pair[pair.len() - 1]].map(|channel| &channel[part.clone()]);
                filter.add_squares(first, second, sums);
            }
            if self.windows.count(part.len()) {
                let squares = self.sums.iter().flatten();
                self.windows.end_interval(squares.zip(self.weights).map(|(sum, weight)| sum * weight).sum());
                self.sums.fill([0.0; 2]);
            }
            start_frame = part.end;
        }
    }

    /// Returns the loudness and peaks of all frames so far.
    pub fn loudness(&self) -> Loudness {
        let highest = |peak: fn(&TruePeakMeter) -> f32| {
            crate::gain::to_db(f64::from(self.peaks.iter().map(peak).fold(0.0, f32::max)))
        };
        Loudness {
            integrated_lufs: self.windows.integrated_lufs(),
            range_lu: self.windows.range_lu(),
            max_momentary_lufs: self.windows.max_momentary_lufs(),
            max_short_term_lufs: self.windows.max_short_term_lufs(),
            true_peak_dbtp: highest(TruePeakMeter::true_peak),
            sample_peak_dbfs: highest(TruePeakMeter::sample_peak),
        }
    }

    /// Returns the loudness of the 400 ms until the end of the last complete interval of 10 ms in
    /// LUFS; minus infinity for silence. The time before the signal counts as silence.
    pub fn momentary_lufs(&self) -> f64 {
        self.windows.momentary_lufs()
    }

    /// Returns the loudness of the 3 s until the end of the last complete interval of 10 ms in
    /// LUFS; minus infinity for silence. A shorter signal is measured over its length.
    pub fn short_term_lufs(&self) -> f64 {
        self.windows.short_term_lufs()
    }

    /// Ends an interval of the signal, and returns its true peak, where 1 is full scale. The values
    /// between the last frames (at most 1,071 frames) are not measured yet and belong to the next
    /// interval.
    pub fn end_peak_interval(&mut self) -> f32 {
        self.peaks.iter_mut().map(TruePeakMeter::end_interval).fold(0.0, f32::max)
    }

    /// Returns the true peak of the last interval of a signal that has ended, where 1 is full
    /// scale.
    pub fn last_interval_true_peak(&self) -> f32 {
        self.peaks.iter().map(TruePeakMeter::last_interval_peak).fold(0.0, f32::max)
    }

    /// Returns the true peak of a channel so far, in dBTP; minus infinity for silence. `None` if
    /// the signal has no such channel.
    pub fn true_peak_dbtp(&self, channel: usize) -> Option<f64> {
        self.peaks.get(channel).map(|peak| crate::gain::to_db(f64::from(peak.true_peak())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_has_a_loudness_of_minus_infinity() {
        let mut meter = LoudnessMeter::new(48_000, ChannelLayout::Stereo).unwrap();
        meter.add(&[&[0.0; 200_000], &[0.0; 200_000]]);
        let silence = f64::NEG_INFINITY;
        let expected = Loudness {
            integrated_lufs: silence,
            range_lu: 0.0,
            max_momentary_lufs: silence,
            max_short_term_lufs: silence,
            true_peak_dbtp: silence,
            sample_peak_dbfs: silence,
        };
        assert_eq!(meter.loudness(), expected);
    }

    #[test]
    fn signals_shorter_than_a_window_are_measured_over_their_length() {
        for (secs, tolerance_lu) in
            [(0.1, 0.1), (0.3, 0.1), (0.4, 0.05), (1.0, 0.02), (2.5, 0.02), (3.0, 0.02), (5.0, 0.02)]
        {
            let mut meter = LoudnessMeter::new(48_000, ChannelLayout::Stereo).unwrap();
            let step = core::f64::consts::TAU * 1_000.0 / 48_000.0;
            let frames = (secs * 48_000.0) as u32;
            let tone: Vec<f32> =
                (0..frames).map(|frame| (0.125 * libm::sin(step * f64::from(frame))) as f32).collect();
            meter.add(&[&tone, &tone]);
            let Loudness { max_momentary_lufs, max_short_term_lufs, .. } = meter.loudness();
            // A stereo sine of 1 kHz has the same level in dBFS and in LUFS (EBU Tech 3341, case
            // 1).
            let expected_lufs = 20.0 * libm::log10(0.125);
            for found_lufs in [max_momentary_lufs, max_short_term_lufs] {
                assert!(
                    (found_lufs - expected_lufs).abs() < tolerance_lu,
                    "{found_lufs} LUFS for a tone of {secs} s"
                );
            }
        }
    }

    #[test]
    fn a_layout_has_the_requested_number_of_channels() {
        for channels in 1..=6 {
            assert_eq!(
                ChannelLayout::of_channels(channels).map(ChannelLayout::channel_count),
                Some(channels)
            );
        }
        assert_eq!(ChannelLayout::of_channels(0), None);
        assert_eq!(ChannelLayout::of_channels(7), None);
    }
}

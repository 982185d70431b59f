//! Estimates the tempo from the regularity of onsets.
//!
//! The loudness of a band is its amplitude to the power of 0.6, after Stevens. Every 5 ms the
//! loudness of each of 32 bands is compared with its maximum over the 40 ms before. The increase is
//! the strength of an onset (spectral flux; Bello et al., *A tutorial on onset detection in music
//! signals*, IEEE TSAP 13, 2005; maximum of earlier values: Böck and Widmer, *Maximum filter
//! vibrato suppression for onset detection*, DAFx 2013). An increase below a fraction of the
//! loudness is not an onset: steady tones fluctuate by that much because they beat with each other.
//!
//! The autocorrelation of the onset strengths is weighted by a Gaussian curve around 120 beats per
//! minute, with a standard deviation of one octave (Ellis, *Beat tracking by dynamic programming*,
//! J. New Music Research 36, 2007, section 3.2). The lag of its maximum is the period of the beat.
//! If the autocorrelation at half that lag is nearly as high, half the lag is the period. Peaks at
//! multiples of the period refine the result. When onsets alternate in strength, the tempo can be
//! wrong by a factor of two, as it can for human listeners.

use alloc::vec::Vec;

use crate::dsp::fft::Fft;

/// Number of values of the onset curve per second.
const VALUES_PER_SEC: u32 = 200;

/// Maximum length of the onset curve in values: 15 minutes. Later frames do not affect the tempo.
const VALUES_MAX: usize = 15 * 60 * VALUES_PER_SEC as usize;

/// Minimum length of the onset curve in values, without which there is no tempo: 4 s.
const VALUES_MIN: usize = 4 * VALUES_PER_SEC as usize;

/// Binomial weights that smooth the onset curve over 25 ms. Without them, beats that lie between
/// two values of the curve would not correlate.
const SMOOTHING_WEIGHTS: [f64; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Range of tempi in beats per minute.
const SLOWEST_BPM: f64 = 40.0;
const FASTEST_BPM: f64 = 240.0;

/// Centre of the Gaussian curve that weights the tempi, in beats per minute.
const PREFERRED_BPM: f64 = 120.0;
/// Standard deviation of this curve in octaves.
const DEVIATION_OCTAVES: f64 = 1.0;

/// Number of frequency bands of the onset curve.
const BAND_COUNT: usize = 32;

/// Multiples of the beat period whose peaks refine the period.
const REFINEMENTS: [usize; 4] = [2, 4, 8, 16];

/// Minimum [`Tempo::regularity`]. A less regular signal has no tempo.
const REGULARITY_MIN: f64 = 0.1;

/// Exponent that converts an amplitude to a loudness.
const LOUDNESS_EXPONENT: f32 = 0.6;

/// Number of earlier values with which each loudness is compared: 40 ms.
const COMPARED_VALUES: usize = 8;

/// Minimum increase of an onset, as a fraction of the current or the mean loudness, whichever is
/// higher.
const MIN_INCREASE_RATIO: f64 = 0.1;

/// If the autocorrelation at half a period reaches this fraction of the autocorrelation at the
/// period, half the period is the beat.
const MIN_HALF_RATIO: f64 = 0.9;

/// An estimated tempo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tempo {
    /// Beats per minute, 40 to 240.
    pub bpm: f64,
    /// Regularity of the beat, 0.1 to 1: the autocorrelation of the onset strengths at the period
    /// of the beat.
    pub regularity: f64,
}

/// Computes the strength of onsets while a recording is added.
pub(super) struct OnsetCurve {
    values_per_sec: f64,
    hop_frames: usize,
    fft: Fft,
    window: Vec<f32>,
    /// Last samples, until they fill a window.
    pending_samples: Vec<f32>,
    /// First bin of each band, and the end of the last band.
    edges: Vec<usize>,
    /// Last loudness values of each band. Value `n` of the curve is at index `n` modulo
    /// [`COMPARED_VALUES`].
    earlier_loudness: Vec<[f32; COMPARED_VALUES]>,
    /// Increase of the loudness, and the loudness, each summed over all bands.
    curve: Vec<[f32; 2]>,
    re: Vec<f32>,
    im: Vec<f32>,
}

impl OnsetCurve {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let hop = (sample_rate_hz / VALUES_PER_SEC).max(1) as usize;
        let fft = Fft::new(2 * hop);
        let window_frames = fft.size();
        let step_radians = core::f64::consts::TAU / window_frames as f64;
        // The weights sum to half the length, and a full-scale sine has half of that sum as the
        // magnitude of its bin.
        let scale = 4.0 / window_frames as f64;
        let weight = |n: usize| (scale * (0.5 - 0.5 * libm::cos(step_radians * n as f64))) as f32;
        Self {
            values_per_sec: f64::from(sample_rate_hz) / hop as f64,
            hop_frames: hop,
            window: (0..window_frames).map(weight).collect(),
            pending_samples: Vec::new(),
            edges: edges(window_frames / 2 + 1),
            earlier_loudness: alloc::vec![[0.0; COMPARED_VALUES]; BAND_COUNT],
            curve: Vec::new(),
            re: alloc::vec![0.0; window_frames],
            im: alloc::vec![0.0; window_frames],
            fft,
        }
    }

    /// Adds the next samples of a mono signal.
    pub(super) fn add(&mut self, samples: &[f32]) {
        for chunk in samples.chunks(self.hop_frames) {
            if self.curve.len() >= VALUES_MAX {
                return;
            }
            self.pending_samples.extend_from_slice(chunk);
            while self.pending_samples.len() >= self.window.len() {
                for ((value, sample), weight) in
                    self.re.iter_mut().zip(&self.pending_samples).zip(&self.window)
                {
                    *value = sample * weight;
                }
                self.im.fill(0.0);
                self.pending_samples.drain(..self.hop_frames);
                self.fft.forward(&mut self.re, &mut self.im);
                self.add_value();
            }
        }
    }

    /// Appends to the curve the increase and the loudness of the transformed window.
    fn add_value(&mut self) {
        let number = self.curve.len();
        let (mut increase, mut loudness) = (0.0, 0.0);
        for (band, earlier_band) in self.earlier_loudness.iter_mut().enumerate() {
            let bins = self.edges[band]..self.edges[band + 1];
            let bins_of_band = self.re[bins.clone()].iter().zip(&self.im[bins]);
            let power: f32 = bins_of_band.map(|(re, im)| re * re + im * im).sum();
            let band_loudness = libm::powf(power, LOUDNESS_EXPONENT / 2.0);
            let highest_earlier = earlier_band.iter().copied().fold(0.0, f32::max);
            increase += (band_loudness - highest_earlier).max(0.0);
            loudness += band_loudness;
            earlier_band[number % COMPARED_VALUES] = band_loudness;
        }
        self.curve.push([if number == 0 { 0.0 } else { increase }, loudness]);
    }

    /// Returns the strengths of the onsets: each increase minus [`MIN_INCREASE_RATIO`] of the
    /// loudness.
    fn onsets(&self) -> Vec<f64> {
        let mean = self.curve.iter().map(|[_, loudness]| f64::from(*loudness)).sum::<f64>()
            / self.curve.len().max(1) as f64;
        let onset = |[increase, loudness]: &[f32; 2]| {
            (f64::from(*increase) - MIN_INCREASE_RATIO * f64::from(*loudness).max(mean)).max(0.0)
        };
        self.curve.iter().map(onset).collect()
    }

    /// Returns the tempo; `None` if the onsets are not regular or the signal is too short.
    pub(super) fn tempo(&self) -> Option<Tempo> {
        if self.curve.len() < VALUES_MIN {
            return None;
        }
        let autocorrelation = autocorrelation(&self.onsets())?;
        let lag_of_bpm = |bpm: f64| 60.0 * self.values_per_sec / bpm;
        let (shortest, longest) =
            (lag_of_bpm(FASTEST_BPM) as usize, libm::ceil(lag_of_bpm(SLOWEST_BPM)) as usize);
        let weighted = |lag: usize| {
            let octaves = libm::log2(lag_of_bpm(PREFERRED_BPM) / lag as f64) / DEVIATION_OCTAVES;
            autocorrelation[lag] * libm::exp(-0.5 * octaves * octaves)
        };
        let mut best_lag = (shortest.max(1)..=longest.min(autocorrelation.len() - 2))
            .max_by(|left, right| weighted(*left).total_cmp(&weighted(*right)))?;
        while let Some(half_lag) =
            comparable_half(&autocorrelation, best_lag).filter(|half_lag| *half_lag >= shortest.max(1))
        {
            best_lag = half_lag;
        }
        let regularity = autocorrelation[best_lag];
        if regularity < REGULARITY_MIN {
            return None;
        }
        let mut period = best_lag as f64 + peak_offset(&autocorrelation, best_lag);
        for multiple in REFINEMENTS {
            let expected_frames = libm::round(period * multiple as f64) as usize;
            if expected_frames + 3 > autocorrelation.len() {
                break;
            }
            let peak = (expected_frames - 2..=expected_frames + 1)
                .max_by(|left, right| autocorrelation[*left].total_cmp(&autocorrelation[*right]))
                .unwrap_or(expected_frames);
            if autocorrelation[peak] < 0.5 * regularity {
                break;
            }
            period = (peak as f64 + peak_offset(&autocorrelation, peak)) / multiple as f64;
        }
        let bpm = (60.0 * self.values_per_sec / period).clamp(SLOWEST_BPM, FASTEST_BPM);
        Some(Tempo { bpm, regularity: regularity.min(1.0) })
    }
}

/// Returns the lag near half of `best_lag` if the autocorrelation there reaches [`MIN_HALF_RATIO`] of
/// that at `best_lag`.
fn comparable_half(autocorrelation: &[f64], best_lag: usize) -> Option<usize> {
    let half_lag = best_lag / 2;
    let lag = (half_lag.max(2) - 1..=half_lag + 1)
        .max_by(|left, right| autocorrelation[*left].total_cmp(&autocorrelation[*right]))?;
    (autocorrelation[lag] >= MIN_HALF_RATIO * autocorrelation[best_lag]).then_some(lag)
}

/// Returns the edges of the bands in bins. They are spaced as evenly on a scale of octaves as the
/// bins allow.
fn edges(bins: usize) -> Vec<usize> {
    let octaves = libm::log2(bins as f64);
    let mut edges: Vec<usize> = Vec::with_capacity(BAND_COUNT + 1);
    for band in 0..=BAND_COUNT {
        let even = libm::exp2(octaves * band as f64 / BAND_COUNT as f64) as usize;
        let minimum = edges.last().map_or(1, |edge| edge + 1);
        edges.push(even.max(minimum).min(bins));
    }
    edges
}

/// Returns the autocorrelation of the curve after smoothing it and subtracting its mean, for lags
/// up to half its length. The value at lag 0 is 1. `None` for a constant curve.
fn autocorrelation(curve: &[f64]) -> Option<Vec<f64>> {
    let smooth: Vec<f64> = curve
        .windows(SMOOTHING_WEIGHTS.len())
        .map(|values| values.iter().zip(SMOOTHING_WEIGHTS).map(|(value, weight)| value * weight).sum())
        .collect();
    let curve = smooth.as_slice();
    let mean = curve.iter().sum::<f64>() / curve.len() as f64;
    let mut fft = Fft::new(2 * curve.len());
    let mut re: Vec<f32> = curve.iter().map(|value| (value - mean) as f32).collect();
    re.resize(fft.size(), 0.0);
    let mut im = alloc::vec![0.0; fft.size()];
    fft.forward(&mut re, &mut im);
    for (re, im) in re.iter_mut().zip(&mut im) {
        (*re, *im) = (*re * *re + *im * *im, 0.0);
    }
    fft.inverse(&mut re, &mut im);
    let power = f64::from(re[0]);
    if power <= 1e-9 * fft.size() as f64 {
        return None;
    }
    // At a lag, only `count - lag` pairs of values overlap. The factor `count / (count - lag)`
    // compensates for the missing pairs.
    let count = curve.len() as f64;
    Some((0..curve.len() / 2).map(|lag| f64::from(re[lag]) / power * count / (count - lag as f64)).collect())
}

/// Returns the offset of a peak from its index, -0.5 to 0.5: the vertex of the parabola through the
/// three values.
fn peak_offset(values: &[f64], peak: usize) -> f64 {
    if peak == 0 || peak + 1 >= values.len() {
        return 0.0;
    }
    let (previous_value, here, next_value) = (values[peak - 1], values[peak], values[peak + 1]);
    let curvature = previous_value - 2.0 * here + next_value;
    if curvature < 0.0 { (0.5 * (previous_value - next_value) / curvature).clamp(-0.5, 0.5) } else { 0.0 }
}

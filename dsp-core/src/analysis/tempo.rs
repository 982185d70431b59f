//! Estimates the tempo from the regularity of onsets.
//!
//! The loudness of 32 bands is the amplitude to the power of 0.6, after Stevens. Every 5 ms it is
//! compared with the maximum of the 40 ms before. The growth is the strength of onsets (spectral
//! flux; Bello et al., *A tutorial on onset detection in music signals*, IEEE TSAP 13, 2005;
//! maximum of earlier values: Böck and Widmer, *Maximum filter vibrato suppression for onset
//! detection*, DAFx 2013). Growth by less than a fraction of the loudness is not an onset, as
//! steady tones beat with each other and with the windows.
//!
//! The curve's autocorrelation is weighted towards 120 beats a minute by a bell of one octave
//! (Ellis, *Beat tracking by dynamic programming*, J. New Music Research 36, 2007, section 3.2).
//! Its maximum is at the period of the beat. If the autocorrelation at half that period is nearly
//! as high, the half is the beat. Peaks at multiples of the period refine it. When onsets alternate
//! in strength, the result can be an octave off, as with human listeners.

use alloc::vec::Vec;

use crate::dsp::fft::Fft;

/// Values of the onset curve in a second.
const VALUES_A_SECOND: u32 = 200;

/// Maximum length of the analysed section, in values: a quarter of an hour.
const VALUES_MAX: usize = 15 * 60 * VALUES_A_SECOND as usize;

/// Minimum length for a tempo, in values: four seconds.
const VALUES_MIN: usize = 4 * VALUES_A_SECOND as usize;

/// Binomial weights over 15 milliseconds that smooth the curve, so that beats between two values
/// match.
const SMOOTHING: [f64; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Range of tempi in beats a minute.
const SLOWEST_BPM: f64 = 40.0;
const FASTEST_BPM: f64 = 240.0;

/// Centre and width, in octaves, of the bell that weights tempi.
const PREFERRED_BPM: f64 = 120.0;
const BELL_OCTAVES: f64 = 1.0;

/// Number of bands of a spectrum.
const BANDS: usize = 32;

/// Multiples of the beat that refine it.
const REFINEMENTS: [usize; 4] = [2, 4, 8, 16];

/// Minimum regularity of a pulse.
const REGULARITY_MIN: f64 = 0.1;

/// Exponent of the amplitude that gives the loudness.
const LOUDNESS_EXPONENT: f32 = 0.6;

/// Number of earlier values that a value is compared with: 40 milliseconds.
const COMPARED: usize = 8;

/// Minimum growth of an onset, as a fraction of the loudness at that time or of the mean loudness,
/// whichever is higher.
const MIN_GROWTH: f64 = 0.1;

/// Minimum autocorrelation at half the beat, as a fraction of that at the beat, for the half to be
/// the beat.
const MIN_HALF_RATIO: f64 = 0.9;

/// A tempo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tempo {
    /// Beats a minute, 40 to 240.
    pub bpm: f64,
    /// Regularity of the beat, 0.1 to 1: the autocorrelation of the onsets at its period.
    pub regularity: f64,
}

/// Computes the strength of onsets while a recording is added.
pub(super) struct OnsetCurve {
    values_a_second: f64,
    hop: usize,
    fft: Fft,
    window: Vec<f32>,
    waiting: Vec<f32>,
    /// First bin of each band, and the end of the last.
    edges: Vec<usize>,
    /// The last loudness values of each band; the index is that of the value modulo [`COMPARED`].
    before: Vec<[f32; COMPARED]>,
    /// Growth and loudness of all bands together.
    curve: Vec<[f32; 2]>,
    re: Vec<f32>,
    im: Vec<f32>,
}

impl OnsetCurve {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let hop = (sample_rate_hz / VALUES_A_SECOND).max(1) as usize;
        let fft = Fft::new(2 * hop);
        let length = fft.size();
        let turn = core::f64::consts::TAU / length as f64;
        // The sum of the weights is half the length, and a sine of full scale has half of that in
        // its bin.
        let scale = 4.0 / length as f64;
        let weight = |n: usize| (scale * (0.5 - 0.5 * libm::cos(turn * n as f64))) as f32;
        Self {
            values_a_second: f64::from(sample_rate_hz) / hop as f64,
            hop,
            window: (0..length).map(weight).collect(),
            waiting: Vec::new(),
            edges: edges(length / 2 + 1),
            before: alloc::vec![[0.0; COMPARED]; BANDS],
            curve: Vec::new(),
            re: alloc::vec![0.0; length],
            im: alloc::vec![0.0; length],
            fft,
        }
    }

    /// Adds mono samples.
    pub(super) fn add(&mut self, samples: &[f32]) {
        for chunk in samples.chunks(self.hop) {
            if self.curve.len() >= VALUES_MAX {
                return;
            }
            self.waiting.extend_from_slice(chunk);
            while self.waiting.len() >= self.window.len() {
                for ((value, sample), weight) in self.re.iter_mut().zip(&self.waiting).zip(&self.window) {
                    *value = sample * weight;
                }
                self.im.fill(0.0);
                self.waiting.drain(..self.hop);
                self.fft.forward(&mut self.re, &mut self.im);
                self.compare();
            }
        }
    }

    fn compare(&mut self) {
        let number = self.curve.len();
        let (mut growth, mut loudness) = (0.0, 0.0);
        for (band, before) in self.before.iter_mut().enumerate() {
            let bins = self.edges[band]..self.edges[band + 1];
            let bins_of_band = self.re[bins.clone()].iter().zip(&self.im[bins]);
            let power: f32 = bins_of_band.map(|(re, im)| re * re + im * im).sum();
            let level = libm::powf(power, LOUDNESS_EXPONENT / 2.0);
            let highest = before.iter().copied().fold(0.0, f32::max);
            growth += (level - highest).max(0.0);
            loudness += level;
            before[number % COMPARED] = level;
        }
        self.curve.push([if number == 0 { 0.0 } else { growth }, loudness]);
    }

    /// The strength of onsets: the growth beyond a fraction of the loudness.
    fn onsets(&self) -> Vec<f64> {
        let mean = self.curve.iter().map(|[_, loudness]| f64::from(*loudness)).sum::<f64>()
            / self.curve.len().max(1) as f64;
        let onset = |[growth, loudness]: &[f32; 2]| {
            (f64::from(*growth) - MIN_GROWTH * f64::from(*loudness).max(mean)).max(0.0)
        };
        self.curve.iter().map(onset).collect()
    }

    /// The tempo, if the onsets are regular.
    pub(super) fn tempo(&self) -> Option<Tempo> {
        if self.curve.len() < VALUES_MIN {
            return None;
        }
        let autocorrelation = autocorrelation(&self.onsets())?;
        let at_bpm = |bpm: f64| 60.0 * self.values_a_second / bpm;
        let (shortest, longest) = (at_bpm(FASTEST_BPM) as usize, libm::ceil(at_bpm(SLOWEST_BPM)) as usize);
        let weighted = |lag: usize| {
            let octaves = libm::log2(at_bpm(PREFERRED_BPM) / lag as f64) / BELL_OCTAVES;
            autocorrelation[lag] * libm::exp(-0.5 * octaves * octaves)
        };
        let mut best = (shortest.max(1)..=longest.min(autocorrelation.len() - 2))
            .max_by(|one, other| weighted(*one).total_cmp(&weighted(*other)))?;
        while let Some(half) = half_as_good(&autocorrelation, best).filter(|half| *half >= shortest.max(1)) {
            best = half;
        }
        let regularity = autocorrelation[best];
        if regularity < REGULARITY_MIN {
            return None;
        }
        let mut beat = best as f64 + peak_offset(&autocorrelation, best);
        for times in REFINEMENTS {
            let around = libm::round(beat * times as f64) as usize;
            if around + 3 > autocorrelation.len() {
                break;
            }
            let peak = (around - 2..=around + 1)
                .max_by(|one, other| autocorrelation[*one].total_cmp(&autocorrelation[*other]))
                .unwrap_or(around);
            if autocorrelation[peak] < 0.5 * regularity {
                break;
            }
            beat = (peak as f64 + peak_offset(&autocorrelation, peak)) / times as f64;
        }
        let bpm = (60.0 * self.values_a_second / beat).clamp(SLOWEST_BPM, FASTEST_BPM);
        Some(Tempo { bpm, regularity: regularity.min(1.0) })
    }
}

/// The lag near half of `best` at which the autocorrelation is nearly as high.
fn half_as_good(autocorrelation: &[f64], best: usize) -> Option<usize> {
    let half = best / 2;
    let found = (half.max(2) - 1..=half + 1)
        .max_by(|one, other| autocorrelation[*one].total_cmp(&autocorrelation[*other]))?;
    (autocorrelation[found] >= MIN_HALF_RATIO * autocorrelation[best]).then_some(found)
}

/// Edges of bands, spaced as evenly on a scale of octaves as the bins allow.
fn edges(bins: usize) -> Vec<usize> {
    let octaves = libm::log2(bins as f64);
    let mut edges: Vec<usize> = Vec::with_capacity(BANDS + 1);
    for band in 0..=BANDS {
        let even = libm::exp2(octaves * band as f64 / BANDS as f64) as usize;
        let least = edges.last().map_or(1, |edge| edge + 1);
        edges.push(even.max(least).min(bins));
    }
    edges
}

/// Autocorrelation of the smoothed curve without its mean, 1 at lag 0, up to half its length.
/// `None` for a constant curve.
fn autocorrelation(curve: &[f64]) -> Option<Vec<f64>> {
    let smooth: Vec<f64> = curve
        .windows(SMOOTHING.len())
        .map(|values| values.iter().zip(SMOOTHING).map(|(value, weight)| value * weight).sum())
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
    let whole = f64::from(re[0]);
    if whole <= 1e-9 * fft.size() as f64 {
        return None;
    }
    // The longer the lag, the fewer values overlap.
    let count = curve.len() as f64;
    Some((0..curve.len() / 2).map(|lag| f64::from(re[lag]) / whole * count / (count - lag as f64)).collect())
}

/// Offset of a peak from its value, by a parabola.
fn peak_offset(values: &[f64], peak: usize) -> f64 {
    if peak == 0 || peak + 1 >= values.len() {
        return 0.0;
    }
    let (before, here, after) = (values[peak - 1], values[peak], values[peak + 1]);
    let bend = before - 2.0 * here + after;
    if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 }
}

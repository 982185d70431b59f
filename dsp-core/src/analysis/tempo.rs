//! The tempo, from how regularly something begins.
//!
//! Every five milliseconds the loudness of 32 bands (amplitude to the power of 0.6, after Stevens)
//! is compared with the most of the 40 ms before: what has grown is the strength of onsets
//! (spectral flux; Bello et al., *A tutorial on onset detection in music signals*, IEEE TSAP 13,
//! 2005; the highest of what was before: Böck and Widmer, *Maximum filter vibrato suppression for
//! onset detection*, DAFx 2013). What grows by less than a share of the sound itself is no onset:
//! steady tones beat with each other and with the windows. The curve's autocorrelation, weighted
//! towards 120 beats a minute by a bell of one octave (Ellis, *Beat tracking by dynamic
//! programming*, J. New Music Research 36, 2007, section 3.2), has its summit at the time between
//! two beats. Where the curve is as much like itself after half that time, every second beat was
//! passed over, and the half is the answer. Peaks at multiples of that time make it exact. Where
//! onsets alternate in strength, tempi an octave apart can be taken for each other, by people too.

use alloc::vec::Vec;

use crate::dsp::fft::Fft;

/// Values of the onset curve in a second.
const VALUES_A_SECOND: u32 = 200;

/// Longest part that is looked at, in values: a quarter of an hour.
const VALUES_MAX: usize = 15 * 60 * VALUES_A_SECOND as usize;

/// Shortest part that a tempo is found in, in values: four seconds.
const VALUES_MIN: usize = 4 * VALUES_A_SECOND as usize;

/// Weights that smooth the curve, so that beats between two values meet: a binomial of 15
/// milliseconds.
const SMOOTHING: [f64; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

/// Tempi that are considered, in beats a minute.
const SLOWEST_BPM: f64 = 40.0;
const FASTEST_BPM: f64 = 240.0;

/// Middle and width, in octaves, of the bell that weighs tempi.
const PREFERRED_BPM: f64 = 120.0;
const BELL_OCTAVES: f64 = 1.0;

/// Bands that a spectrum is reduced to.
const BANDS: usize = 32;

/// Times by which the beat is multiplied to make it exact.
const REFINEMENTS: [usize; 4] = [2, 4, 8, 16];

/// Regularity below which there is no pulse.
const REGULARITY_MIN: f64 = 0.1;

/// Loudness by amplitude.
const LOUDNESS_EXPONENT: f32 = 0.6;

/// Values before one that it is compared with: 40 milliseconds.
const COMPARED: usize = 8;

/// Share of the loudness at a place, or of the mean if that is more, by which it must grow for an
/// onset.
const ONSET_SHARE: f64 = 0.1;

/// Share of the autocorrelation at a beat that it must have at the half of it for the half to be
/// the beat.
const ALIKE_SHARE: f64 = 0.9;

/// A tempo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tempo {
    /// Beats a minute, 40 to 240.
    pub bpm: f64,
    /// How regular the beat is, 0.1 to 1: the autocorrelation of the onsets at its distance.
    pub regularity: f64,
}

/// The strength of onsets while a recording passes.
pub(super) struct OnsetCurve {
    values_a_second: f64,
    hop: usize,
    fft: Fft,
    window: Vec<f32>,
    waiting: Vec<f32>,
    /// First bin of each band, and the end of the last.
    edges: Vec<usize>,
    /// The last loudness of each band, by the number of the value modulo [`COMPARED`].
    before: Vec<[f32; COMPARED]>,
    /// How much all bands have grown, and how loud they are together.
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
        for part in samples.chunks(self.hop) {
            if self.curve.len() >= VALUES_MAX {
                return;
            }
            self.waiting.extend_from_slice(part);
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
            let parts = self.re[bins.clone()].iter().zip(&self.im[bins]);
            let power: f32 = parts.map(|(re, im)| re * re + im * im).sum();
            let level = libm::powf(power, LOUDNESS_EXPONENT / 2.0);
            let highest = before.iter().copied().fold(0.0, f32::max);
            growth += (level - highest).max(0.0);
            loudness += level;
            before[number % COMPARED] = level;
        }
        self.curve.push([if number == 0 { 0.0 } else { growth }, loudness]);
    }

    /// The strength of onsets: what has grown beyond a share of the sound itself.
    fn onsets(&self) -> Vec<f64> {
        let mean = self.curve.iter().map(|[_, loudness]| f64::from(*loudness)).sum::<f64>()
            / self.curve.len().max(1) as f64;
        let onset = |[growth, loudness]: &[f32; 2]| {
            (f64::from(*growth) - ONSET_SHARE * f64::from(*loudness).max(mean)).max(0.0)
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
        let mut beat = best as f64 + summit(&autocorrelation, best);
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
            beat = (peak as f64 + summit(&autocorrelation, peak)) / times as f64;
        }
        let bpm = (60.0 * self.values_a_second / beat).clamp(SLOWEST_BPM, FASTEST_BPM);
        Some(Tempo { bpm, regularity: regularity.min(1.0) })
    }
}

/// The delay near the half of `best` at which a curve is nearly as much like itself.
fn half_as_good(autocorrelation: &[f64], best: usize) -> Option<usize> {
    let half = best / 2;
    let found = (half.max(2) - 1..=half + 1)
        .max_by(|one, other| autocorrelation[*one].total_cmp(&autocorrelation[*other]))?;
    (autocorrelation[found] >= ALIKE_SHARE * autocorrelation[best]).then_some(found)
}

/// Edges of bands: as even as the bins allow on a scale of octaves.
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

/// Autocorrelation of a smoothed curve without its mean, 1 at no delay; up to half its length.
/// `None` where nothing changes.
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
    // Fewer values overlap the longer the delay.
    let count = curve.len() as f64;
    Some((0..curve.len() / 2).map(|lag| f64::from(re[lag]) / whole * count / (count - lag as f64)).collect())
}

/// Where between the values a peak lies: the summit of a parabola.
fn summit(values: &[f64], peak: usize) -> f64 {
    if peak == 0 || peak + 1 >= values.len() {
        return 0.0;
    }
    let (before, here, after) = (values[peak - 1], values[peak], values[peak + 1]);
    let bend = before - 2.0 * here + after;
    if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 }
}

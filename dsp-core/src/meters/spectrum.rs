//! The spectrum in third octaves, from 20 Hz to 20 kHz.
//!
//! Bands from 200 Hz on use Hann windows of 4096 frames at 48 kHz (85 ms, an overlap of 50 %, bins
//! of 12 Hz). Lower bands are narrower than these bins. They use the signal decimated to about 3
//! kHz, in windows of 2048 frames (0.7 s, a hop of 1/8, bins of 1.5 Hz). The power of each band has
//! the time weighting F of IEC 61672-1, an exponential mean of 125 ms.

use alloc::vec::Vec;
use core::f64::consts::TAU;
use core::ops::Range;

use super::sliding_window::SlidingWindow;
use crate::dsp::fft::Fft;
use crate::dsp::window::WindowedSinc;
use crate::third_octave::{Band, BandBins};

/// Number of bands.
pub const SPECTRUM_BANDS: usize = 31;

/// Numbers of the first band and of the first that is wide enough for the short windows.
const FIRST_BAND: i32 = -17;
const FIRST_WIDE_BAND: i32 = -7;

/// Length of a short window at 48 kHz, in frames. It is scaled for other rates and rounded up to a
/// power of two.
const SHORT_FRAMES_48_KHZ: u64 = 4_096;
const SHORT_OVERLAP: usize = 2;

/// Length of a long window in frames, at the low rate.
const LONG_FRAMES: usize = 2_048;
const LONG_OVERLAP: usize = 8;

/// Maximum of the low rate in hertz; its minimum is half of it.
const MAX_LOW_RATE_HZ: u32 = 3_000;

/// Attenuation of aliases in the low bands, in decibels.
const DECIMATOR_ATTENUATION_DB: f64 = 70.0;

/// Number of taps of the filter per frame at the low rate. The transition is half as wide as the
/// low rate, centred at its Nyquist frequency.
const DECIMATOR_TAPS_A_FRAME: usize = 8;

/// Time constant of the mean, in seconds.
const MEAN_SECS: f64 = 0.125;

/// Powers below -300 dBFS become 0.
const FLUSH: f64 = 1e-30;

#[derive(Debug, Clone)]
pub(super) struct BandSpectrum {
    short: Windows,
    decimator: Decimator,
    long: Windows,
}

impl BandSpectrum {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let rate_hz = f64::from(sample_rate_hz);
        let short = (SHORT_FRAMES_48_KHZ * u64::from(sample_rate_hz)).div_ceil(48_000) as usize;
        let factor = sample_rate_hz.div_ceil(MAX_LOW_RATE_HZ).next_power_of_two() as usize;
        let wide_bands = FIRST_WIDE_BAND..FIRST_BAND + SPECTRUM_BANDS as i32;
        Self {
            short: Windows::new(short.next_power_of_two(), SHORT_OVERLAP, rate_hz, wide_bands),
            decimator: Decimator::new(factor),
            long: Windows::new(
                LONG_FRAMES,
                LONG_OVERLAP,
                rate_hz / factor as f64,
                FIRST_BAND..FIRST_WIDE_BAND,
            ),
        }
    }

    pub(super) fn reset(&mut self) {
        self.short.reset();
        self.decimator.sliding.reset();
        self.long.reset();
    }

    /// Adds frames of left and right, of the same length.
    pub(super) fn add(&mut self, audio: [&[f32]; 2]) {
        self.short.add(audio);
        let Self { decimator, long, .. } = self;
        decimator.add(audio, |left, right| long.add([&[left], &[right]]));
    }

    /// Levels of the bands in decibels; minus infinity for silence and above half the sample rate.
    pub(super) fn levels_db(&self) -> [f64; SPECTRUM_BANDS] {
        let mut means = self.long.means.iter().chain(&self.short.means);
        core::array::from_fn(|_| 10.0 * libm::log10(means.next().copied().unwrap_or(0.0)))
    }
}

/// Decimates the signal after a low-pass.
#[derive(Debug, Clone)]
struct Decimator {
    taps: Vec<f32>,
    sliding: SlidingWindow,
}

impl Decimator {
    fn new(factor: usize) -> Self {
        let count = DECIMATOR_TAPS_A_FRAME * factor;
        let middle = (count as f64 - 1.0) / 2.0;
        let sinc = WindowedSinc::new(DECIMATOR_ATTENUATION_DB, 0.5 / factor as f64, count as f64 / 2.0);
        Self {
            taps: (0..count).map(|tap| sinc.at(tap as f64 - middle) as f32).collect(),
            sliding: SlidingWindow::new(count, factor),
        }
    }

    fn add(&mut self, audio: [&[f32]; 2], mut each: impl FnMut(f32, f32)) {
        let Self { taps, sliding } = self;
        sliding.add(audio, |[left, right]| {
            each(
                lanes_sum(left, taps, |sum, value, tap| sum + value * tap),
                lanes_sum(right, taps, |sum, value, tap| sum + value * tap),
            );
        });
    }
}

/// Folds pairs of values in eight lanes, and sums the lanes.
#[inline(always)]
fn lanes_sum(a: &[f32], b: &[f32], fold: impl Fn(f32, f32, f32) -> f32) -> f32 {
    const WIDTH: usize = 8;
    let ((a_wide, a_remainder), (b_wide, b_remainder)) = (a.as_chunks::<WIDTH>(), b.as_chunks::<WIDTH>());
    let mut sums = [0.0; WIDTH];
    for (a, b) in a_wide.iter().zip(b_wide) {
        for lane in 0..WIDTH {
            sums[lane] = fold(sums[lane], a[lane], b[lane]);
        }
    }
    let remainder = a_remainder.iter().zip(b_remainder).fold(0.0, |sum, (a, b)| fold(sum, *a, *b));
    sums.iter().sum::<f32>() + remainder
}

/// Windows of one length and the bands that use them.
#[derive(Debug, Clone)]
struct Windows {
    sliding: SlidingWindow,
    window: Vec<f32>,
    fft: Fft,
    /// Left and right, as real and imaginary parts.
    re: Vec<f32>,
    im: Vec<f32>,
    bands: Vec<BandBins>,
    /// Mean power of each band; that of a sine of full scale in both channels is 1.
    means: Vec<f64>,
    /// Weight of a window in the means.
    weight: f64,
}

impl Windows {
    fn new(frames: usize, overlap: usize, sample_rate_hz: f64, bands: Range<i32>) -> Self {
        let fft = Fft::new(frames);
        let frames = fft.size();
        let turn = TAU / frames as f64;
        let bin_hz = sample_rate_hz / frames as f64;
        let hop = frames / overlap;
        Self {
            sliding: SlidingWindow::new(frames, hop),
            window: (0..frames).map(|n| (0.5 - 0.5 * libm::cos(turn * n as f64)) as f32).collect(),
            fft,
            re: alloc::vec![0.0; frames],
            im: alloc::vec![0.0; frames],
            means: alloc::vec![0.0; bands.len()],
            bands: bands.map(|number| BandBins::new(Band(number), bin_hz, frames / 2)).collect(),
            weight: 1.0 - libm::exp(-(hop as f64) / sample_rate_hz / MEAN_SECS),
        }
    }

    fn reset(&mut self) {
        self.sliding.reset();
        self.means.fill(0.0);
    }

    fn add(&mut self, audio: [&[f32]; 2]) {
        let Self { sliding, window, fft, re, im, bands, means, weight } = self;
        sliding.add(audio, |channels| {
            for (part, channel) in [&mut *re, &mut *im].into_iter().zip(channels) {
                for ((part, value), weight) in part.iter_mut().zip(channel).zip(&*window) {
                    *part = value * weight;
                }
            }
            fft.forward(re, im);
            let scale = scale_of(window.len());
            for (mean, band) in means.iter_mut().zip(&*bands) {
                let power = band.power(|bins| power_of_both(re, im, bins)) * scale;
                *mean += *weight * (power - *mean);
                if *mean < FLUSH {
                    *mean = 0.0;
                }
            }
        });
    }
}

/// The factor that scales the sum of both channels' bins to 1 for a full-scale sine in both.
///
/// By Parseval's theorem the bins of one half of a spectrum sum to half the energy of the windowed
/// frames times the length. The mean square is 3/8 of a Hann window and 1/2 of the sine; there are
/// two channels.
fn scale_of(frames: usize) -> f64 {
    1.0 / (frames as f64 * frames as f64 * 0.5 * 0.375 * 0.5 * 2.0)
}

/// The summed power in some bins of two real signals that were transformed as one complex signal.
/// It is half the power in the bins and in their mirror images.
fn power_of_both(re: &[f32], im: &[f32], bins: Range<usize>) -> f64 {
    let mirror = re.len() - bins.end + 1..re.len() - bins.start + 1;
    let power =
        |bins: Range<usize>| lanes_sum(&re[bins.clone()], &im[bins], |sum, re, im| sum + (re * re + im * im));
    0.5 * f64::from(power(bins) + power(mirror))
}

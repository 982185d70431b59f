//! Measures the spectrum in third-octave bands, from 20 Hz to 20 kHz.
//!
//! Bands from 200 Hz upwards use Hann windows of 4096 frames at 48 kHz (85 ms, an overlap of 50 %,
//! bins of 12 Hz). Lower bands would be narrower than these bins. They use the signal at a sample
//! rate of 1.5 to 3 kHz, in windows of 2048 frames. At 48 kHz, this rate is 3 kHz (0.7 s, a hop of
//! 1/8, bins of 1.5 Hz). The power of each band has the time weighting F of IEC 61672-1: an
//! exponential mean with a time constant of 125 ms.

use alloc::vec::Vec;
use core::f64::consts::TAU;
use core::ops::Range;

use super::sliding_window::SlidingWindow;
use crate::dsp::fft::Fft;
use crate::dsp::window::WindowedSinc;
use crate::third_octave::{Band, BandBins};

/// Number of third-octave bands, from 20 Hz to 20 kHz.
pub const SPECTRUM_BANDS: usize = 31;

/// Number of the first band: 20 Hz.
const FIRST_BAND: i32 = -17;
/// Number of the first band that is wide enough for the short windows: 200 Hz.
const FIRST_WIDE_BAND: i32 = -7;

/// Length of a short window at 48 kHz, in frames. It is scaled for other rates and rounded up to a
/// power of two.
const SHORT_FRAMES_48_KHZ: u64 = 4_096;
/// Number of short windows that overlap at each frame.
const SHORT_OVERLAP: usize = 2;

/// Length of a long window in frames at the decimated sample rate.
const LONG_FRAMES: usize = 2_048;
/// Number of long windows that overlap at each frame.
const LONG_OVERLAP: usize = 8;

/// Maximum of the decimated sample rate in hertz. Its minimum is half of this value.
const MAX_DECIMATED_RATE_HZ: u32 = 3_000;

/// Attenuation of aliases by the decimation filter, in decibels.
const DECIMATOR_ATTENUATION_DB: f64 = 70.0;

/// Number of taps of the decimation filter per frame at the decimated sample rate. The transition
/// band is centred at half this rate and is half as wide as the rate.
const DECIMATOR_TAPS_PER_FRAME: usize = 8;

/// Time constant of the exponential mean in seconds (IEC 61672-1, time weighting F).
const MEAN_SECS: f64 = 0.125;

/// Powers below this value (-300 dB) become 0.
const FLUSH_THRESHOLD: f64 = 1e-30;

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
        let factor = sample_rate_hz.div_ceil(MAX_DECIMATED_RATE_HZ).next_power_of_two() as usize;
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
        self.decimator.sliding_window.reset();
        self.long.reset();
    }

    /// Adds the same number of samples of left and right.
    pub(super) fn add(&mut self, audio: [&[f32]; 2]) {
        self.short.add(audio);
        let Self { decimator, long, .. } = self;
        decimator.add(audio, |left, right| long.add([&[left], &[right]]));
    }

    /// Returns the levels of the bands in decibels; minus infinity for silence and for bands above
    /// half the sample rate.
    pub(super) fn levels_db(&self) -> [f64; SPECTRUM_BANDS] {
        let mut means = self.long.means.iter().chain(&self.short.means);
        core::array::from_fn(|_| 10.0 * libm::log10(means.next().copied().unwrap_or(0.0)))
    }
}

/// Decimates a stereo signal with a low-pass filter.
#[derive(Debug, Clone)]
struct Decimator {
    taps: Vec<f32>,
    sliding_window: SlidingWindow,
}

impl Decimator {
    fn new(factor: usize) -> Self {
        let count = DECIMATOR_TAPS_PER_FRAME * factor;
        let middle = (count as f64 - 1.0) / 2.0;
        let sinc = WindowedSinc::new(DECIMATOR_ATTENUATION_DB, 0.5 / factor as f64, count as f64 / 2.0);
        Self {
            taps: (0..count).map(|tap| sinc.value_at(tap as f64 - middle) as f32).collect(),
            sliding_window: SlidingWindow::new(count, factor),
        }
    }

    fn add(&mut self, audio: [&[f32]; 2], mut process_frame: impl FnMut(f32, f32)) {
        let Self { taps, sliding_window } = self;
        sliding_window.add(audio, |[left, right]| {
            process_frame(
                fold_in_lanes(left, taps, |sum, value, tap| sum + value * tap),
                fold_in_lanes(right, taps, |sum, value, tap| sum + value * tap),
            );
        });
    }
}

/// Folds pairs of values in eight SIMD lanes, and sums the lanes.
#[inline(always)]
fn fold_in_lanes(a: &[f32], b: &[f32], fold: impl Fn(f32, f32, f32) -> f32) -> f32 {
    const LANE_COUNT: usize = 8;
    let ((a_wide, a_remainder), (b_wide, b_remainder)) =
        (a.as_chunks::<LANE_COUNT>(), b.as_chunks::<LANE_COUNT>());
    let mut sums = [0.0; LANE_COUNT];
    for (a, b) in a_wide.iter().zip(b_wide) {
        for lane in 0..LANE_COUNT {
            sums[lane] = fold(sums[lane], a[lane], b[lane]);
        }
    }
    let remainder = a_remainder.iter().zip(b_remainder).fold(0.0, |sum, (a, b)| fold(sum, *a, *b));
    sums.iter().sum::<f32>() + remainder
}

/// Transforms windows of one length and measures the bands that use this length.
#[derive(Debug, Clone)]
struct Windows {
    sliding_window: SlidingWindow,
    window: Vec<f32>,
    fft: Fft,
    /// Buffers of the FFT: left is the real part, right the imaginary part.
    re: Vec<f32>,
    im: Vec<f32>,
    bands: Vec<BandBins>,
    /// Mean power of each band. A full-scale sine in both channels has 1.
    means: Vec<f64>,
    /// Weight of a new window in the exponential mean.
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
            sliding_window: SlidingWindow::new(frames, hop),
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
        self.sliding_window.reset();
        self.means.fill(0.0);
    }

    fn add(&mut self, audio: [&[f32]; 2]) {
        let Self { sliding_window, window, fft, re, im, bands, means, weight } = self;
        sliding_window.add(audio, |channels| {
            for (part, channel) in [&mut *re, &mut *im].into_iter().zip(channels) {
                for ((part, value), weight) in part.iter_mut().zip(channel).zip(&*window) {
                    *part = value * weight;
                }
            }
            fft.forward(re, im);
            let scale = power_scale(window.len());
            for (mean, band) in means.iter_mut().zip(&*bands) {
                let power = band.power(|bins| power_of_both(re, im, bins)) * scale;
                *mean += *weight * (power - *mean);
                if *mean < FLUSH_THRESHOLD {
                    *mean = 0.0;
                }
            }
        });
    }
}

/// Returns the factor that scales the summed power of both channels' bins. A full-scale sine in
/// both channels then has 1.
///
/// By Parseval's theorem, the bins in one half of the spectrum have half the energy of the windowed
/// frames, times the number of frames. The mean square of a Hann window is 3/8, and that of the
/// sine is 1/2. The last factor is the number of channels.
fn power_scale(frames: usize) -> f64 {
    1.0 / (frames as f64 * frames as f64 * 0.5 * 0.375 * 0.5 * 2.0)
}

/// Returns the summed power of two real signals in a range of bins, if the signals were transformed
/// as one complex signal. The result is half the power of these bins and of their mirror images.
fn power_of_both(re: &[f32], im: &[f32], bins: Range<usize>) -> f64 {
    let mirror = re.len() - bins.end + 1..re.len() - bins.start + 1;
    let power = |bins: Range<usize>| {
        fold_in_lanes(&re[bins.clone()], &im[bins], |sum, re, im| sum + (re * re + im * im))
    };
    0.5 * f64::from(power(bins) + power(mirror))
}

//! Checks how a stereo signal sounds in mono. The check measures the correlation of the channels,
//! the level of their difference, and the loss of level of their sum.
//!
//! Both channels are transformed together in Hann windows that overlap by half. With left as the
//! real part and right as the imaginary part, the transform of each channel follows from the bins
//! `k` and `n - k` (H. V. Sorensen et al., "Real-Valued Fast Fourier Transform Algorithms", IEEE
//! Transactions on ASSP 35, 1987).

use alloc::vec::Vec;

use crate::dsp::fft::Fft;

/// Length of a window in frames at 48 kHz. It is scaled for other sample rates and rounded up to a
/// power of two.
const WINDOW_FRAMES_48_KHZ: u64 = 16_384;

/// Numbers of the octaves from 31.5 Hz to 16 kHz; octave 0 is at 1 kHz (IEC 61260-1, base ten).
const OCTAVE_INDICES: core::ops::RangeInclusive<i32> = -5..=4;

/// Power below which a signal counts as silent: -100 dBFS.
const SILENT_POWER: f64 = 1e-10;

/// The correlation of two channels, the level of their difference, and the loss of level of their
/// sum.
#[derive(Debug, Clone, PartialEq)]
pub struct StereoCheck {
    /// Correlation of the channels, -1 to 1: 1 for equal channels, 0 for independent ones, -1 for
    /// opposite ones. `None` if a channel is silent.
    pub correlation: Option<f64>,
    /// Level of the side signal (half the difference of the channels) above that of the mid signal
    /// (half the sum), in decibels. `None` if the side or the mid signal is silent.
    pub side_level_db: Option<f64>,
    /// Decibels by which the mid signal is below the mean power of the channels: 0 for equal
    /// channels, 3 for independent ones. `None` if the mid signal or the whole signal is silent.
    pub mono_loss_db: Option<f64>,
    /// The octaves above -100 dBFS, from low to high. Octaves that reach above half the sample rate
    /// are left out.
    pub octaves: Vec<OctaveCheck>,
}

/// The level of an octave, and its loss in mono.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OctaveCheck {
    /// Centre of the octave in hertz.
    pub center_hz: f64,
    /// Level of the octave in dBFS, where a full-scale sine in both channels is 0.
    pub level_db: f64,
    /// Decibels by which the mid signal is below the mean power of the channels; infinite if the
    /// mid signal is silent.
    pub mono_loss_db: f64,
}

/// Sums of the squares of both channels, and of the products of left and right.
#[derive(Debug, Clone, Copy, Default)]
struct Powers {
    left: f64,
    right: f64,
    product: f64,
}

impl Powers {
    fn add(&mut self, left: f64, right: f64, product: f64) {
        self.left += left;
        self.right += right;
        self.product += product;
    }

    /// Mean power of the channels.
    fn mean(self) -> f64 {
        (self.left + self.right) / 2.0
    }

    /// Power of half the sum of the channels.
    fn mid(self) -> f64 {
        ((self.left + self.right + 2.0 * self.product) / 4.0).max(0.0)
    }

    /// Power of half the difference of the channels.
    fn side(self) -> f64 {
        ((self.left + self.right - 2.0 * self.product) / 4.0).max(0.0)
    }
}

/// Checks a stereo signal that is added in chunks of any size.
pub struct StereoChecker {
    sample_rate_hz: u32,
    fft: Fft,
    window: Vec<f32>,
    /// Samples that do not fill a window yet.
    pending_samples: [Vec<f32>; 2],
    /// Sums of squares and of products over all samples.
    samples: Powers,
    frames: u64,
    /// Sums for each bin over all windows.
    bins: Vec<Powers>,
    windows: u64,
    re: Vec<f32>,
    im: Vec<f32>,
}

impl StereoChecker {
    /// Creates a checker for a sample rate in hertz.
    pub fn new(sample_rate_hz: u32) -> Self {
        let window_frames = (WINDOW_FRAMES_48_KHZ * u64::from(sample_rate_hz.max(1))).div_ceil(48_000);
        let fft = Fft::new((window_frames as usize).next_power_of_two());
        let window_frames = fft.size();
        let step_radians = core::f64::consts::TAU / window_frames as f64;
        Self {
            sample_rate_hz,
            window: (0..window_frames)
                .map(|n| (0.5 - 0.5 * libm::cos(step_radians * n as f64)) as f32)
                .collect(),
            pending_samples: [Vec::new(), Vec::new()],
            samples: Powers::default(),
            frames: 0,
            bins: alloc::vec![Powers::default(); window_frames / 2 + 1],
            windows: 0,
            re: alloc::vec![0.0; window_frames],
            im: alloc::vec![0.0; window_frames],
            fft,
        }
    }

    /// Adds frames. Both channels have the same length.
    pub fn add(&mut self, left: &[f32], right: &[f32]) {
        for (left, right) in left.iter().zip(right) {
            let (left, right) = (f64::from(*left), f64::from(*right));
            self.samples.add(left * left, right * right, left * right);
        }
        self.frames += left.len().min(right.len()) as u64;
        for (pending_channel, samples) in self.pending_samples.iter_mut().zip([left, right]) {
            pending_channel.extend_from_slice(samples);
        }
        let window_frames = self.window.len();
        while self.pending_samples.iter().all(|pending_channel| pending_channel.len() >= window_frames) {
            self.transform();
            self.pending_samples
                .iter_mut()
                .for_each(|pending_channel| drop(pending_channel.drain(..window_frames / 2)));
        }
    }

    /// Transforms one window and adds the powers of its bins.
    fn transform(&mut self) {
        let window_frames = self.window.len();
        for (values, samples) in [&mut self.re, &mut self.im].into_iter().zip(&self.pending_samples) {
            for ((value, sample), weight) in values.iter_mut().zip(samples).zip(&self.window) {
                *value = sample * weight;
            }
        }
        self.fft.forward(&mut self.re, &mut self.im);
        for (bin, powers) in self.bins.iter_mut().enumerate() {
            let mirror = (window_frames - bin) % window_frames;
            let with_mirror = |values: &[f32]| (f64::from(values[bin]), f64::from(values[mirror]));
            let ((re, mirrored_re), (im, mirrored_im)) = (with_mirror(&self.re), with_mirror(&self.im));
            let (left_re, left_im) = ((re + mirrored_re) / 2.0, (im - mirrored_im) / 2.0);
            let (right_re, right_im) = ((im + mirrored_im) / 2.0, (mirrored_re - re) / 2.0);
            powers.add(
                left_re * left_re + left_im * left_im,
                right_re * right_re + right_im * right_im,
                left_re * right_re + left_im * right_im,
            );
        }
        self.windows += 1;
    }

    /// Fills the last window with silence, and returns the check of the whole signal.
    pub fn finish(mut self) -> StereoCheck {
        let window_frames = self.window.len();
        if !self.pending_samples[0].is_empty() {
            self.pending_samples
                .iter_mut()
                .for_each(|pending_channel| pending_channel.resize(window_frames, 0.0));
            self.transform();
        }
        let frames = self.frames.max(1) as f64;
        let Powers { left, right, product } = self.samples;
        let is_audible = |power: f64| power / frames > SILENT_POWER;
        let ratio_db = |above: f64, below: f64| {
            (is_audible(above) && is_audible(below)).then(|| 10.0 * libm::log10(above / below))
        };
        let samples = self.samples;
        StereoCheck {
            correlation: (is_audible(left) && is_audible(right))
                .then(|| (product / libm::sqrt(left * right)).clamp(-1.0, 1.0)),
            side_level_db: ratio_db(samples.side(), samples.mid()),
            mono_loss_db: ratio_db(samples.mean(), samples.mid()),
            octaves: OCTAVE_INDICES.filter_map(|octave| self.octave(octave)).collect(),
        }
    }

    /// Returns the check of an octave; `None` if the octave is silent or reaches above half the
    /// sample rate.
    fn octave(&self, octave: i32) -> Option<OctaveCheck> {
        let window_frames = self.window.len() as f64;
        let bin_hz = f64::from(self.sample_rate_hz) / window_frames;
        let at_hz = |twentieths: i32| 1_000.0 * libm::exp10(f64::from(6 * octave + twentieths) / 20.0);
        let (low_hz, high_hz) = (at_hz(-3), at_hz(3));
        if high_hz > f64::from(self.sample_rate_hz) / 2.0 {
            return None;
        }
        let (first, end) = (libm::ceil(low_hz / bin_hz) as usize, libm::ceil(high_hz / bin_hz) as usize);
        let mut powers = Powers::default();
        for bin in self.bins.get(first..end)? {
            powers.add(bin.left, bin.right, bin.product);
        }
        // The mean of the squares of a Hann window is 3/8. The bins are one half of the spectrum,
        // and a full-scale sine has a power of 1/2.
        let scale = 2.0 * 2.0 / (window_frames * window_frames * 0.375 * self.windows.max(1) as f64);
        let power = powers.mean() * scale;
        (power > SILENT_POWER).then(|| OctaveCheck {
            center_hz: at_hz(0),
            level_db: 10.0 * libm::log10(power),
            mono_loss_db: 10.0 * libm::log10(powers.mean() / powers.mid()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE_HZ: u32 = 48_000;

    fn sine(frequency_hz: f64, level: f64) -> Vec<f32> {
        let step = core::f64::consts::TAU * frequency_hz / f64::from(RATE_HZ);
        (0..2 * RATE_HZ).map(|frame| (level * libm::sin(step * f64::from(frame))) as f32).collect()
    }

    fn check(left: &[f32], right: &[f32]) -> StereoCheck {
        let mut checker = StereoChecker::new(RATE_HZ);
        for (left, right) in left.chunks(700).zip(right.chunks(700)) {
            checker.add(left, right);
        }
        checker.finish()
    }

    fn loss_db(check: &StereoCheck, center_hz: f64) -> f64 {
        let octave = check.octaves.iter().find(|octave| (octave.center_hz / center_hz - 1.0).abs() < 0.02);
        octave.expect("the octave has sound").mono_loss_db
    }

    #[test]
    fn equal_opposite_and_quarter_period_channels_have_known_correlations() {
        let tone = sine(1_000.0, 0.5);
        let equal = check(&tone, &tone);
        assert!((equal.correlation.expect("a tone is audible") - 1.0).abs() < 1e-9);
        assert!(equal.mono_loss_db.expect("a tone is audible").abs() < 1e-6 && equal.side_level_db.is_none());
        assert!(
            (equal.octaves.iter().map(|octave| octave.level_db).fold(-200.0, f64::max) + 6.02).abs() < 0.1
        );
        assert!(loss_db(&equal, 1_000.0).abs() < 1e-6);

        let negative: Vec<f32> = tone.iter().map(|value| -value).collect();
        let opposite = check(&tone, &negative);
        assert!((opposite.correlation.expect("a tone is audible") + 1.0).abs() < 1e-9);
        assert_eq!((opposite.mono_loss_db, opposite.side_level_db), (None, None));
        assert!(loss_db(&opposite, 1_000.0) > 100.0);

        // 12 frames are a quarter of a period of 1 kHz.
        let shifted = check(&tone[12..], &tone[..tone.len() - 12]);
        assert!(shifted.correlation.expect("a tone is audible").abs() < 1e-3);
        assert!((shifted.mono_loss_db.expect("a tone is audible") - 3.01).abs() < 0.02);
        assert!(shifted.side_level_db.expect("a tone is audible").abs() < 0.02);
    }

    #[test]
    fn each_octave_has_its_own_loss() {
        let (low, high) = (sine(63.0, 0.25), sine(4_000.0, 0.25));
        let sum =
            |sign: f32| low.iter().zip(&high).map(|(low, high)| low + sign * high).collect::<Vec<f32>>();
        let check = check(&sum(1.0), &sum(-1.0));
        assert!(loss_db(&check, 63.0).abs() < 0.05);
        assert!(loss_db(&check, 4_000.0) > 40.0);
    }

    #[test]
    fn silence_and_short_signals_are_checked() {
        let silent_check = check(&[0.0; 100_000], &[0.0; 100_000]);
        let nothing =
            StereoCheck { correlation: None, side_level_db: None, mono_loss_db: None, octaves: Vec::new() };
        assert_eq!(silent_check, nothing);
        assert_eq!(check(&[], &[]), nothing);
        assert!(check(&[0.5; 10], &[0.5; 10]).correlation.is_some());
        assert_eq!(check(&sine(1_000.0, 0.5), &alloc::vec![0.0; 96_000]).correlation, None);
    }

    #[test]
    fn the_result_does_not_depend_on_the_call_size() {
        let (left, right) = (sine(300.0, 0.5), sine(310.0, 0.4));
        let mut whole_checker = StereoChecker::new(RATE_HZ);
        whole_checker.add(&left, &right);
        assert_eq!(whole_checker.finish(), check(&left, &right));
    }
}

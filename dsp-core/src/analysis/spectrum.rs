//! Measures the long-term spectrum, its centroid and its third-octave levels.
//!
//! Hann windows of 0.68 to 1.37 seconds, depending on the sample rate, overlap by three quarters.
//! The squares of these windows add up to a constant (3/2) at every frame, because the signal is
//! padded with silence at both ends. By Parseval's theorem the total power of all bins then equals
//! the power of all samples, even for short signals.

use alloc::vec::Vec;

use crate::dsp::fft::Fft;
use crate::third_octave::{Band, BandBins};

/// Length of a window in frames at 48 kHz. It is scaled for other sample rates and rounded up to a
/// power of two.
const WINDOW_FRAMES_48_KHZ: u64 = 32_768;

/// Number of windows that overlap at each frame.
const OVERLAP: usize = 4;

/// Sum of the squares of all windows at each frame.
const WINDOW_POWER: f64 = 1.5;

/// Numbers of the third-octave bands from 25 Hz to 20 kHz; band 0 is at 1 kHz.
const BAND_INDICES: core::ops::RangeInclusive<i32> = -16..=13;

/// The level of one third-octave band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThirdOctave {
    /// Exact centre of the band, in hertz: a power of `10^(1/10)` times 1000.
    pub center_hz: f64,
    /// Level in dBFS, where a full-scale sine in every channel is 0; minus infinity for silence.
    pub level_db: f64,
}

/// Adds up the power of every bin over all windows.
pub(super) struct LongTermSpectrum {
    sample_rate_hz: u32,
    channels: usize,
    fft: Fft,
    window: Vec<f32>,
    /// Last samples of each channel, until they fill a window.
    pending_samples: Vec<Vec<f32>>,
    frames: u64,
    /// Power of each bin in the current window, as the mean of the channels.
    power: Vec<f64>,
    /// Power of each bin, summed over all windows.
    total_power: Vec<f64>,
    /// Centroid of the windows that lie inside the signal.
    inside_centroid: Centroid,
    /// Centroid of the windows that reach into the silence before or after the signal.
    edge_centroid: Centroid,
    windows: u64,
    is_ending: bool,
    /// Buffers of the FFT: the first channel is the real part, the second channel the imaginary
    /// part.
    re: Vec<f32>,
    im: Vec<f32>,
}

impl LongTermSpectrum {
    pub(super) fn new(sample_rate_hz: u32, channels: usize) -> Self {
        let window_frames = (WINDOW_FRAMES_48_KHZ * u64::from(sample_rate_hz.max(1))).div_ceil(48_000);
        let window_frames = (window_frames as usize).next_power_of_two();
        let fft = Fft::new(window_frames);
        let window_frames = fft.size();
        let step_radians = core::f64::consts::TAU / window_frames as f64;
        let window =
            (0..window_frames).map(|n| (0.5 - 0.5 * libm::cos(step_radians * n as f64)) as f32).collect();
        let lead_in = alloc::vec![0.0; window_frames - window_frames / OVERLAP];
        Self {
            sample_rate_hz,
            channels,
            window,
            pending_samples: alloc::vec![lead_in; channels],
            frames: 0,
            power: alloc::vec![0.0; window_frames / 2 + 1],
            total_power: alloc::vec![0.0; window_frames / 2 + 1],
            inside_centroid: Centroid::default(),
            edge_centroid: Centroid::default(),
            windows: 0,
            is_ending: false,
            re: alloc::vec![0.0; window_frames],
            im: alloc::vec![0.0; window_frames],
            fft,
        }
    }

    /// Returns the distance between neighbouring bins in hertz.
    pub(super) fn bin_hz(&self) -> f64 {
        f64::from(self.sample_rate_hz) / self.window.len() as f64
    }

    /// Adds interleaved frames. Calls `process_window` with the power of the bins of every window.
    pub(super) fn add(&mut self, frames: &[f32], process_window: &mut dyn FnMut(&[f64])) {
        // Adds one hop at a time: `drain` in `transform` then moves few frames.
        for chunk in frames.chunks(self.channels * (self.window.len() / OVERLAP)) {
            for frame in chunk.chunks_exact(self.channels) {
                self.frames += 1;
                for (pending_channel, value) in self.pending_samples.iter_mut().zip(frame) {
                    pending_channel.push(*value);
                }
            }
            self.transform(process_window);
        }
    }

    /// Ends the signal with silence and transforms the last windows.
    pub(super) fn end(&mut self, process_window: &mut dyn FnMut(&[f64])) {
        let hop = self.window.len() / OVERLAP;
        self.is_ending = true;
        for _ in 0..OVERLAP {
            self.pending_samples
                .iter_mut()
                .for_each(|pending_channel| pending_channel.resize(pending_channel.len() + hop, 0.0));
            self.transform(process_window);
        }
    }

    fn transform(&mut self, process_window: &mut dyn FnMut(&[f64])) {
        let window_frames = self.window.len();
        while self.pending_samples[0].len() >= window_frames {
            for (pending_channel, values) in self.pending_samples.iter_mut().zip([&mut self.re, &mut self.im])
            {
                for ((value, sample), weight) in
                    values.iter_mut().zip(pending_channel.iter()).zip(&self.window)
                {
                    *value = sample * weight;
                }
                pending_channel.drain(..window_frames / OVERLAP);
            }
            if self.channels == 1 {
                self.im.fill(0.0);
            }
            self.fft.forward(&mut self.re, &mut self.im);
            // The FFT transforms two real signals together. The sum of their powers in a bin is the
            // mean of the power of that bin and of its mirror image.
            let power_of = |bin: usize| {
                let (re, im) = (f64::from(self.re[bin]), f64::from(self.im[bin]));
                re * re + im * im
            };
            for (bin, power) in self.power.iter_mut().enumerate() {
                let summed_power = 0.5 * (power_of(bin) + power_of((window_frames - bin) % window_frames));
                *power = summed_power / self.channels as f64;
            }
            for (total_band, power) in self.total_power.iter_mut().zip(&self.power) {
                *total_band += power;
            }
            let is_inside = self.windows >= OVERLAP as u64 - 1 && !self.is_ending;
            let centroid = if is_inside { &mut self.inside_centroid } else { &mut self.edge_centroid };
            centroid.add(&self.power);
            self.windows += 1;
            process_window(&self.power);
        }
    }

    /// Returns the mean frequency in hertz, weighted by amplitude; `None` for silence. Windows at
    /// the ends of the signal count only if there are no others, because a cut-off sound spreads
    /// over the whole spectrum.
    pub(super) fn centroid_hz(&self) -> Option<f64> {
        let bins = self.inside_centroid.bin().or_else(|| self.edge_centroid.bin());
        bins.map(|bin| bin * self.bin_hz())
    }

    /// Returns the levels of the bands that lie below half the sample rate.
    pub(super) fn third_octaves(&self) -> Vec<ThirdOctave> {
        let bin_hz = self.bin_hz();
        // The first factor 2 accounts for the other half of the spectrum, which `total_power` does
        // not contain. The second factor 2 gives a full-scale sine, whose power is 1/2, a level of
        // 0 dBFS.
        let scale = 2.0 * 2.0 / (self.window.len() as f64 * WINDOW_POWER * self.frames.max(1) as f64);
        let mut bands = Vec::new();
        for band in BAND_INDICES.map(Band) {
            let [_, high_hz] = band.edges_hz();
            if high_hz > f64::from(self.sample_rate_hz) / 2.0 {
                break;
            }
            let bins = BandBins::new(band, bin_hz, self.total_power.len());
            let power = bins.power(|bins| self.total_power[bins].iter().sum());
            bands.push(ThirdOctave {
                center_hz: band.center_hz(),
                level_db: 10.0 * libm::log10(power * scale),
            });
        }
        bands
    }
}

/// Sum of the amplitudes, and sum of the products of amplitude and bin number.
#[derive(Debug, Clone, Copy, Default)]
struct Centroid {
    amplitudes: f64,
    weighted_bins: f64,
}

impl Centroid {
    fn add(&mut self, power: &[f64]) {
        for (bin, power) in power.iter().enumerate() {
            let amplitude = libm::sqrt(*power);
            self.amplitudes += amplitude;
            self.weighted_bins += amplitude * bin as f64;
        }
    }

    fn bin(self) -> Option<f64> {
        (self.amplitudes > 0.0).then(|| self.weighted_bins / self.amplitudes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spectrum(sample_rate_hz: u32, channels: usize, frames: &[f32]) -> LongTermSpectrum {
        let mut spectrum = LongTermSpectrum::new(sample_rate_hz, channels);
        for chunk in frames.chunks(channels * 1_000) {
            spectrum.add(chunk, &mut |_| {});
        }
        spectrum.end(&mut |_| {});
        spectrum
    }

    fn sine(frequency_hz: f64, sample_rate_hz: u32, frames: u32) -> Vec<f32> {
        let step = core::f64::consts::TAU * frequency_hz / f64::from(sample_rate_hz);
        (0..frames).map(|frame| libm::sin(step * f64::from(frame)) as f32).collect()
    }

    #[test]
    fn a_sine_has_its_frequency_as_centroid_and_full_level_in_one_band() {
        for sample_rate_hz in [44_100, 48_000, 96_000] {
            for band in [-10, 0, 7] {
                let frequency_hz = 1_000.0 * libm::exp10(f64::from(band) / 10.0);
                let spectrum =
                    spectrum(sample_rate_hz, 1, &sine(frequency_hz, sample_rate_hz, 5 * sample_rate_hz));
                let centroid_hz = spectrum.centroid_hz().expect("a sine has a centroid");
                assert!(
                    (centroid_hz / frequency_hz - 1.0).abs() < 0.01,
                    "centroid of {centroid_hz} Hz for {frequency_hz} Hz"
                );
                let bands = spectrum.third_octaves();
                let matching_band =
                    bands.iter().find(|band| (band.center_hz / frequency_hz - 1.0).abs() < 1e-9);
                let level_db = matching_band.expect("a band is centred on the sine").level_db;
                assert!(level_db.abs() < 0.05, "{frequency_hz} Hz has {level_db} dB");
                let distant_bands =
                    bands.iter().filter(|band| (band.center_hz / frequency_hz - 1.0).abs() > 0.5);
                let loudest_leak_db =
                    distant_bands.map(|band| band.level_db).fold(f64::NEG_INFINITY, f64::max);
                // The two ends of the tone leak into other bands.
                assert!(
                    loudest_leak_db < -40.0,
                    "{frequency_hz} Hz leaks {loudest_leak_db} dB into another band"
                );
            }
        }
    }

    #[test]
    fn the_spectrum_has_the_power_of_the_samples() {
        for frames in [100, 5_000, 200_000] {
            let mut random = 1_u64;
            let noise: Vec<f32> = (0..2 * frames)
                .map(|_| {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (random >> 40) as f32 / 8_388_608.0 - 1.0
                })
                .collect();
            let spectrum = spectrum(48_000, 2, &noise);
            let samples: f64 =
                noise.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>() / 2.0;
            let (first, last) =
                (spectrum.total_power[0], spectrum.total_power[spectrum.total_power.len() - 1]);
            let bins = 2.0 * spectrum.total_power.iter().sum::<f64>() - first - last;
            let ratio = bins / (spectrum.window.len() as f64 * WINDOW_POWER) / samples;
            assert!((ratio - 1.0).abs() < 1e-4, "{frames} frames: ratio of powers {ratio}");
            if frames > 100_000 {
                let centroid_hz = spectrum.centroid_hz().expect("noise has a centroid");
                assert!(
                    (centroid_hz - 12_000.0).abs() < 100.0,
                    "white noise has a centroid of {centroid_hz} Hz"
                );
                // Uniform white noise has a power of 1/3. The power of a band is proportional to
                // its width.
                for band in spectrum.third_octaves().iter().filter(|band| band.center_hz > 200.0) {
                    let width_hz = band.center_hz * (libm::exp10(0.05) - libm::exp10(-0.05));
                    let expected_db = 10.0 * libm::log10(2.0 / 3.0 * width_hz / 24_000.0);
                    assert!((band.level_db - expected_db).abs() < 1.0, "{band:?}, expected {expected_db}");
                }
            }
        }
    }

    #[test]
    fn silence_has_no_centroid() {
        let spectrum = spectrum(48_000, 1, &[0.0; 1_000]);
        assert_eq!(spectrum.centroid_hz(), None);
        assert!(spectrum.third_octaves().iter().all(|band| band.level_db == f64::NEG_INFINITY));
    }
}

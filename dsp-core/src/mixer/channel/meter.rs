//! Peak and RMS meter of a channel strip.

use crate::simd::on_best_instructions;

/// Peaks and power of left and right since the last calls of [`Self::take_peaks`] and
/// [`Self::take_rms`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    peaks: [f32; 2],
    powers: [f64; 2],
    power_frames: u64,
}

impl Meter {
    /// Measures the next frames of left and right, multiplied by `gains`.
    pub(crate) fn add(&mut self, audio: [&[f32]; 2], gains: [f32; 2]) {
        for side in 0..2 {
            self.record(side, gains[side], measure(audio[side]));
        }
    }

    /// Multiplies the next frames of a side by a gain, measures them, and adds them to `sums`,
    /// which has the same length.
    pub(crate) fn add_to(&mut self, side: usize, sums: &mut [f32], audio: &[f32], gain: f32) {
        self.record(side, gain, measure_and_add(sums, audio, gain));
    }

    fn record(&mut self, side: usize, gain: f32, (peak, power): (f32, f32)) {
        // Rounding is monotonic, so the peak times the gain equals the peak of the products.
        self.peaks[side] = self.peaks[side].max(peak * gain.abs());
        self.powers[side] += f64::from(power) * f64::from(gain) * f64::from(gain);
    }

    /// Counts frames, including silent frames.
    pub(crate) fn advance(&mut self, frames: usize) {
        self.power_frames += frames as u64;
    }

    /// Returns the sample peaks since the last call.
    pub(crate) fn take_peaks(&mut self) -> [f32; 2] {
        core::mem::take(&mut self.peaks)
    }

    /// Returns the RMS levels since the last call.
    pub(crate) fn take_rms(&mut self) -> [f32; 2] {
        let frames = core::mem::take(&mut self.power_frames).max(1) as f64;
        core::mem::take(&mut self.powers).map(|power| libm::sqrt(power / frames) as f32)
    }
}

/// Number of values that are measured together.
const LANE_COUNT: usize = 8;

/// Peak and power of each lane.
#[derive(Default)]
struct MeterLanes {
    peaks: [f32; LANE_COUNT],
    powers: [f32; LANE_COUNT],
}

impl MeterLanes {
    #[inline(always)]
    fn measure(&mut self, values: &[f32; LANE_COUNT]) {
        for (lane, value) in values.iter().enumerate() {
            self.peaks[lane] = larger(self.peaks[lane], *value);
            self.powers[lane] += value * value;
        }
    }

    /// Returns the highest magnitude and the sum of squares of all measured values and of
    /// `remainder`.
    #[inline(always)]
    fn total(&self, remainder: &[f32]) -> (f32, f32) {
        let peak = self.peaks.iter().chain(remainder).fold(0.0, |peak, value| larger(peak, *value));
        let power: f32 =
            self.powers.iter().sum::<f32>() + remainder.iter().map(|value| value * value).sum::<f32>();
        (peak, power)
    }
}

/// Returns the larger of a peak and the magnitude of a value.
#[inline(always)]
fn larger(peak: f32, value: f32) -> f32 {
    if value.abs() > peak { value.abs() } else { peak }
}

on_best_instructions! {
    /// Returns the highest magnitude and the sum of squares.
    fn measure(values: &[f32]) -> (f32, f32) = measure_inline;
}

#[inline(always)]
fn measure_inline(values: &[f32]) -> (f32, f32) {
    let mut lanes = MeterLanes::default();
    let (chunks, remainder) = values.as_chunks::<LANE_COUNT>();
    chunks.iter().for_each(|values| lanes.measure(values));
    lanes.total(remainder)
}

on_best_instructions! {
    /// Like [`measure`], but also adds the values times `gain` to `sums`.
    fn measure_and_add(sums: &mut [f32], values: &[f32], gain: f32) -> (f32, f32) = measure_and_add_inline;
}

#[inline(always)]
fn measure_and_add_inline(sums: &mut [f32], values: &[f32], gain: f32) -> (f32, f32) {
    let mut lanes = MeterLanes::default();
    let (wide_sums, remainder_sums) = sums.as_chunks_mut::<LANE_COUNT>();
    let (chunks, remainder) = values.as_chunks::<LANE_COUNT>();
    for (sums, values) in wide_sums.iter_mut().zip(chunks) {
        lanes.measure(values);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value * gain;
        }
    }
    for (sum, value) in remainder_sums.iter_mut().zip(remainder) {
        *sum += value * gain;
    }
    lanes.total(remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_and_rms_of_a_square_wave_equal_its_amplitude() {
        let mut meter = Meter::default();
        let square: [f32; 100] = core::array::from_fn(|frame| if frame % 20 < 10 { 0.5 } else { -0.5 });
        for _ in 0..3 {
            meter.add([&square, &square], [1.0, -0.5]);
            meter.advance(100);
        }
        assert_eq!(meter.take_peaks(), [0.5, 0.25]);
        assert_eq!(meter.take_rms(), [0.5, 0.25]);
        assert_eq!((meter.take_peaks(), meter.take_rms()), ([0.0; 2], [0.0; 2]));
    }
}

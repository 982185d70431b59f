//! Peak and RMS meter of a channel strip.

/// Peaks and power of left and right since they were last read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    peaks: [f32; 2],
    powers: [f64; 2],
    power_frames: u64,
}

impl Meter {
    /// Measures the next frames times these gains.
    pub(crate) fn add(&mut self, audio: [&[f32]; 2], gains: [f32; 2]) {
        for side in 0..2 {
            self.record(side, gains[side], measure(audio[side]));
        }
    }

    /// Measures the next frames of a side times a gain, and adds them to a sum of the same length.
    pub(crate) fn add_to(&mut self, side: usize, sums: &mut [f32], audio: &[f32], gain: f32) {
        self.record(side, gain, measure_and_add(sums, audio, gain));
    }

    fn record(&mut self, side: usize, gain: f32, (peak, power): (f32, f32)) {
        // Rounding is monotonic: the highest product is that of the highest value.
        self.peaks[side] = self.peaks[side].max(peak * gain.abs());
        self.powers[side] += f64::from(power) * f64::from(gain) * f64::from(gain);
    }

    /// Counts frames, silent ones included.
    pub(crate) fn advance(&mut self, frames: usize) {
        self.power_frames += frames as u64;
    }

    /// Sample peaks since the last call.
    pub(crate) fn take_peaks(&mut self) -> [f32; 2] {
        core::mem::take(&mut self.peaks)
    }

    /// RMS levels since the last call.
    pub(crate) fn take_rms(&mut self) -> [f32; 2] {
        let frames = core::mem::take(&mut self.power_frames).max(1) as f64;
        core::mem::take(&mut self.powers).map(|power| libm::sqrt(power / frames) as f32)
    }
}

/// Number of values measured together.
const WIDTH: usize = 8;

/// Peaks and powers of each lane.
#[derive(Default)]
struct Lanes {
    peaks: [f32; WIDTH],
    powers: [f32; WIDTH],
}

impl Lanes {
    #[inline(always)]
    fn measure(&mut self, values: &[f32; WIDTH]) {
        for (lane, value) in values.iter().enumerate() {
            self.peaks[lane] = larger(self.peaks[lane], *value);
            self.powers[lane] += value * value;
        }
    }

    /// Highest magnitude and sum of squares, `remainder` included.
    fn total(&self, remainder: &[f32]) -> (f32, f32) {
        let peak = self.peaks.iter().chain(remainder).fold(0.0, |peak, value| larger(peak, *value));
        let power: f32 =
            self.powers.iter().sum::<f32>() + remainder.iter().map(|value| value * value).sum::<f32>();
        (peak, power)
    }
}

/// The larger magnitude.
fn larger(peak: f32, value: f32) -> f32 {
    if value.abs() > peak { value.abs() } else { peak }
}

/// Highest magnitude and sum of squares of some values.
fn measure(values: &[f32]) -> (f32, f32) {
    let mut lanes = Lanes::default();
    let (wide, remainder) = values.as_chunks::<WIDTH>();
    wide.iter().for_each(|values| lanes.measure(values));
    lanes.total(remainder)
}

/// The same, while they are added to sums with a gain.
fn measure_and_add(sums: &mut [f32], values: &[f32], gain: f32) -> (f32, f32) {
    let mut lanes = Lanes::default();
    let (wide_sums, remainder_sums) = sums.as_chunks_mut::<WIDTH>();
    let (wide, remainder) = values.as_chunks::<WIDTH>();
    for (sums, values) in wide_sums.iter_mut().zip(wide) {
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
    fn a_square_wave_has_its_amplitude_as_peak_and_rms() {
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

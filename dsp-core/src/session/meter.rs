//! What is measured of a strip.

/// Peaks and power of two channels since they were last taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meter {
    peaks: [f32; 2],
    powers: [f64; 2],
    power_frames: u64,
}

impl Meter {
    /// Takes the next frames as they would be behind these gains.
    pub(super) fn add(&mut self, audio: [&[f32]; 2], gains: [f32; 2]) {
        for side in 0..2 {
            let (peak, power) = peak_and_power(audio[side]);
            // Rounding keeps order: the highest product is that of the highest value.
            self.peaks[side] = self.peaks[side].max(peak * gains[side].abs());
            self.powers[side] += f64::from(power) * f64::from(gains[side]) * f64::from(gains[side]);
        }
    }

    /// Counts frames, those of silence included.
    pub(super) fn pass(&mut self, frames: usize) {
        self.power_frames += frames as u64;
    }

    /// Highest magnitudes since the last call.
    pub(super) fn take_peaks(&mut self) -> [f32; 2] {
        core::mem::take(&mut self.peaks)
    }

    /// Roots of the mean squares since the last call.
    pub(super) fn take_rms(&mut self) -> [f32; 2] {
        let frames = core::mem::take(&mut self.power_frames).max(1) as f64;
        core::mem::take(&mut self.powers).map(|power| libm::sqrt(power / frames) as f32)
    }
}

/// Highest magnitude and sum of squares of some values.
fn peak_and_power(values: &[f32]) -> (f32, f32) {
    const WIDTH: usize = 8;
    let larger = |a: f32, b: f32| if b.abs() > a { b.abs() } else { a };
    let (wide, rest) = values.as_chunks::<WIDTH>();
    let mut peaks = [0.0; WIDTH];
    let mut powers = [0.0; WIDTH];
    for values in wide {
        for lane in 0..WIDTH {
            peaks[lane] = larger(peaks[lane], values[lane]);
            powers[lane] += values[lane] * values[lane];
        }
    }
    let peak = peaks.iter().chain(rest).fold(0.0, |peak, value| larger(peak, *value));
    let power: f32 = powers.iter().sum::<f32>() + rest.iter().map(|value| value * value).sum::<f32>();
    (peak, power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_wave_has_its_height_in_both_figures() {
        let mut meter = Meter::default();
        let square: [f32; 100] = core::array::from_fn(|frame| if frame % 20 < 10 { 0.5 } else { -0.5 });
        for _ in 0..3 {
            meter.add([&square, &square], [1.0, -0.5]);
            meter.pass(100);
        }
        assert_eq!(meter.take_peaks(), [0.5, 0.25]);
        assert_eq!(meter.take_rms(), [0.5, 0.25]);
        assert_eq!((meter.take_peaks(), meter.take_rms()), ([0.0; 2], [0.0; 2]));
    }
}

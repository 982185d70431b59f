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
            self.note(side, gains[side], measured(audio[side]));
        }
    }

    /// Takes the next frames of a side, and adds them to a sum of the same length as they are
    /// behind this gain.
    pub(super) fn add_to(&mut self, side: usize, sums: &mut [f32], audio: &[f32], gain: f32) {
        self.note(side, gain, added(sums, audio, gain));
    }

    fn note(&mut self, side: usize, gain: f32, (peak, power): (f32, f32)) {
        // Rounding keeps order: the highest product is that of the highest value.
        self.peaks[side] = self.peaks[side].max(peak * gain.abs());
        self.powers[side] += f64::from(power) * f64::from(gain) * f64::from(gain);
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

/// Values that are measured together.
const WIDTH: usize = 8;

/// Peaks and powers, lane by lane.
#[derive(Default)]
struct Lanes {
    peaks: [f32; WIDTH],
    powers: [f32; WIDTH],
}

impl Lanes {
    #[inline(always)]
    fn take(&mut self, values: &[f32; WIDTH]) {
        for (lane, value) in values.iter().enumerate() {
            self.peaks[lane] = larger(self.peaks[lane], *value);
            self.powers[lane] += value * value;
        }
    }

    /// Highest magnitude and sum of squares, those of the last values included.
    fn with(&self, rest: &[f32]) -> (f32, f32) {
        let peak = self.peaks.iter().chain(rest).fold(0.0, |peak, value| larger(peak, *value));
        let power: f32 =
            self.powers.iter().sum::<f32>() + rest.iter().map(|value| value * value).sum::<f32>();
        (peak, power)
    }
}

/// The larger magnitude.
fn larger(peak: f32, value: f32) -> f32 {
    if value.abs() > peak { value.abs() } else { peak }
}

/// Highest magnitude and sum of squares of some values.
fn measured(values: &[f32]) -> (f32, f32) {
    let mut lanes = Lanes::default();
    let (wide, rest) = values.as_chunks::<WIDTH>();
    wide.iter().for_each(|values| lanes.take(values));
    lanes.with(rest)
}

/// The same, while they are added to sums with a gain.
fn added(sums: &mut [f32], values: &[f32], gain: f32) -> (f32, f32) {
    let mut lanes = Lanes::default();
    let (wide_sums, rest_sums) = sums.as_chunks_mut::<WIDTH>();
    let (wide, rest) = values.as_chunks::<WIDTH>();
    for (sums, values) in wide_sums.iter_mut().zip(wide) {
        lanes.take(values);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value * gain;
        }
    }
    for (sum, value) in rest_sums.iter_mut().zip(rest) {
        *sum += value * gain;
    }
    lanes.with(rest)
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

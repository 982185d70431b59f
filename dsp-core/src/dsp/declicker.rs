//! Removes the click where one signal replaces another.

/// Time in which the offset decays by half. After 17 ms, the offset has decayed by 100 dB.
const HALF_LIFE_SECS: f64 = 0.001;

/// An offset below this magnitude, -120 dBFS, becomes 0.
const SILENT_MAGNITUDE: f32 = 1e-6;

/// Removes the step where a new signal replaces an old one. The difference between both signals is
/// added to the new signal as an offset that decays exponentially.
pub(crate) struct Declicker<const CHANNELS: usize = 2> {
    last_output: [f32; CHANNELS],
    offset: [f32; CHANNELS],
    decay_per_frame: f32,
    /// Whether the next frame belongs to another signal than the last frame.
    is_switching: bool,
}

impl<const CHANNELS: usize> Declicker<CHANNELS> {
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        let decay_per_frame = libm::exp2(-1.0 / (HALF_LIFE_SECS * f64::from(sample_rate_hz))) as f32;
        Self { last_output: [0.0; CHANNELS], offset: [0.0; CHANNELS], decay_per_frame, is_switching: false }
    }

    /// Marks that the next frame belongs to another signal than the last frame.
    pub(crate) fn switch(&mut self) {
        self.is_switching = true;
    }

    /// Records the last frame of output that was not processed by [`Self::process`].
    pub(crate) fn bypass(&mut self, last_output: [f32; CHANNELS]) {
        (self.last_output, self.offset, self.is_switching) = (last_output, [0.0; CHANNELS], false);
    }

    /// Resets to silence.
    pub(crate) fn reset(&mut self) {
        self.bypass([0.0; CHANNELS]);
    }

    /// Whether [`Self::process`] leaves silent input unchanged. The caller may then skip the call
    /// for silent input.
    pub(crate) fn is_idle(&self) -> bool {
        self.offset == [0.0; CHANNELS] && (!self.is_switching || self.last_output == [0.0; CHANNELS])
    }

    /// Processes the next frames in place.
    pub(crate) fn process(&mut self, audio: [&mut [f32]; CHANNELS]) {
        for (channel, values) in audio.into_iter().enumerate() {
            let (Some(first), offset) = (values.first(), &mut self.offset[channel]) else { return };
            if self.is_switching {
                *offset = self.last_output[channel] - first;
            }
            if *offset != 0.0 {
                for value in values.iter_mut() {
                    *value += *offset;
                    *offset =
                        if offset.abs() < SILENT_MAGNITUDE { 0.0 } else { *offset * self.decay_per_frame };
                }
            }
            self.last_output[channel] = values.last().copied().unwrap_or(0.0);
        }
        self.is_switching = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_between_two_signals_decays() {
        let mut declicker = Declicker::new(48_000);
        declicker.process([&mut [0.5; 10], &mut [-0.5; 10]]);
        declicker.switch();
        let (mut left, mut right) = ([0.0; 2_000], [0.25; 2_000]);
        declicker.process([&mut left, &mut right]);
        assert_eq!((left[0], right[0]), (0.5, -0.5));
        assert!((left[48] - 0.25).abs() < 1e-4, "the value after 1 ms is {}", left[48]);
        assert_eq!((left[1_999], right[1_999]), (0.0, 0.25));
    }
}

//! Joins what breaks off to what comes instead.

/// How far a step has fallen after a millisecond: to a half, so that it is below -100 dB in 17.
const HALF_LIFE_SECS: f64 = 0.001;

/// Below this a step has gone: -120 dBFS.
const GONE: f32 = 1e-6;

/// Turns a step between two signals of some channels into one that falls away.
pub(crate) struct Join<const CHANNELS: usize = 2> {
    last: [f32; CHANNELS],
    step: [f32; CHANNELS],
    per_frame: f32,
    begins: bool,
}

impl<const CHANNELS: usize> Join<CHANNELS> {
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        let per_frame = libm::exp2(-1.0 / (HALF_LIFE_SECS * f64::from(sample_rate_hz))) as f32;
        Self { last: [0.0; CHANNELS], step: [0.0; CHANNELS], per_frame, begins: false }
    }

    /// The next frame belongs to another signal than the last one.
    pub(crate) fn begin(&mut self) {
        self.begins = true;
    }

    /// Another signal than that of [`Self::process`] was heard instead of it, and ended with these values.
    pub(crate) fn pass_by(&mut self, last: [f32; CHANNELS]) {
        (self.last, self.step, self.begins) = (last, [0.0; CHANNELS], false);
    }

    /// Silence came last, and nothing has to be joined.
    pub(crate) fn reset(&mut self) {
        (self.last, self.step, self.begins) = ([0.0; CHANNELS], [0.0; CHANNELS], false);
    }

    /// Whether silence may be left out.
    pub(crate) fn is_silent(&self) -> bool {
        self.step == [0.0; CHANNELS] && (!self.begins || self.last == [0.0; CHANNELS])
    }

    /// Joins the next frames.
    pub(crate) fn process(&mut self, audio: [&mut [f32]; CHANNELS]) {
        for (side, values) in audio.into_iter().enumerate() {
            let (Some(first), step) = (values.first(), &mut self.step[side]) else { return };
            if self.begins {
                *step = self.last[side] - first;
            }
            if *step != 0.0 {
                for value in values.iter_mut() {
                    *value += *step;
                    *step = if step.abs() < GONE { 0.0 } else { *step * self.per_frame };
                }
            }
            self.last[side] = values.last().copied().unwrap_or(0.0);
        }
        self.begins = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_falls_away() {
        let mut join = Join::new(48_000);
        join.process([&mut [0.5; 10], &mut [-0.5; 10]]);
        join.begin();
        let (mut left, mut right) = ([0.0; 2_000], [0.25; 2_000]);
        join.process([&mut left, &mut right]);
        assert_eq!((left[0], right[0]), (0.5, -0.5));
        assert!((left[48] - 0.25).abs() < 1e-4, "{}", left[48]);
        assert_eq!((left[1_999], right[1_999]), (0.0, 0.25));
    }
}

//! The two low-frequency oscillators of a voice (section 9.1.8): triangles that start at zero and
//! rise, after a delay.

/// A triangle wave between -1 and 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lfo {
    /// Frames of the delay that have passed.
    delayed_frames: f32,
    /// Position in the cycle, 0 to 1.
    phase: f32,
}

impl Lfo {
    pub(super) fn new() -> Self {
        Self { delayed_frames: 0.0, phase: 0.0 }
    }

    /// Advances by some frames. `cycles_per_frame` is at most 0.5.
    pub(super) fn advance(&mut self, delay_frames: f32, cycles_per_frame: f32, frames: f32) {
        let wait = (delay_frames - self.delayed_frames).clamp(0.0, frames);
        self.delayed_frames += wait;
        let phase = self.phase + (frames - wait) * cycles_per_frame;
        self.phase = phase - libm::floorf(phase);
    }

    pub(super) fn value(&self) -> f32 {
        let quarter = 4.0 * self.phase;
        if self.phase < 0.25 {
            quarter
        } else if self.phase < 0.75 {
            2.0 - quarter
        } else {
            quarter - 4.0
        }
    }
}

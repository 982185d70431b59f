//! The two low-frequency oscillators of a voice (section 9.1.8): triangles that begin at zero and
//! rise, after a delay.

/// A triangle between -1 and 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Oscillator {
    /// Frames that have passed of the delay.
    waited: f32,
    /// Share of a turn.
    phase: f32,
}

impl Oscillator {
    pub(super) fn new() -> Self {
        Self { waited: 0.0, phase: 0.0 }
    }

    /// Lets time pass. `turns_per_frame` is at most a half.
    pub(super) fn advance(&mut self, delay_frames: f32, turns_per_frame: f32, frames: f32) {
        let wait = (delay_frames - self.waited).clamp(0.0, frames);
        self.waited += wait;
        let phase = self.phase + (frames - wait) * turns_per_frame;
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

//! The chorus that all instruments of a session share: a delay that drifts, a quarter of a turn
//! apart on the two sides (Dattorro, "Effect Design, Part 2", JAES 45-10, 1997).

use alloc::vec;
use alloc::vec::Vec;

/// What a chorus is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChorusConfig {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Middle of the delay, in seconds.
    pub delay_secs: f64,
    /// How far the delay drifts to either side of the middle, in seconds.
    pub depth_secs: f64,
    /// Drifts there and back a second.
    pub rate_hz: f64,
}

impl ChorusConfig {
    /// The chorus of the instruments: 8 ms, drifting by 2.5 ms at 0.4 Hz.
    pub fn instruments(sample_rate_hz: u32) -> Self {
        Self { sample_rate_hz, delay_secs: 0.008, depth_secs: 0.0025, rate_hz: 0.4 }
    }
}

/// Entries of the table of one turn of the drift.
const TURN_STEPS: usize = 4_096;
/// Bits of the phase below the table's index.
const STEP_BITS: u32 = 32 - TURN_STEPS.trailing_zeros();

/// Turns a stereo send into its drifting copy.
#[derive(Debug, Clone)]
pub struct ChorusProcessor {
    lines: [Vec<f32>; 2],
    place: usize,
    /// Delay in frames at each step of a turn.
    delays: Vec<f32>,
    /// A whole turn is 2^32.
    phase: u32,
    phase_per_frame: u32,
}

impl ChorusProcessor {
    /// A chorus at rest.
    pub fn new(config: ChorusConfig) -> Self {
        let rate_hz = f64::from(config.sample_rate_hz);
        let delays: Vec<f32> = (0..TURN_STEPS)
            .map(|step| {
                let drift = libm::sin(core::f64::consts::TAU * step as f64 / TURN_STEPS as f64);
                ((config.delay_secs + config.depth_secs * drift) * rate_hz).max(1.0) as f32
            })
            .collect();
        let longest = ((config.delay_secs + config.depth_secs) * rate_hz) as usize + 3;
        Self {
            lines: [vec![0.0; longest], vec![0.0; longest]],
            place: 0,
            delays,
            phase: 0,
            phase_per_frame: (config.rate_hz / rate_hz * 4_294_967_296.0) as u32,
        }
    }

    /// Back to the state of a new chorus.
    pub fn reset(&mut self) {
        self.lines.iter_mut().for_each(|line| line.fill(0.0));
        self.place = 0;
        self.phase = 0;
    }

    /// Adds the drifting copy of the send to `left` and `right`; all have the same length.
    pub fn process(
        &mut self,
        (send_left, send_right): (&[f32], &[f32]),
        left: &mut [f32],
        right: &mut [f32],
    ) {
        const QUARTER_TURN: u32 = 1 << 30;
        for frame in 0..send_left.len() {
            self.lines[0][self.place] = send_left[frame];
            self.lines[1][self.place] = send_right[frame];
            left[frame] += self.delayed(0, self.phase);
            right[frame] += self.delayed(1, self.phase.wrapping_add(QUARTER_TURN));
            self.phase = self.phase.wrapping_add(self.phase_per_frame);
            self.place += 1;
            if self.place == self.lines[0].len() {
                self.place = 0;
            }
        }
    }

    /// A side's signal as it was the phase's delay ago, read between two frames.
    fn delayed(&self, side: usize, phase: u32) -> f32 {
        let line = &self.lines[side];
        let delay = self.delays[(phase >> STEP_BITS) as usize];
        let whole = delay as usize;
        let fraction = delay - whole as f32;
        let back = |frames: usize| line[(self.place + line.len() - frames) % line.len()];
        let (newer, older) = (back(whole), back(whole + 1));
        newer + (older - newer) * fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(chorus: &mut ChorusProcessor, send: &[f32], call_frames: usize) -> (Vec<f32>, Vec<f32>) {
        let (mut left, mut right) = (vec![0.0; send.len()], vec![0.0; send.len()]);
        for ((send, left), right) in
            send.chunks(call_frames).zip(left.chunks_mut(call_frames)).zip(right.chunks_mut(call_frames))
        {
            assert_no_alloc::assert_no_alloc(|| chorus.process((send, send), left, right));
        }
        (left, right)
    }

    fn chorus() -> ChorusProcessor {
        ChorusProcessor::new(ChorusConfig::instruments(48_000))
    }

    #[test]
    fn an_impulse_comes_back_after_the_delay_of_its_side() {
        let mut impulse = vec![0.0; 2_000];
        impulse[0] = 1.0;
        let (left, right) = run(&mut chorus(), &impulse, 256);
        let place = |side: &[f32]| side.iter().position(|value| *value > 0.0).expect("an echo");
        // The left drift starts in the middle and rises, the right one at its highest.
        assert!((384..=386).contains(&place(&left)), "left after {}", place(&left));
        assert!((503..=504).contains(&place(&right)), "right after {}", place(&right));
    }

    #[test]
    fn a_constant_passes_with_gain_one() {
        let (left, right) = run(&mut chorus(), &[0.5; 48_000], 300);
        assert!(left[1_000..].iter().chain(&right[1_000..]).all(|value| *value == 0.5));
    }

    #[test]
    fn any_call_size_gives_the_same_and_reset_equals_new() {
        let send: Vec<f32> = (0..30_000).map(|n| libm::sin(f64::from(n) * 0.05) as f32).collect();
        let mut used = chorus();
        let expected = run(&mut used, &send, 256);
        assert!(run(&mut chorus(), &send, 1) == expected);
        used.reset();
        assert!(run(&mut used, &send, 4_096) == expected);
    }
}

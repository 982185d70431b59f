//! The chorus that all instruments of a session share: a delay that drifts, a quarter of a turn
//! apart on the two sides (Dattorro, "Effect Design, Part 2", JAES 45-10, 1997).

use alloc::vec;
use alloc::vec::Vec;

use crate::session::ChorusSettings;

/// Entries of the table of one turn of the drift.
const TURN_STEPS: usize = 4_096;
/// Bits of the phase below the table's index.
const STEP_BITS: u32 = 32 - TURN_STEPS.trailing_zeros();

/// Highest gain of what the chorus adds.
const LEVEL_MAX: f32 = 4.0;

/// Longest delay and widest drift that the lines hold, in seconds.
const DELAY_MAX_SECS: f64 = 0.05;
const DEPTH_MAX_SECS: f64 = 0.02;

/// A delay: whole frames, and the share of one more.
#[derive(Debug, Clone, Copy)]
struct Delay {
    frames: u32,
    share: f32,
}

impl Delay {
    const ONE_FRAME: Self = Self { frames: 1, share: 0.0 };

    fn new(frames: f64) -> Self {
        let frames = frames.max(1.0) as f32;
        let whole = frames as u32;
        Self { frames: whole, share: frames - whole as f32 }
    }
}

/// Most frames that are computed at a time.
const PART_FRAMES: usize = 64;

/// Turns a mono send into its drifting stereo copy.
#[derive(Debug, Clone)]
pub struct ChorusProcessor {
    settings: ChorusSettings,
    rate_hz: f64,
    /// A power of two of frames, in a ring.
    line: Vec<f32>,
    place: usize,
    /// At each step of a turn.
    delays: Vec<Delay>,
    /// A whole turn is 2^32.
    phase: u32,
    phase_per_frame: u32,
    /// Frames for which nothing has come in, up to some more than the line holds.
    quiet_frames: usize,
}

impl ChorusProcessor {
    /// A chorus at rest. Settings outside their ranges count as the nearest end.
    pub fn new(settings: ChorusSettings, sample_rate_hz: u32) -> Self {
        let rate_hz = f64::from(sample_rate_hz);
        let longest = ((DELAY_MAX_SECS + DEPTH_MAX_SECS) * rate_hz) as usize + 3;
        let longest = (longest + PART_FRAMES).next_power_of_two();
        let mut chorus = Self {
            settings,
            rate_hz,
            line: vec![0.0; longest],
            place: 0,
            delays: vec![Delay::ONE_FRAME; TURN_STEPS],
            phase: 0,
            phase_per_frame: 0,
            quiet_frames: longest,
        };
        chorus.shape();
        chorus
    }

    /// Goes on with other settings. Allocates nothing.
    pub fn set(&mut self, settings: ChorusSettings) {
        if settings != self.settings {
            self.settings = settings;
            self.shape();
        }
    }

    fn shape(&mut self) {
        let ChorusSettings { delay_secs, depth_secs, rate_hz, .. } = self.settings;
        let delay_secs = delay_secs.clamp(0.001, DELAY_MAX_SECS);
        let depth_secs = depth_secs.clamp(0.0, DEPTH_MAX_SECS.min(delay_secs));
        for (step, delay) in self.delays.iter_mut().enumerate() {
            let drift = libm::sin(core::f64::consts::TAU * step as f64 / TURN_STEPS as f64);
            *delay = Delay::new((delay_secs + depth_secs * drift) * self.rate_hz);
        }
        self.phase_per_frame = (rate_hz.clamp(0.05, 10.0) / self.rate_hz * 4_294_967_296.0) as u32;
    }

    /// Silent, and where the copies have drifted to after so many frames from the start of a new
    /// chorus.
    pub fn reset(&mut self, frame: u64) {
        self.line.fill(0.0);
        self.place = 0;
        // Turns are counted in parts of 2^32, and so may frames be.
        self.phase = self.phase_per_frame.wrapping_mul(frame as u32);
        self.quiet_frames = self.line.len();
    }

    /// Adds the drifting copies of the send to `left` and `right`; all have the same length.
    pub fn process(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let parts = send.chunks(PART_FRAMES).zip(left.chunks_mut(PART_FRAMES));
        for ((send, left), right) in parts.zip(right.chunks_mut(PART_FRAMES)) {
            self.process_part(send, left, right);
        }
    }

    fn process_part(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        const QUARTER_TURN: u32 = 1 << 30;
        let frames = send.len();
        let last = send.iter().rposition(|value| *value != 0.0);
        // Until nothing is left in the line.
        if last.is_some() || self.quiet_frames < self.line.len() {
            self.quiet_frames = last.map_or(self.quiet_frames + frames, |last| frames - 1 - last);
            let to_end = (self.line.len() - self.place).min(frames);
            self.line[self.place..self.place + to_end].copy_from_slice(&send[..to_end]);
            self.line[..frames - to_end].copy_from_slice(&send[to_end..]);
            self.add_delayed(self.phase, left);
            self.add_delayed(self.phase.wrapping_add(QUARTER_TURN), right);
        }
        self.phase = self.phase.wrapping_add(self.phase_per_frame.wrapping_mul(frames as u32));
        self.place = (self.place + frames) & (self.line.len() - 1);
    }

    /// Adds the signal as it was the phase's delay ago, read between two frames.
    fn add_delayed(&self, mut phase: u32, mut sums: &mut [f32]) {
        const TO_STEP: u32 = (1 << STEP_BITS) - 1;
        let level = self.settings.level.clamp(0.0, LEVEL_MAX);
        let mask = self.line.len() - 1;
        let mut place = self.place;
        while !sums.is_empty() {
            // The delay stays for some frames, which stand in a row up to the end of the ring.
            let Delay { frames, share } = self.delays[(phase >> STEP_BITS) as usize];
            let stays = (TO_STEP - (phase & TO_STEP)) / self.phase_per_frame + 1;
            let first = place.wrapping_sub(frames as usize + 1) & mask;
            let to_end = self.line.len() - 1 - first;
            let run = sums.len().min(stays as usize).min(to_end.max(1));
            let (now, later) = sums.split_at_mut(run);
            let add = |(sum, (older, newer)): (&mut f32, (&f32, &f32))| {
                *sum += level * (newer + (older - newer) * share);
            };
            if to_end == 0 {
                add((&mut now[0], (&self.line[first], &self.line[0])));
            } else {
                let row = &self.line[first..=first + run];
                now.iter_mut().zip(row.iter().zip(&row[1..])).for_each(add);
            }
            phase = phase.wrapping_add(self.phase_per_frame.wrapping_mul(run as u32));
            place = (place + run) & mask;
            sums = later;
        }
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
            assert_no_alloc::assert_no_alloc(|| chorus.process(send, left, right));
        }
        (left, right)
    }

    fn chorus() -> ChorusProcessor {
        ChorusProcessor::new(ChorusSettings::default(), 48_000)
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
    fn nothing_comes_back_out_of_a_long_silence() {
        let mut send = vec![0.0; 8_000];
        send[0] = 1.0;
        for late in [3_400, 3_563, 3_700] {
            let mut send = send.clone();
            send[late] = 1e-9;
            let (left, right) = run(&mut chorus(), &send, 256);
            let loudest = left[late..].iter().chain(&right[late..]).fold(0.0_f32, |a, b| a.max(b.abs()));
            assert!(loudest < 1e-8, "{loudest} after {late} frames");
        }
    }

    #[test]
    fn any_call_size_gives_the_same_and_reset_equals_new() {
        let send: Vec<f32> = (0..30_000).map(|n| libm::sin(f64::from(n) * 0.05) as f32).collect();
        let mut used = chorus();
        let expected = run(&mut used, &send, 256);
        assert!(run(&mut chorus(), &send, 1) == expected);
        used.reset(0);
        assert!(run(&mut used, &send, 4_096) == expected);
    }
}

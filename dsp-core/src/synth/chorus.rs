//! The chorus that all instruments of a session share.
//!
//! It is a delay that is modulated by an LFO (Dattorro, "Effect Design, Part 2", JAES 45-10, 1997).
//! The phase of the LFO on the right is a quarter cycle ahead of that on the left.

use alloc::vec;
use alloc::vec::Vec;

use crate::session::ChorusSettings;

/// Number of entries in the delay table of one LFO cycle.
const CYCLE_STEPS: usize = 4_096;
/// Number of bits of the LFO's phase below the index in the delay table.
const STEP_BITS: u32 = 32 - CYCLE_STEPS.trailing_zeros();

/// Maximum linear gain of the output.
const LEVEL_MAX: f32 = 4.0;

/// Maximum of the mean delay in seconds.
const DELAY_MAX_SECS: f64 = 0.05;
/// Maximum of the modulation depth in seconds.
const DEPTH_MAX_SECS: f64 = 0.02;

/// A delay of whole frames and a fraction of a frame.
#[derive(Debug, Clone, Copy)]
struct Delay {
    frames: u32,
    fraction: f32,
}

impl Delay {
    const ONE_FRAME: Self = Self { frames: 1, fraction: 0.0 };

    fn new(frames: f64) -> Self {
        let frames = frames.max(1.0) as f32;
        let whole_frames = frames as u32;
        Self { frames: whole_frames, fraction: frames - whole_frames as f32 }
    }
}

/// Maximum number of frames that are computed at a time.
const MAX_CHUNK_FRAMES: usize = 64;

/// Adds delayed copies of a mono send to left and right.
#[derive(Debug, Clone)]
pub struct ChorusProcessor {
    settings: ChorusSettings,
    rate_hz: f64,
    /// Ring buffer of the input. Its length is a power of two.
    ring: Vec<f32>,
    /// Index of the next input in the ring buffer.
    write_index: usize,
    /// The delay at each step of an LFO cycle.
    delays: Vec<Delay>,
    /// Phase of the LFO. A cycle is 2^32.
    phase: u32,
    phase_per_frame: u32,
    /// Number of frames since the last input that was not silent. The count stops once it has
    /// reached the length of the ring buffer.
    silent_input_frames: usize,
}

impl ChorusProcessor {
    /// Creates a silent chorus. Settings outside their ranges are clamped.
    pub fn new(settings: ChorusSettings, sample_rate_hz: u32) -> Self {
        let rate_hz = f64::from(sample_rate_hz);
        let max_delay_frames = ((DELAY_MAX_SECS + DEPTH_MAX_SECS) * rate_hz) as usize + 3;
        let ring_frames = (max_delay_frames + MAX_CHUNK_FRAMES).next_power_of_two();
        let mut chorus = Self {
            settings,
            rate_hz,
            ring: vec![0.0; ring_frames],
            write_index: 0,
            delays: vec![Delay::ONE_FRAME; CYCLE_STEPS],
            phase: 0,
            phase_per_frame: 0,
            silent_input_frames: ring_frames,
        };
        chorus.update_delays();
        chorus
    }

    /// Changes the settings. It may be called while audio is processed, and does not allocate.
    pub fn set_settings(&mut self, settings: ChorusSettings) {
        if settings != self.settings {
            self.settings = settings;
            self.update_delays();
        }
    }

    fn update_delays(&mut self) {
        let ChorusSettings { delay_secs, depth_secs, rate_hz, .. } = self.settings;
        let delay_secs = delay_secs.clamp(0.001, DELAY_MAX_SECS);
        let depth_secs = depth_secs.clamp(0.0, DEPTH_MAX_SECS.min(delay_secs));
        for (step, delay) in self.delays.iter_mut().enumerate() {
            let offset = libm::sin(core::f64::consts::TAU * step as f64 / CYCLE_STEPS as f64);
            *delay = Delay::new((delay_secs + depth_secs * offset) * self.rate_hz);
        }
        self.phase_per_frame = (rate_hz.clamp(0.05, 10.0) / self.rate_hz * 4_294_967_296.0) as u32;
    }

    /// Clears the delay. Sets the LFO to its phase `frame` frames after the start of the session.
    pub fn reset(&mut self, frame: u64) {
        self.ring.fill(0.0);
        self.write_index = 0;
        // The phase wraps around at 2^32, so the upper 32 bits of `frame` have no effect.
        self.phase = self.phase_per_frame.wrapping_mul(frame as u32);
        self.silent_input_frames = self.ring.len();
    }

    /// Adds the delayed copies of `send` to `left` and `right`. All three slices have the same
    /// length.
    pub fn process(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let chunks = send.chunks(MAX_CHUNK_FRAMES).zip(left.chunks_mut(MAX_CHUNK_FRAMES));
        for ((send, left), right) in chunks.zip(right.chunks_mut(MAX_CHUNK_FRAMES)) {
            self.process_chunk(send, left, right);
        }
    }

    fn process_chunk(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        const QUARTER_CYCLE: u32 = 1 << 30;
        let frames = send.len();
        let last_audible = send.iter().rposition(|value| *value != 0.0);
        // Processing pauses while the ring buffer is silent.
        if last_audible.is_some() || self.silent_input_frames < self.ring.len() {
            self.silent_input_frames = last_audible
                .map_or(self.silent_input_frames + frames, |last_audible| frames - 1 - last_audible);
            let to_end = (self.ring.len() - self.write_index).min(frames);
            self.ring[self.write_index..self.write_index + to_end].copy_from_slice(&send[..to_end]);
            self.ring[..frames - to_end].copy_from_slice(&send[to_end..]);
            self.add_delayed(self.phase, left);
            self.add_delayed(self.phase.wrapping_add(QUARTER_CYCLE), right);
        }
        self.phase = self.phase.wrapping_add(self.phase_per_frame.wrapping_mul(frames as u32));
        self.write_index = (self.write_index + frames) & (self.ring.len() - 1);
    }

    /// Adds the delayed signal to `sums`, with linear interpolation. `phase` is that of the LFO.
    fn add_delayed(&self, mut phase: u32, mut sums: &mut [f32]) {
        const STEP_MASK: u32 = (1 << STEP_BITS) - 1;
        let level = self.settings.level.clamp(0.0, LEVEL_MAX);
        let mask = self.ring.len() - 1;
        let mut index = self.write_index;
        while !sums.is_empty() {
            // The delay is constant for some frames. The frames to read are contiguous up to the
            // end of the ring buffer.
            let Delay { frames, fraction } = self.delays[(phase >> STEP_BITS) as usize];
            let constant_frames = (STEP_MASK - (phase & STEP_MASK)) / self.phase_per_frame + 1;
            let first = index.wrapping_sub(frames as usize + 1) & mask;
            let to_end = self.ring.len() - 1 - first;
            let chunk_frames = sums.len().min(constant_frames as usize).min(to_end.max(1));
            let (chunk, remaining) = sums.split_at_mut(chunk_frames);
            let add = |(sum, (older, newer)): (&mut f32, (&f32, &f32))| {
                *sum += level * (newer + (older - newer) * fraction);
            };
            if to_end == 0 {
                add((&mut chunk[0], (&self.ring[first], &self.ring[0])));
            } else {
                let values = &self.ring[first..=first + chunk_frames];
                chunk.iter_mut().zip(values.iter().zip(&values[1..])).for_each(add);
            }
            phase = phase.wrapping_add(self.phase_per_frame.wrapping_mul(chunk_frames as u32));
            index = (index + chunk_frames) & mask;
            sums = remaining;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(chorus: &mut ChorusProcessor, send: &[f32], call_frames: usize) -> (Vec<f32>, Vec<f32>) {
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
    fn an_impulse_is_delayed_by_the_lfo_phase_of_each_side() {
        let mut impulse = vec![0.0; 2_000];
        impulse[0] = 1.0;
        let (left, right) = process(&mut chorus(), &impulse, 256);
        let first =
            |side: &[f32]| side.iter().position(|value| *value > 0.0).expect("the output has an echo");
        // The LFO of the left side starts at 0 and rises. That of the right side starts at its
        // maximum.
        assert!((384..=386).contains(&first(&left)), "left is delayed by {} frames", first(&left));
        assert!((503..=504).contains(&first(&right)), "right is delayed by {} frames", first(&right));
    }

    #[test]
    fn a_constant_input_passes_with_unity_gain() {
        let (left, right) = process(&mut chorus(), &[0.5; 48_000], 300);
        assert!(left[1_000..].iter().chain(&right[1_000..]).all(|value| *value == 0.5));
    }

    #[test]
    fn old_input_does_not_return_after_a_long_silence() {
        let mut send = vec![0.0; 8_000];
        send[0] = 1.0;
        for second in [3_400, 3_563, 3_700] {
            let mut send = send.clone();
            send[second] = 1e-9;
            let (left, right) = process(&mut chorus(), &send, 256);
            let loudest = left[second..].iter().chain(&right[second..]).fold(0.0_f32, |a, b| a.max(b.abs()));
            assert!(loudest < 1e-8, "magnitude {loudest} after frame {second}");
        }
    }

    #[test]
    fn the_output_does_not_depend_on_the_call_size_and_a_reset_equals_a_new_chorus() {
        let send: Vec<f32> = (0..30_000).map(|n| libm::sin(f64::from(n) * 0.05) as f32).collect();
        let mut reused = chorus();
        let expected = process(&mut reused, &send, 256);
        assert!(process(&mut chorus(), &send, 1) == expected);
        reused.reset(0);
        assert!(process(&mut reused, &send, 4_096) == expected);
    }
}

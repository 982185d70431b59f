//! The look-ahead limiter of the mix: a sample-peak ceiling that no output exceeds.
//!
//! The gain that each frame needs, `ceiling / peak`, is held at its minimum over the look-ahead
//! window and then averaged over a window of the same length. The average of minima that
//! all include a peak is never above what the peak needs, so the ceiling holds by
//! construction, and the averaging makes the gain move smoothly (Signalsmith's and Giannoulis'
//! descriptions of peak limiting both build on this). The running average is kept in integers:
//! it cannot drift, and it is the same on every machine. A signal below the ceiling passes
//! unchanged, to the bit, delayed by [`LimiterProcessor::latency_frames`].

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// The ceiling of the offline mix, in dBFS.
pub const MIX_CEILING_DBFS: f64 = -3.0;

/// Gains are averaged as multiples of 2^-32.
const UNITY: u64 = 1 << 32;

/// What a limiter is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimiterConfig {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Highest magnitude of any output sample, in dBFS.
    pub ceiling_dbfs: f64,
    /// How far ahead peaks are seen, in seconds; also how long the gain takes to fall.
    pub lookahead_secs: f64,
    /// Time constant in which the gain recovers, in seconds.
    pub release_secs: f64,
}

impl LimiterConfig {
    /// The limiter of the mix: -3 dBFS, 1.5 ms look-ahead, 80 ms release.
    pub fn mix(sample_rate_hz: u32) -> Self {
        Self { sample_rate_hz, ceiling_dbfs: MIX_CEILING_DBFS, lookahead_secs: 0.0015, release_secs: 0.08 }
    }
}

/// A stereo look-ahead limiter; both channels share one gain.
#[derive(Debug, Clone)]
pub struct LimiterProcessor {
    ceiling: f32,
    release_per_frame: f64,
    window_frames: usize,
    /// The signal on its way through the look-ahead.
    delay: Vec<(f32, f32)>,
    /// Averaged gains, as multiples of 1/[`UNITY`].
    held_gains: Vec<u64>,
    held_sum: u64,
    /// Place of the frame in `delay` and `held_gains` that comes out next.
    place: usize,
    /// Falling candidates for the minimum of the window: frame number and needed gain.
    minima: VecDeque<(u64, f32)>,
    frame: u64,
    /// In double precision: close to 1 the steps of a slow recovery vanish in an f32.
    released_gain: f64,
}

impl LimiterProcessor {
    /// A limiter at rest.
    pub fn new(config: LimiterConfig) -> Self {
        let rate_hz = f64::from(config.sample_rate_hz);
        let window_frames = (libm::round(config.lookahead_secs * rate_hz) as usize).max(1);
        let release_frames = (config.release_secs * rate_hz).max(1.0);
        Self {
            ceiling: crate::gain::from_db(config.ceiling_dbfs),
            release_per_frame: 1.0 - libm::exp(-1.0 / release_frames),
            window_frames,
            delay: vec![(0.0, 0.0); window_frames],
            held_gains: vec![UNITY; window_frames],
            held_sum: UNITY * window_frames as u64,
            place: 0,
            minima: VecDeque::with_capacity(window_frames + 1),
            frame: 0,
            released_gain: 1.0,
        }
    }

    /// Frames by which the output lags the input.
    pub fn latency_frames(&self) -> usize {
        self.window_frames
    }

    /// Back to the state of a new limiter.
    pub fn reset(&mut self) {
        self.delay.fill((0.0, 0.0));
        self.held_gains.fill(UNITY);
        self.held_sum = UNITY * self.window_frames as u64;
        self.place = 0;
        self.minima.clear();
        self.frame = 0;
        self.released_gain = 1.0;
    }

    /// Limits `left` and `right` in place. Both have the same length, any length; values that
    /// are not finite count as silence.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        for (left, right) in left.iter_mut().zip(right.iter_mut()) {
            let (new_left, new_right) = (finite(*left), finite(*right));
            let loud = new_left.abs().max(new_right.abs()) > self.ceiling;
            (*left, *right) = if loud || !self.is_at_rest() {
                self.process_frame(new_left, new_right)
            } else {
                self.pass_frame(new_left, new_right)
            };
        }
    }

    /// Whether every gain in memory is 1, so that a frame below the ceiling changes none.
    fn is_at_rest(&self) -> bool {
        self.minima.is_empty() && self.held_sum == UNITY * self.window_frames as u64
    }

    /// What [`Self::process_frame`] does at rest to a frame below the ceiling.
    fn pass_frame(&mut self, left: f32, right: f32) -> (f32, f32) {
        let delayed = core::mem::replace(&mut self.delay[self.place], (left, right));
        self.place += 1;
        if self.place == self.window_frames {
            self.place = 0;
        }
        self.frame += 1;
        delayed
    }

    fn process_frame(&mut self, left: f32, right: f32) -> (f32, f32) {
        let peak = left.abs().max(right.abs());
        let needed = if peak > self.ceiling { self.ceiling / peak } else { 1.0 };
        self.remember_minimum(needed);
        let minimum = self.minima.front().map_or(1.0, |(_, gain)| f64::from(*gain));
        // Falls at once, recovers exponentially; ends exactly at 1.
        self.released_gain = if minimum < self.released_gain {
            minimum
        } else {
            let risen = self.released_gain + (minimum - self.released_gain) * self.release_per_frame;
            if minimum - risen < 1e-6 { minimum } else { risen }
        };
        // Truncation rounds the gain down, so the ceiling still holds.
        let held = (self.released_gain * UNITY as f64) as u64;
        self.held_sum = self.held_sum - self.held_gains[self.place] + held;
        self.held_gains[self.place] = held;
        let (delayed_left, delayed_right) = core::mem::replace(&mut self.delay[self.place], (left, right));
        self.place = (self.place + 1) % self.window_frames;
        self.frame += 1;

        let average = self.held_sum / self.window_frames as u64;
        if average == UNITY {
            return (delayed_left, delayed_right);
        }
        let gain = (average as f64 / UNITY as f64) as f32;
        let limit = |value: f32| (value * gain).clamp(-self.ceiling, self.ceiling);
        (limit(delayed_left), limit(delayed_right))
    }

    /// Keeps `minima` a falling-to-rising list of which the front is the minimum of the last
    /// `window_frames + 1` needed gains: the delayed frame's own and all that follow it. A gain of 1
    /// limits nothing and is left out.
    fn remember_minimum(&mut self, needed: f32) {
        while needed < 1.0 && self.minima.back().is_some_and(|&(_, gain)| gain >= needed) {
            self.minima.pop_back();
        }
        if self.minima.front().is_some_and(|&(frame, _)| frame + (self.window_frames as u64) < self.frame) {
            self.minima.pop_front();
        }
        if needed < 1.0 {
            self.minima.push_back((self.frame, needed));
        }
    }
}

fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise with bursts far above full scale, from a linear congruential generator.
    fn bursts(frames: usize) -> Vec<f32> {
        let mut state = 1_u32;
        (0..frames)
            .map(|frame| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / 8_388_608.0 - 1.0;
                noise * if (frame / 700) % 3 == 0 { 6.0 } else { 0.2 }
            })
            .collect()
    }

    fn limit(input: &[f32], call_frames: usize) -> Vec<f32> {
        let mut limiter = LimiterProcessor::new(LimiterConfig::mix(48_000));
        let mut left = input.to_vec();
        let mut right: Vec<f32> = input.iter().map(|value| -0.5 * value).collect();
        for (left, right) in left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames)) {
            limiter.process(left, right);
        }
        left
    }

    #[test]
    fn nothing_exceeds_the_ceiling() {
        let ceiling = crate::gain::from_db(-3.0);
        let output = limit(&bursts(50_000), 128);
        let peak = output.iter().fold(0.0_f32, |peak, value| peak.max(value.abs()));
        assert!(peak <= ceiling, "peak {peak} above {ceiling}");
        assert!(peak > 0.9 * ceiling, "peak {peak}: far below the ceiling");
    }

    #[test]
    fn a_loud_tone_keeps_its_shape() {
        // Where a limiter clips, values repeat at the ceiling: a limited tone has none in a row.
        let tone: Vec<f32> = (0..48_000).map(|frame| 4.0 * libm::sin(frame as f64 * 0.03) as f32).collect();
        let output = limit(&tone, 256);
        let ceiling = crate::gain::from_db(-3.0);
        let flat = output.windows(3).filter(|w| w.iter().all(|v| v.abs() >= ceiling * 0.999_99)).count();
        assert_eq!(flat, 0);
    }

    #[test]
    fn a_quiet_signal_passes_to_the_bit() {
        let input: Vec<f32> = bursts(10_000).iter().map(|value| value * 0.1).collect();
        let latency = LimiterProcessor::new(LimiterConfig::mix(48_000)).latency_frames();
        assert_eq!(latency, 72);
        assert_eq!(limit(&input, 256)[latency..], input[..input.len() - latency]);
    }

    #[test]
    fn recovers_to_unity_after_a_burst() {
        let mut input = vec![3.0; 100];
        input.extend(vec![0.25; 200_000]);
        assert_eq!(*limit(&input, 512).last().unwrap(), 0.25);
    }

    #[test]
    fn any_call_size_gives_the_same_output() {
        let input = bursts(5_000);
        let expected = limit(&input, 512);
        for call_frames in [1, 7, 128, 4_096] {
            assert_eq!(limit(&input, call_frames), expected, "{call_frames} frames at a time");
        }
    }

    #[test]
    fn reset_equals_new_and_nothing_allocates() {
        let input = bursts(3_000);
        let mut limiter = LimiterProcessor::new(LimiterConfig::mix(48_000));
        let run = |limiter: &mut LimiterProcessor| {
            let (mut left, mut right) = (input.clone(), input.clone());
            assert_no_alloc::assert_no_alloc(|| limiter.process(&mut left, &mut right));
            left
        };
        let first = run(&mut limiter);
        assert_no_alloc::assert_no_alloc(|| limiter.reset());
        assert_eq!(run(&mut limiter), first);
    }

    #[test]
    fn values_that_are_not_finite_become_silence() {
        let mut input = vec![0.1; 300];
        input[10] = f32::NAN;
        input[20] = f32::INFINITY;
        assert!(limit(&input, 64).iter().all(|value| value.is_finite()));
    }
}

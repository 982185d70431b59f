//! Rooms that are made rather than measured.
//!
//! A late reverberation is noise that decays exponentially, its highs faster than its lows (J. A. Moorer, "About
//! This Reverberation Business", Computer Music Journal 3-2, 1979). Each channel has noise of its own; a
//! first-order filter parts it in two bands, each with its own time to fall by 60 dB.

use alloc::vec;
use alloc::vec::Vec;

/// A room.
pub(super) struct Room {
    /// Time for 60 dB below and above the crossover, in seconds.
    low_secs: f64,
    high_secs: f64,
    crossover_hz: f64,
    /// How long the sound takes to build up, in seconds.
    onset_secs: f64,
    /// Level of the highs at the start, beside the lows.
    brightness: f64,
}

/// A room of a few metres, full of things.
pub(super) const SMALL_ROOM: Room =
    Room { low_secs: 0.45, high_secs: 0.25, crossover_hz: 2_500.0, onset_secs: 0.002, brightness: 0.7 };

/// A concert hall.
pub(super) const HALL: Room =
    Room { low_secs: 2.2, high_secs: 1.1, crossover_hz: 2_000.0, onset_secs: 0.025, brightness: 0.6 };

/// A sheet of steel: dense at once, and bright.
pub(super) const PLATE: Room =
    Room { low_secs: 1.6, high_secs: 1.3, crossover_hz: 4_000.0, onset_secs: 0.0005, brightness: 1.0 };

impl Room {
    /// Its response at a sample rate, left and right, until it has fallen by 60 dB.
    pub(super) fn response(&self, sample_rate_hz: f64, seed: u64) -> [Vec<f32>; 2] {
        let frames = libm::ceil(self.low_secs * sample_rate_hz) as usize;
        let mut random = Random { state: seed };
        core::array::from_fn(|_| self.channel(frames, sample_rate_hz, &mut random))
    }

    fn channel(&self, frames: usize, sample_rate_hz: f64, random: &mut Random) -> Vec<f32> {
        // e^(-6.91 t / T): 60 dB in T.
        let per_frame = |secs: f64| libm::exp(-3.0 * core::f64::consts::LN_10 / (secs * sample_rate_hz));
        let (low_decay, high_decay) = (per_frame(self.low_secs), per_frame(self.high_secs));
        let onset = libm::exp(-1.0 / (self.onset_secs * sample_rate_hz));
        let pole = libm::exp(-core::f64::consts::TAU * self.crossover_hz / sample_rate_hz);
        let (mut low, mut missing, mut low_level, mut high_level) = (0.0, 1.0, 1.0, self.brightness);
        let mut values = vec![0.0; frames];
        for value in &mut values {
            let noise = random.next();
            low = noise + (low - noise) * pole;
            missing *= onset;
            *value = ((low * low_level + (noise - low) * high_level) * (1.0 - missing)) as f32;
            low_level *= low_decay;
            high_level *= high_decay;
        }
        values
    }
}

/// SplitMix64, as in `dither.rs`.
struct Random {
    state: u64,
}

impl Random {
    /// The next value, uniform between -1 and 1.
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).cast_signed() as f64 / 9_223_372_036_854_775_808.0
    }
}

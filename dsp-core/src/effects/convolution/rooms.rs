//! Impulse responses of synthetic rooms.
//!
//! Late reverberation is noise with an exponential decay, which is faster for high frequencies (J.
//! A. Moorer, "About This Reverberation Business", Computer Music Journal 3-2, 1979). Each channel
//! has independent noise. A filter of first order splits it into two bands with different decay
//! times.

/// Parameters of a room's impulse response.
pub(super) struct Room {
    /// RT60 below and above the crossover, in seconds.
    low_secs: f64,
    high_secs: f64,
    crossover_hz: f64,
    /// Time constant of the onset, in seconds.
    onset_secs: f64,
    /// Initial level of the high band relative to the low band.
    brightness: f64,
}

/// A furnished room a few metres long.
pub(super) const SMALL_ROOM: Room =
    Room { low_secs: 0.45, high_secs: 0.25, crossover_hz: 2_500.0, onset_secs: 0.002, brightness: 0.7 };

/// A concert hall.
pub(super) const HALL: Room =
    Room { low_secs: 2.2, high_secs: 1.1, crossover_hz: 2_000.0, onset_secs: 0.025, brightness: 0.6 };

/// A plate reverb: dense from the start, and bright.
pub(super) const PLATE: Room =
    Room { low_secs: 1.6, high_secs: 1.3, crossover_hz: 4_000.0, onset_secs: 0.0005, brightness: 1.0 };

impl Room {
    /// Returns the length of the response in frames: the RT60 of the low band.
    pub(super) fn frames(&self, sample_rate_hz: f64) -> usize {
        libm::ceil(self.low_secs * sample_rate_hz) as usize
    }

    /// Returns iterators over the samples of left and right, with an expected energy of 1.
    pub(super) fn sides(&self, sample_rate_hz: f64, seed: u64) -> [RoomNoise; 2] {
        // The amplitude e^(-6.91 t / T) falls by 60 dB in T seconds.
        let decay_per_frame =
            |secs: f64| libm::exp(-3.0 * core::f64::consts::LN_10 / (secs * sample_rate_hz));
        let frames = self.frames(sample_rate_hz);
        let left = RoomNoise {
            random: Random { state: seed },
            pole: libm::exp(-core::f64::consts::TAU * self.crossover_hz / sample_rate_hz),
            decays: [decay_per_frame(self.low_secs), decay_per_frame(self.high_secs)],
            onset_decay: libm::exp(-1.0 / (self.onset_secs * sample_rate_hz)),
            low: 0.0,
            levels: [1.0, self.brightness],
            onset_complement: 1.0,
        };
        let level = 1.0 / libm::sqrt(left.energy(frames));
        let left = RoomNoise { levels: left.levels.map(|start| start * level), ..left };
        let right = RoomNoise { random: left.random.skip_values(frames as u64), ..left };
        [left, right]
    }
}

/// One channel of a room, as an endless iterator over its samples.
pub(super) struct RoomNoise {
    random: Random,
    /// Coefficient of the filter that splits the bands.
    pole: f64,
    /// Factors by which the low and the high band decay per frame.
    decays: [f64; 2],
    /// Factor by which [`Self::onset_complement`] decays per frame.
    onset_decay: f64,
    /// Output of the filter, which is the noise of the low band.
    low: f64,
    levels: [f64; 2],
    /// 1 minus the gain of the onset.
    onset_complement: f64,
}

impl RoomNoise {
    /// Returns the expected energy of the first `frames` frames. `self` must be at its start.
    ///
    /// For noise of variance `v`, the filter's output has the variance `v (1 - p) / (1 + p)` and
    /// the covariance `v (1 - p)` with the noise. Levels and onset decay by a constant factor per
    /// frame, so their products add up as geometric series.
    fn energy(&self, frames: usize) -> f64 {
        const NOISE_VARIANCE: f64 = 1.0 / 3.0;
        let ([low_decay, high_decay], [low_level, high_level]) = (self.decays, self.levels);
        let (low_variance, covariance) = ((1.0 - self.pole) / (1.0 + self.pole), 1.0 - self.pole);
        // Expands (low (L - H) + noise H)^2 by products of the levels L (low) and H (high).
        let terms = [
            (low_level * low_level * low_variance, low_decay * low_decay),
            (2.0 * low_level * high_level * (covariance - low_variance), low_decay * high_decay),
            (high_level * high_level * (1.0 - 2.0 * covariance + low_variance), high_decay * high_decay),
        ];
        // Expands the factor (1 - M)^2 of the onset, where M is `onset_complement`.
        let onset = [(1.0, 1.0), (-2.0, self.onset_decay), (1.0, self.onset_decay * self.onset_decay)];
        let sum = |first: f64, ratio: f64| first * (1.0 - libm::pow(ratio, frames as f64)) / (1.0 - ratio);
        let products = terms
            .iter()
            .flat_map(|(term, decay)| onset.map(|(factor, ratio)| sum(term * factor * ratio, decay * ratio)));
        NOISE_VARIANCE * products.sum::<f64>()
    }
}

impl Iterator for RoomNoise {
    type Item = f32;

    fn next(&mut self) -> Option<f32> {
        let noise = self.random.next();
        self.low = noise + (self.low - noise) * self.pole;
        self.onset_complement *= self.onset_decay;
        let [low_level, high_level] = &mut self.levels;
        let value =
            (self.low * *low_level + (noise - self.low) * *high_level) * (1.0 - self.onset_complement);
        *low_level *= self.decays[0];
        *high_level *= self.decays[1];
        Some(value as f32)
    }
}

/// Increment of the state of [`Random`].
const STATE_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The SplitMix64 generator (S. Vigna).
struct Random {
    state: u64,
}

impl Random {
    /// Returns a copy of the generator that has skipped `values` values.
    fn skip_values(&self, values: u64) -> Self {
        Self { state: self.state.wrapping_add(STATE_STEP.wrapping_mul(values)) }
    }

    /// Returns the next value, uniformly distributed between -1 and 1.
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_add(STATE_STEP);
        let hash = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (hash ^ (hash >> 31)).cast_signed() as f64 / 9_223_372_036_854_775_808.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_energy_of_every_room_is_1_within_0_3_db() {
        for (name, room) in [("small room", SMALL_ROOM), ("hall", HALL), ("plate", PLATE)] {
            for rate_hz in [8_000.0, 48_000.0, 192_000.0] {
                let frames = room.frames(rate_hz);
                let energies: [f64; 16] = core::array::from_fn(|seed| {
                    let sides = room.sides(rate_hz, seed as u64);
                    let values = sides.into_iter().flat_map(|side| side.take(frames));
                    values.map(|value| f64::from(value) * f64::from(value)).sum::<f64>() / 2.0
                });
                let energy_db = |energy: f64| 10.0 * libm::log10(energy);
                let mean_db = energy_db(energies.iter().sum::<f64>() / 16.0);
                let worst_db = energies.into_iter().map(|energy| energy_db(energy).abs()).fold(0.0, f64::max);
                println!("{name} at {rate_hz} Hz: mean {mean_db:.3} dB, largest deviation {worst_db:.3} dB");
                assert!(mean_db.abs() < 0.1 && worst_db < 0.3, "energy of the {name} at {rate_hz} Hz");
            }
        }
    }
}

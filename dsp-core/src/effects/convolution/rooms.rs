//! Synthetic rooms.
//!
//! Late reverberation is noise with an exponential decay, which is faster for high frequencies (J.
//! A. Moorer, "About This Reverberation Business", Computer Music Journal 3-2, 1979). Each channel
//! has independent noise. A filter of first order splits it into two bands with different decay
//! times.

/// A room.
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

/// A furnished room of a few metres.
pub(super) const SMALL_ROOM: Room =
    Room { low_secs: 0.45, high_secs: 0.25, crossover_hz: 2_500.0, onset_secs: 0.002, brightness: 0.7 };

/// A concert hall.
pub(super) const HALL: Room =
    Room { low_secs: 2.2, high_secs: 1.1, crossover_hz: 2_000.0, onset_secs: 0.025, brightness: 0.6 };

/// A plate reverb: dense from the start, and bright.
pub(super) const PLATE: Room =
    Room { low_secs: 1.6, high_secs: 1.3, crossover_hz: 4_000.0, onset_secs: 0.0005, brightness: 1.0 };

impl Room {
    /// Frames of the RT60 of the low band.
    pub(super) fn frames(&self, sample_rate_hz: f64) -> usize {
        libm::ceil(self.low_secs * sample_rate_hz) as usize
    }

    /// Iterators over the samples of left and right, with an expected energy of 1.
    pub(super) fn sides(&self, sample_rate_hz: f64, seed: u64) -> [Side; 2] {
        // e^(-6.91 t / T): 60 dB in T.
        let per_frame = |secs: f64| libm::exp(-3.0 * core::f64::consts::LN_10 / (secs * sample_rate_hz));
        let frames = self.frames(sample_rate_hz);
        let left = Side {
            random: Random { state: seed },
            pole: libm::exp(-core::f64::consts::TAU * self.crossover_hz / sample_rate_hz),
            decays: [per_frame(self.low_secs), per_frame(self.high_secs)],
            onset: libm::exp(-1.0 / (self.onset_secs * sample_rate_hz)),
            low: 0.0,
            levels: [1.0, self.brightness],
            missing: 1.0,
        };
        let level = 1.0 / libm::sqrt(left.energy(frames));
        let left = Side { levels: left.levels.map(|start| start * level), ..left };
        let right = Side { random: left.random.after(frames as u64), ..left };
        [left, right]
    }
}

/// One channel of a room, as an endless iterator over its samples.
pub(super) struct Side {
    random: Random,
    /// Coefficient of the filter that splits the bands.
    pole: f64,
    /// Factors of the low and of the high band per frame.
    decays: [f64; 2],
    /// Factor per frame of the part that the onset lacks.
    onset: f64,
    low: f64,
    levels: [f64; 2],
    missing: f64,
}

impl Side {
    /// Expected energy of the first frames; `self` is at its start.
    ///
    /// For noise of variance `v`, the filter's output has the variance `v (1 - p) / (1 + p)` and
    /// the covariance `v (1 - p)` with the noise. Levels and onset are powers, so their products
    /// add up as geometric series.
    fn energy(&self, frames: usize) -> f64 {
        const VARIANCE: f64 = 1.0 / 3.0;
        let ([low_decay, high_decay], [low_level, high_level]) = (self.decays, self.levels);
        let (of_low, in_common) = ((1.0 - self.pole) / (1.0 + self.pole), 1.0 - self.pole);
        // Expands (low (L - H) + noise H)^2 by products of the levels L (low) and H (high).
        let terms = [
            (low_level * low_level * of_low, low_decay * low_decay),
            (2.0 * low_level * high_level * (in_common - of_low), low_decay * high_decay),
            (high_level * high_level * (1.0 - 2.0 * in_common + of_low), high_decay * high_decay),
        ];
        // The factor (1 - M)^2.
        let onset = [(1.0, 1.0), (-2.0, self.onset), (1.0, self.onset * self.onset)];
        let sum = |first: f64, ratio: f64| first * (1.0 - libm::pow(ratio, frames as f64)) / (1.0 - ratio);
        let products = terms.iter().flat_map(|(term, decay)| {
            onset.map(|(factor, missing)| sum(term * factor * missing, decay * missing))
        });
        VARIANCE * products.sum::<f64>()
    }
}

impl Iterator for Side {
    type Item = f32;

    fn next(&mut self) -> Option<f32> {
        let noise = self.random.next();
        self.low = noise + (self.low - noise) * self.pole;
        self.missing *= self.onset;
        let [low_level, high_level] = &mut self.levels;
        let value = (self.low * *low_level + (noise - self.low) * *high_level) * (1.0 - self.missing);
        *low_level *= self.decays[0];
        *high_level *= self.decays[1];
        Some(value as f32)
    }
}

/// Increment of the state of [`Random`].
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (S. Vigna), as in `dither.rs`.
struct Random {
    state: u64,
}

impl Random {
    /// The generator after a number of values.
    fn after(&self, values: u64) -> Self {
        Self { state: self.state.wrapping_add(STEP.wrapping_mul(values)) }
    }

    /// The next value, uniformly distributed between -1 and 1.
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_add(STEP);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).cast_signed() as f64 / 9_223_372_036_854_775_808.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_energy_is_1() {
        for (name, room) in [("small room", SMALL_ROOM), ("hall", HALL), ("plate", PLATE)] {
            for rate_hz in [8_000.0, 48_000.0, 192_000.0] {
                let frames = room.frames(rate_hz);
                let energies: [f64; 16] = core::array::from_fn(|seed| {
                    let sides = room.sides(rate_hz, seed as u64);
                    let values = sides.into_iter().flat_map(|side| side.take(frames));
                    values.map(|value| f64::from(value) * f64::from(value)).sum::<f64>() / 2.0
                });
                let off_db = |energy: f64| 10.0 * libm::log10(energy);
                let mean_db = off_db(energies.iter().sum::<f64>() / 16.0);
                let worst_db = energies.into_iter().map(|energy| off_db(energy).abs()).fold(0.0, f64::max);
                println!("{name} at {rate_hz} Hz: {mean_db:.3} dB in the mean, {worst_db:.3} dB at worst");
                assert!(mean_db.abs() < 0.1 && worst_db < 0.3, "{name} at {rate_hz} Hz");
            }
        }
    }
}

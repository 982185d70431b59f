//! TPDF dither and quantisation to integer samples.
//!
//! The sum of two independent uniform values, each of one step's width, makes the first two
//! moments of the total error independent of the signal (Lipshitz, Wannamaker and Vanderkooy,
//! "Quantization and Dither: A Theoretical Survey", JAES 40-5, 1992): mean 0, power 1/4 LSB^2.

/// A seeded source of triangular dither for one channel.
///
/// The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): integers only, so that
/// the same seed gives the same file on every machine.
#[derive(Debug, Clone)]
pub struct Tpdf {
    state: u64,
}

impl Tpdf {
    /// Dither for channel `channel` of a project with this seed. Channels get sequences of
    /// their own, so that their errors are not correlated.
    pub fn new(seed: u64, channel: u32) -> Self {
        let mut dither = Self { state: seed ^ (u64::from(channel) << 56) };
        dither.next();
        Self { state: dither.next() }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next value of the dither, in steps: triangular over -1 to 1.
    #[inline]
    fn value(&mut self) -> f64 {
        let bits = self.next();
        // The difference of two uniform numbers of 32 bits, exact as a float.
        let difference = (bits >> 32).cast_signed() - (bits & 0xffff_ffff).cast_signed();
        difference as f64 / 4_294_967_296.0
    }

    /// Quantises a sample of full scale 1 to 16 bit with dither.
    ///
    /// The second of the pair says whether the sample lay outside the range and was clipped.
    #[inline]
    pub fn quantize_16(&mut self, sample: f32) -> (i16, bool) {
        let exact = f64::from(sample) * 32_768.0 + self.value() + 0.5;
        // Rounded down; what an i32 cannot hold becomes its nearest end, which clips all the same.
        let truncated = exact as i32;
        let steps = truncated.saturating_sub(i32::from(f64::from(truncated) > exact));
        let clipped = !(-32_768..=32_767).contains(&steps);
        (steps.clamp(-32_768, 32_767) as i16, clipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn error_has_mean_zero_and_a_quarter_of_a_step_squared_at_every_level() {
        let mut dither = Tpdf::new(7, 0);
        let rounds = 200_000;
        for sixty_fourths in 0..=64 {
            let level = f64::from(sixty_fourths) / 64.0;
            let sample = (level / 32_768.0) as f32;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..rounds {
                let error = f64::from(dither.quantize_16(sample).0) - level;
                sum += error;
                squares += error * error;
            }
            let (mean, power) = (sum / f64::from(rounds), squares / f64::from(rounds));
            assert!(mean.abs() < 0.006, "mean {mean} at {level} of a step");
            assert!((power - 0.25).abs() < 0.006, "power {power} at {level} of a step");
        }
    }

    #[test]
    fn channels_are_not_correlated_and_a_seed_repeats() {
        let errors = |seed, channel| -> Vec<f64> {
            let mut dither = Tpdf::new(seed, channel);
            (0..100_000).map(|_| f64::from(dither.quantize_16(0.0).0)).collect()
        };
        let (left, right) = (errors(0, 0), errors(0, 1));
        let product: f64 = left.iter().zip(&right).map(|(a, b)| a * b).sum();
        let correlation = product / (0.25 * left.len() as f64);
        assert!(correlation.abs() < 0.02, "correlation {correlation}");
        assert_eq!(left, errors(0, 0));
        assert_ne!(left, errors(1, 0));
    }

    #[test]
    fn full_scale_is_clipped_and_said() {
        let mut dither = Tpdf::new(0, 0);
        assert_eq!(dither.quantize_16(1.5), (32_767, true));
        assert_eq!(dither.quantize_16(-1.5), (-32_768, true));
        assert!(!dither.quantize_16(0.5).1);
    }
}

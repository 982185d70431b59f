//! Quantiles of durations, in bounded memory.

use std::time::Duration;

/// Upper limit of the first bucket.
const FIRST: Duration = Duration::from_micros(10);

/// Number of buckets. Each is a fifth longer than the one before it, so the last one ends above
/// half a second.
const BUCKETS: usize = 64;
const GROWTH: f64 = 1.2;

/// Counts of durations by their size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeHistogram {
    counts: Box<[u64; BUCKETS]>,
    total: u64,
}

impl Default for TimeHistogram {
    fn default() -> Self {
        Self { counts: Box::new([0; BUCKETS]), total: 0 }
    }
}

impl TimeHistogram {
    pub(super) fn count(&mut self, time: Duration) {
        let ratio = time.as_secs_f64() / FIRST.as_secs_f64();
        let bucket = if ratio <= 1.0 { 0 } else { (ratio.ln() / GROWTH.ln()).ceil() as usize };
        self.counts[bucket.min(BUCKETS - 1)] += 1;
        self.total += 1;
    }

    /// Returns a duration in milliseconds that this part of the durations, 0 to 1, do not exceed,
    /// to a fifth; 0 without durations.
    pub(super) fn quantile_ms(&self, part: f64) -> f64 {
        let wanted = (part * self.total as f64).ceil() as u64;
        let mut sum = 0;
        let reaches = |count: &u64| {
            sum += count;
            sum >= wanted
        };
        let bucket = self.counts.iter().position(reaches).unwrap_or(BUCKETS - 1);
        if self.total == 0 { 0.0 } else { 1e3 * FIRST.as_secs_f64() * GROWTH.powi(bucket as i32) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_a_fifth() {
        let mut times = TimeHistogram::default();
        assert_eq!(times.quantile_ms(0.5), 0.0);
        (1..=1_000).for_each(|ms| times.count(Duration::from_micros(10 * ms)));
        for (part, expected_ms) in [(0.5, 5.0), (0.99, 9.9), (1.0, 10.0)] {
            let quantile_ms = times.quantile_ms(part);
            assert!((expected_ms..=1.2 * expected_ms).contains(&quantile_ms), "{part}: {quantile_ms}");
        }
        times.count(Duration::from_secs(100));
        assert!(times.quantile_ms(1.0) > 500.0);
    }
}

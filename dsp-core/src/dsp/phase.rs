//! Phases of oscillators.

/// The phase of an oscillator, in units of 2^-64 periods. It wraps around after a period.
pub(crate) type Phase = u64;

/// A period as a number: 2^64.
pub(crate) const PERIOD: f64 = 18_446_744_073_709_551_616.0;

/// Returns a phase as a proportion of a period, 0 to 1.
pub(crate) fn fraction_of_period(phase: Phase) -> f64 {
    phase as f64 * (1.0 / PERIOD)
}

/// Converts a number of periods to a phase. Whole periods cancel out.
pub(crate) fn periods(periods: f64) -> Phase {
    ((periods - libm::floor(periods)) * PERIOD) as Phase
}

/// Returns the sine of a phase, accurate to 6e-8: a Taylor series of degree 11 over a quarter of a
/// period.
pub(crate) fn sine(phase: Phase) -> f64 {
    // The phase in half periods, from -1 to 1, is folded into the quarter periods on either side of
    // 0.
    let half_periods = phase.cast_signed() as f64 * (2.0 / PERIOD);
    let folded_periods = if half_periods > 0.5 {
        1.0 - half_periods
    } else if half_periods < -0.5 {
        -1.0 - half_periods
    } else {
        half_periods
    };
    let x = folded_periods * core::f64::consts::PI;
    let square = x * x;
    let series = -1.0 / 39_916_800.0;
    let series = 1.0 / 362_880.0 + square * series;
    let series = -1.0 / 5_040.0 + square * series;
    let series = 1.0 / 120.0 + square * series;
    let series = -1.0 / 6.0 + square * series;
    x + x * square * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_accurate_to_6e_8() {
        for step in -1_000..=3_000 {
            let fraction = f64::from(step) / 2_000.0;
            let expected = libm::sin(core::f64::consts::TAU * fraction);
            assert!((sine(periods(fraction)) - expected).abs() < 6e-8, "sine at {fraction} periods");
        }
    }
}

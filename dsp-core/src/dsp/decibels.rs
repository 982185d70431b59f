//! Decibels of many values at once, in plain arithmetic that compilers vectorise.
//!
//! `libm` is exact but slow. A gain that is computed for every frame needs an accuracy of a
//! thousandth of a decibel and identical bits on every machine. Short series have both.

/// Decibels of a factor of two in amplitude: `20 log10(2)`.
const DB_PER_OCTAVE: f32 = 6.020_6;

/// Bits of `sqrt(1/2)`. Mantissas range from there to `sqrt(2)`, around 1.
const LOWEST_MANTISSA: u32 = 0x3f35_04f3;

/// Adding this rounds a small number to an integer in the lowest bits: `1.5 * 2^23`.
const ROUNDING: f32 = 12_582_912.0;

/// The level of a magnitude in decibels, accurate to 0.0001 dB; about -765 dB for 0.
///
/// With `magnitude = 2^e m` and `s = (m - 1) / (m + 1)`, `ln m` is `2 (s + s^3/3 + s^5/5 + ...)`.
/// Since `|s|` is at most 0.172, the omitted terms are below 0.00001 dB.
#[inline(always)]
pub(crate) fn level_db(magnitude: f32) -> f32 {
    let bits = magnitude.to_bits().wrapping_sub(LOWEST_MANTISSA);
    let exponent = (bits as i32 >> 23) as f32;
    let mantissa = f32::from_bits((bits & 0x007f_ffff) + LOWEST_MANTISSA);
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    // 40 / ln 10 is 2 (20 / ln 10).
    let series = s * (17.371_78 + square * (5.790_593 + square * 3.474_356));
    exponent * DB_PER_OCTAVE + series
}

/// The gain of a level in decibels, accurate to 0.0001 dB from -750 to 750 dB; exactly 1 for 0 dB.
///
/// The gain is `2^(n + f)` with `|f|` up to 0.5. The series of `2^f` up to `f^6` has an error below
/// 0.000002 dB.
#[inline(always)]
pub(crate) fn gain(level_db: f32) -> f32 {
    let octaves = (level_db * (1.0 / DB_PER_OCTAVE)).clamp(-126.0, 126.0);
    let rounded = octaves + ROUNDING;
    let f = octaves - (rounded - ROUNDING);
    // ln(2)^k / k!
    let series = 0.009_618_129 + f * (0.001_333_355_8 + f * 0.000_154_035_3);
    let series = 1.0 + f * (core::f32::consts::LN_2 + f * (0.240_226_5 + f * (0.055_504_11 + f * series)));
    series * f32::from_bits((rounded.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

/// The maximum of two numbers other than NaN. It compiles to one instruction on every target,
/// unlike `f32::max`.
#[inline(always)]
pub(crate) fn higher(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The minimum of two numbers other than NaN.
#[inline(always)]
pub(crate) fn lower(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Writes the peak level of the louder channel at each frame, in dBFS.
#[inline(always)]
pub(crate) fn peak_levels_db([left, right]: [&[f32]; 2], levels_db: &mut [f32]) {
    for ((level, left), right) in levels_db.iter_mut().zip(left).zip(right) {
        *level = level_db(higher(left.abs(), right.abs()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_within_their_bound() {
        let mut worst = 0.0_f64;
        for number in 0..200_000 {
            let magnitude = libm::exp10((f64::from(number) / 200_000.0 - 0.77) * 26.0) as f32;
            let exact = 20.0 * libm::log10(f64::from(magnitude));
            worst = worst.max((f64::from(level_db(magnitude)) - exact).abs());
        }
        println!("level error up to {worst:.7} dB");
        assert!(worst < 1e-4);
        assert_eq!(level_db(1.0), 0.0);
        assert!(level_db(0.0) < -750.0);
    }

    #[test]
    fn gains_are_within_their_bound() {
        let mut worst = 0.0_f64;
        for number in -75_000..75_000_i32 {
            let level_db = number as f32 * 0.01;
            let measured = 20.0 * libm::log10(f64::from(gain(level_db)));
            worst = worst.max((measured - f64::from(level_db)).abs());
        }
        println!("gain error up to {worst:.7} dB");
        assert!(worst < 1e-4);
        assert_eq!(gain(0.0), 1.0);
        assert!(gain(-1e6) > 0.0 && gain(1e6).is_finite());
    }
}

//! Conversion between magnitudes and decibels, in plain arithmetic that compilers vectorise.
//!
//! `libm` is exact but slow. For a gain that is computed in every frame, an accuracy of a
//! thousandth of a decibel is enough. The short series here have this accuracy and give identical
//! bits on every machine.

/// Decibels of a factor of two in amplitude: `20 log10(2)`.
const DB_PER_OCTAVE: f32 = 6.020_6;

/// Bits of `sqrt(1/2)`. Mantissas range from `sqrt(1/2)` to `sqrt(2)`.
const LOWEST_MANTISSA: u32 = 0x3f35_04f3;

/// The number `1.5 * 2^23`. Adding it to a small number leaves the nearest integer in the lowest
/// bits.
const ROUNDING_OFFSET: f32 = 12_582_912.0;

/// Returns the level of a magnitude in decibels, accurate to 0.0001 dB. The level of 0 is about
/// -765 dB.
///
/// With `magnitude = 2^e m` and `s = (m - 1) / (m + 1)`, `ln m` is `2 (s + s^3/3 + s^5/5 + ...)`.
/// Since `|s|` is at most 0.172, the omitted terms are below 0.00002 dB.
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

/// Returns the linear gain of a level in decibels, accurate to 0.0001 dB from -750 to 750 dB. The
/// gain of 0 dB is exactly 1.
///
/// The gain is `2^(n + f)` with `|f|` up to 0.5. The series of `2^f` up to `f^6` has an error below
/// 0.000002 dB.
#[inline(always)]
pub(crate) fn gain(level_db: f32) -> f32 {
    let octaves = (level_db * (1.0 / DB_PER_OCTAVE)).clamp(-126.0, 126.0);
    let rounded_octaves = octaves + ROUNDING_OFFSET;
    let f = octaves - (rounded_octaves - ROUNDING_OFFSET);
    // The coefficient of f^k is ln(2)^k / k!.
    let series = 0.009_618_129 + f * (0.001_333_355_8 + f * 0.000_154_035_3);
    let series = 1.0 + f * (core::f32::consts::LN_2 + f * (0.240_226_5 + f * (0.055_504_11 + f * series)));
    series * f32::from_bits((rounded_octaves.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

/// Returns the maximum of two numbers other than NaN. Unlike `f32::max`, the function compiles to
/// one instruction on every target.
#[inline(always)]
pub(crate) fn higher(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Returns the minimum of two numbers other than NaN.
#[inline(always)]
pub(crate) fn lower(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Writes the peak level of the louder channel in each frame, in dBFS.
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
    fn levels_are_accurate_to_0_0001_db() {
        let mut max_error_db = 0.0_f64;
        for number in 0..200_000 {
            let magnitude = libm::exp10((f64::from(number) / 200_000.0 - 0.77) * 26.0) as f32;
            let exact_db = 20.0 * libm::log10(f64::from(magnitude));
            max_error_db = max_error_db.max((f64::from(level_db(magnitude)) - exact_db).abs());
        }
        println!("largest error of a level: {max_error_db:.7} dB");
        assert!(max_error_db < 1e-4);
        assert_eq!(level_db(1.0), 0.0);
        assert!(level_db(0.0) < -750.0);
    }

    #[test]
    fn gains_are_accurate_to_0_0001_db() {
        let mut max_error_db = 0.0_f64;
        for number in -75_000..75_000_i32 {
            let level_db = number as f32 * 0.01;
            let measured_db = 20.0 * libm::log10(f64::from(gain(level_db)));
            max_error_db = max_error_db.max((measured_db - f64::from(level_db)).abs());
        }
        println!("largest error of a gain: {max_error_db:.7} dB");
        assert!(max_error_db < 1e-4);
        assert_eq!(gain(0.0), 1.0);
        assert!(gain(-1e6) > 0.0 && gain(1e6).is_finite());
    }
}

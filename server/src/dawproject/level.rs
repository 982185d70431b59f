//! Converts levels and pans between the units of a file and of a project.

/// Lowest level of a project, in decibels. It counts as silence.
const SILENCE_DB: f64 = -144.0;

/// Maximum level of a project in decibels.
const LOUDEST_DB: f64 = 24.0;

/// A unit of a parameter's value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Unit {
    #[default]
    Linear,
    /// 0 to 1.
    Normalized,
    /// 0 to 100.
    Percent,
    Decibel,
}

impl Unit {
    /// Returns the unit with this name in a file. Other units do not measure levels or pans.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "linear" => Self::Linear,
            "normalized" => Self::Normalized,
            "percent" => Self::Percent,
            "decibel" => Self::Decibel,
            _ => return None,
        })
    }
}

/// Returns the linear gain of a level. The lowest level is silence.
pub(super) fn gain_of_db(level_db: f64) -> f64 {
    if level_db <= SILENCE_DB { 0.0 } else { 10_f64.powf(level_db / 20.0) }
}

/// Returns the level of a value in decibels, within the range of a project.
pub(super) fn db_of(value: f64, unit: Unit) -> f64 {
    let level_db = match unit {
        Unit::Decibel => value,
        Unit::Linear | Unit::Normalized => 20.0 * value.max(0.0).log10(),
        Unit::Percent => 20.0 * (value.max(0.0) / 100.0).log10(),
    };
    rounded(level_db.clamp(SILENCE_DB, LOUDEST_DB))
}

/// Returns a pan as a normalized value: 0 is left, 0.5 the centre, 1 right.
pub(super) fn normalized_of_pan(pan: f64) -> f64 {
    (pan + 1.0) / 2.0
}

/// Returns the pan of a value: -1 is left, 1 is right. A value with a linear unit ranges from -1 to
/// 1.
pub(super) fn pan_of(value: f64, unit: Unit) -> f64 {
    let pan = match unit {
        Unit::Normalized => value * 2.0 - 1.0,
        Unit::Percent => value / 50.0 - 1.0,
        Unit::Linear | Unit::Decibel => value,
    };
    rounded(pan.clamp(-1.0, 1.0))
}

/// Removes the rounding error of a conversion and its inverse, which is far below 1e-9. A value
/// that is infinite or not a number becomes 0.
fn rounded(value: f64) -> f64 {
    if value.is_finite() { (value * 1e9).round() / 1e9 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_pans_return_unchanged() {
        for level_db in [-144.0, -60.5, -6.02, -0.1, 0.0, 3.7, 24.0] {
            assert_eq!(db_of(gain_of_db(level_db), Unit::Linear), level_db);
        }
        for pan in [-1.0, -0.3, 0.0, 0.1, 0.77, 1.0] {
            assert_eq!(pan_of(normalized_of_pan(pan), Unit::Normalized), pan);
        }
        assert_eq!(db_of(f64::NEG_INFINITY, Unit::Decibel), -144.0);
        assert_eq!(db_of(50.0, Unit::Percent), db_of(0.5, Unit::Linear));
        assert_eq!((pan_of(75.0, Unit::Percent), pan_of(-9.0, Unit::Linear)), (0.5, -1.0));
    }
}

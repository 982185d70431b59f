//! Limits on the values that plugins report.

use songfoundry_bridge_protocol::host::{TEXT_BYTES_MAX, Tail};

/// Maximum latency in seconds. Plugins with a look-ahead or long filters have less than two.
const LATENCY_MAX_SECS: f64 = 10.0;

/// Maximum tail in seconds.
const TAIL_MAX_SECS: f64 = 3_600.0;

/// Cuts a text to [`TEXT_BYTES_MAX`] and removes control characters.
pub(crate) fn bounded_text(text: &str) -> String {
    let mut text: String = text.chars().filter(|character| !character.is_control()).collect();
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

/// Returns a latency that is at most the limit. A plugin with a larger one may be broken, but its
/// sound is still useful.
pub(crate) fn bounded_latency(latency_frames: i64, sample_rate_hz: f64) -> u32 {
    latency_frames.clamp(0, (sample_rate_hz * LATENCY_MAX_SECS) as i64) as u32
}

/// Returns a tail that is at most the limit.
pub(crate) fn bounded_tail(tail_frames: u32, sample_rate_hz: f64) -> Tail {
    Tail::Frames(tail_frames.min((sample_rate_hz * TAIL_MAX_SECS).min(u32::MAX.into()) as u32))
}

/// Returns a value within 0..=1; 0 if it is not a number.
pub(crate) fn bounded_value(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_limited() {
        assert_eq!(bounded_text("Gain\u{7}\n"), "Gain");
        assert_eq!(bounded_text(&"ä".repeat(200)).len(), TEXT_BYTES_MAX);
        assert_eq!(bounded_latency(-5, 48_000.0), 0);
        assert_eq!(bounded_latency(4_096, 48_000.0), 4_096);
        assert_eq!(bounded_latency(i64::from(u32::MAX), 48_000.0), 480_000);
        assert_eq!(bounded_tail(100, 48_000.0), Tail::Frames(100));
        assert_eq!(bounded_tail(u32::MAX - 1, 48_000.0), Tail::Frames(172_800_000));
        assert_eq!([f64::NAN, -1.0, 0.5, f64::INFINITY].map(bounded_value), [0.0, 0.0, 0.5, 1.0]);
    }
}

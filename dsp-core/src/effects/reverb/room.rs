//! The dimensions of a room, as delays: those of the early reflections and of the network's lines.

use wide::f32x4;

use crate::dsp::control::CONTROL_FRAMES;

/// Number of delay lines of the feedback delay network.
pub(super) const LINE_COUNT: usize = 16;

/// Groups of four delay lines.
pub(super) const GROUP_COUNT: usize = LINE_COUNT / 4;

/// Four frames of each delay line.
pub(super) type Column = [f32x4; LINE_COUNT];

/// Shortest and longest delay of the network in the largest room, in seconds. The delays between
/// them form a geometric series.
pub(super) const LINE_SECS: [f64; 2] = [0.05, 0.15];

/// Order of the delay lines as indices of the lengths in rising order. Lines of similar length are
/// far apart, and each channel has short and long lines.
const LINE_ORDER: [usize; LINE_COUNT] = [0, 6, 9, 15, 3, 5, 10, 12, 1, 7, 8, 14, 2, 4, 11, 13];

/// Returns the delays of the network in a room of a size, in frames. They are different primes,
/// whose echoes rarely coincide.
pub(super) fn line_frames(sample_rate_hz: f64, size: f64) -> [usize; LINE_COUNT] {
    let ratio = libm::log(LINE_SECS[1] / LINE_SECS[0]) / (LINE_COUNT - 1) as f64;
    let mut last = CONTROL_FRAMES;
    let rising: [usize; LINE_COUNT] = core::array::from_fn(|index| {
        let secs = size * LINE_SECS[0] * libm::exp(ratio * index as f64);
        last = prime_from(((secs * sample_rate_hz) as usize).max(last + 1));
        last
    });
    LINE_ORDER.map(|index| rising[index])
}

/// Returns the first prime that is at least `number` and at least [`CONTROL_FRAMES`]. With a delay
/// of at least one call, no output depends on input of the same call.
pub(super) fn prime_from(number: usize) -> usize {
    let is_prime = |number: &usize| {
        !(2..)
            .take_while(|divisor| divisor * divisor <= *number)
            .any(|divisor| number.is_multiple_of(divisor))
    };
    (number.max(CONTROL_FRAMES)..).find(is_prime).unwrap_or(number)
}

/// Number of early reflections per channel.
pub(super) const TAP_COUNT: usize = 8;

/// Delays of the reflections in the largest room in milliseconds, left and right. Large gaps would
/// be audible as echoes, and equal gaps as a pitch; the delays avoid both.
pub(super) const TAP_MS: [[f64; TAP_COUNT]; 2] =
    [[6.1, 13.7, 19.9, 27.1, 35.3, 44.9, 57.7, 71.3], [7.9, 12.1, 21.7, 29.3, 33.1, 47.3, 54.1, 73.9]];

/// Delays of the reflections in frames, without the pre-delay.
type TapFrames = [[usize; TAP_COUNT]; 2];

/// Returns the delays of the reflections in a room of a size.
fn tap_frames(sample_rate_hz: f64, size: f64) -> TapFrames {
    TAP_MS.map(|side| side.map(|ms| libm::round(1e-3 * ms * size * sample_rate_hz) as usize))
}

/// The delays of a room in frames: the pre-delay, the reflections and the network's lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Room {
    pub(super) pre_delay_frames: usize,
    pub(super) taps: TapFrames,
    pub(super) line_frames: [usize; LINE_COUNT],
}

impl Room {
    /// Creates the room for a pre-delay in milliseconds and a size from 0 to 1.
    pub(super) fn new(sample_rate_hz: f64, [pre_delay_ms, size]: [f64; 2]) -> Self {
        Self {
            pre_delay_frames: libm::round(1e-3 * pre_delay_ms * sample_rate_hz) as usize,
            taps: tap_frames(sample_rate_hz, size),
            line_frames: line_frames(sample_rate_hz, size),
        }
    }

    /// Returns the number of frames until the last reflection or the first output of the longest
    /// delay line, whichever is later.
    pub(super) fn longest_path_frames(&self) -> usize {
        let paths = self.taps.iter().flatten().chain(&self.line_frames);
        self.pre_delay_frames + paths.copied().fold(0, usize::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_different_primes_at_any_rate_and_size() {
        assert_eq!((prime_from(34), prime_from(41), prime_from(90)), (37, 41, 97));
        for sample_rate_hz in [8_000.0, 48_000.0, 192_000.0] {
            for size in [0.1, 0.6, 1.0] {
                let mut lines = line_frames(sample_rate_hz, size);
                lines.sort_unstable();
                assert!(
                    lines.windows(2).all(|pair| pair[0] < pair[1]),
                    "two of the delays {lines:?} are equal"
                );
                assert!(lines[0] > CONTROL_FRAMES);
            }
        }
    }
}

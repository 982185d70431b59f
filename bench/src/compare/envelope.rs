//! Compares attack, decay and release times.
//!
//! Each time ends when the smoothed level crosses a threshold. If a level stays near the threshold,
//! as in the swell of a choir, a tiny level difference moves the crossing far. Therefore, the
//! threshold has a tolerance: the level change of a straight envelope whose time changes by
//! [`TOLERANCE`]. The threshold for the reference is raised and lowered by this tolerance. If our
//! crossing is between the reference's crossings of these two thresholds, the times are equal.
//! Otherwise, the crossings of the threshold itself are compared. For straight envelopes, this is
//! the same as a tolerance of the time.

use super::StereoSlice;
use super::notes::{HELD_MS, RELEASE_MS, frames};
use crate::stats::power_db;

/// Frames per value of an envelope, which is a millisecond.
const STEP_FRAMES: usize = frames(1);
/// Frames over which power is averaged, for MIDI keys from 48 and for lower ones.
const SMOOTH_FRAMES: usize = frames(20);
const SMOOTH_LOW_FRAMES: usize = frames(50);
/// Allowed relative difference of a time.
const TOLERANCE: f64 = 0.05;
/// Differences of up to this many milliseconds are ignored, because FluidSynth updates envelopes,
/// and starts and ends notes, once in 64 frames.
const GRID_MS: f64 = 1.5;

/// Level at which an attack ends, in decibels below the highest level.
const ATTACK_DB: f64 = 3.0;
/// Measured range of a decay in decibels.
const DECAY_DB: f64 = 20.0;
/// Measured range of a release in decibels.
const RELEASE_DB: f64 = 40.0;
/// Releases that end below this level of the reference are not compared. Our voices end at -96
/// dBFS, which is -89 here because the reference is about 7 dB louder.
const LOWEST_DB: f64 = -85.0;

/// Differences of our times from the reference's, in per cent. A time is `None` if neither
/// synthesizer reaches the threshold or if the time is not compared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EnvelopeDifference {
    /// Time from the start of the note to 3 dB below its highest level.
    pub(crate) attack_percent: Option<f64>,
    /// Time from the start of the note to 20 dB below its highest level, while it is held.
    pub(crate) decay_percent: Option<f64>,
    /// Time from the end of the note to 40 dB below its level there.
    pub(crate) release_percent: Option<f64>,
}

/// Compares a note. Both slices start with the note.
pub(crate) fn compare(
    our_envelope: StereoSlice<'_>,
    their_envelope: StereoSlice<'_>,
    key: u8,
) -> EnvelopeDifference {
    let smooth = if key < 48 { SMOOTH_LOW_FRAMES } else { SMOOTH_FRAMES };
    let (our_envelope, their_envelope) =
        (Envelope::of(our_envelope, smooth), Envelope::of(their_envelope, smooth));
    EnvelopeDifference {
        // Attacks are linear in amplitude, decays and releases in decibels.
        attack_percent: difference(
            &our_envelope,
            &their_envelope,
            Envelope::attack_ms,
            HELD_MS,
            20.0 * (1.0 + TOLERANCE).log10(),
        ),
        decay_percent: difference(
            &our_envelope,
            &their_envelope,
            Envelope::decay_ms,
            HELD_MS,
            DECAY_DB * TOLERANCE,
        ),
        release_percent: if their_envelope.is_release_audible() {
            difference(
                &our_envelope,
                &their_envelope,
                Envelope::release_ms,
                RELEASE_MS,
                RELEASE_DB * TOLERANCE,
            )
        } else {
            None
        },
    }
}

/// Returns the difference of a time in per cent. `time` returns the milliseconds to a threshold
/// that is raised by some decibels. `longest_ms` replaces the time to a threshold that is not
/// reached. `half_width_db` is the tolerance of the reference's threshold.
fn difference(
    our_envelope: &Envelope,
    their_envelope: &Envelope,
    time: impl Fn(&Envelope, f64) -> Option<f64>,
    longest_ms: u32,
    half_width_db: f64,
) -> Option<f64> {
    let longest_ms = f64::from(longest_ms);
    let (our_ms, reference_ms) = (time(our_envelope, 0.0), time(their_envelope, 0.0));
    if our_ms.is_none() && reference_ms.is_none() {
        return None;
    }
    let crossing_ms = |offset_db| time(their_envelope, offset_db).unwrap_or(longest_ms);
    let (above_ms, below_ms) = (crossing_ms(half_width_db), crossing_ms(-half_width_db));
    let our_ms = our_ms.unwrap_or(longest_ms);
    let outside_ms = (above_ms.min(below_ms) - our_ms).max(our_ms - above_ms.max(below_ms));
    if outside_ms <= GRID_MS {
        return Some(0.0);
    }
    let reference_ms = reference_ms.unwrap_or(longest_ms);
    Some(100.0 * (our_ms - reference_ms) / reference_ms.max(1.0))
}

/// Smoothed level of a note in decibels, one value per millisecond.
struct Envelope {
    levels_db: Vec<f64>,
}

impl Envelope {
    fn of(note: StereoSlice<'_>, smooth_frames: usize) -> Self {
        let mut sums = Vec::with_capacity(note.left.len() + 1);
        let mut sum = 0.0;
        sums.push(sum);
        for (&left, &right) in note.left.iter().zip(note.right) {
            sum += f64::from(left * left) + f64::from(right * right);
            sums.push(sum);
        }
        // Each value averages the frames after it, so that the first one contains no silence from
        // before the note.
        let ends = (smooth_frames..sums.len()).step_by(STEP_FRAMES);
        let power = |end: usize| (sums[end] - sums[end - smooth_frames]).max(0.0) / smooth_frames as f64;
        Self { levels_db: ends.map(|end| power_db(power(end))).collect() }
    }

    fn held_levels_db(&self) -> &[f64] {
        &self.levels_db[..(HELD_MS as usize).min(self.levels_db.len())]
    }

    /// Returns the index and the level of the highest value while the note is held.
    fn loudest(&self) -> (usize, f64) {
        let pairs = self.held_levels_db().iter().copied().enumerate();
        pairs.fold(
            (0, f64::NEG_INFINITY),
            |best, (index, level)| if level > best.1 { (index, level) } else { best },
        )
    }

    fn attack_ms(&self, offset_db: f64) -> Option<f64> {
        let threshold_db = self.loudest().1 - ATTACK_DB + offset_db;
        self.held_levels_db().iter().position(|&level| level >= threshold_db).map(|index| index as f64)
    }

    fn decay_ms(&self, offset_db: f64) -> Option<f64> {
        let (loudest_index, loudest_db) = self.loudest();
        let threshold_db = loudest_db - DECAY_DB + offset_db;
        last_above(&self.held_levels_db()[loudest_index..], threshold_db)
            .map(|index| (loudest_index + index) as f64)
    }

    /// Returns the level at the end of the held part. This is the last value that averages no frame
    /// of the release.
    fn end_db(&self) -> f64 {
        let end = HELD_MS as usize - SMOOTH_LOW_FRAMES / STEP_FRAMES;
        self.levels_db.get(end).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Returns whether the release begins and ends at audible levels.
    fn is_release_audible(&self) -> bool {
        self.end_db() >= self.loudest().1 - 50.0 && self.end_db() - RELEASE_DB >= LOWEST_DB
    }

    fn release_ms(&self, offset_db: f64) -> Option<f64> {
        let threshold_db = self.end_db() - RELEASE_DB + offset_db;
        last_above(self.levels_db.get(HELD_MS as usize..)?, threshold_db).map(|index| index as f64)
    }
}

/// Returns the index of the last level at or above a threshold; 0 if there is none. `None` if the
/// level at the end is at or above the threshold.
fn last_above(levels_db: &[f64], threshold_db: f64) -> Option<usize> {
    let last_audible = levels_db.iter().rposition(|&level| level >= threshold_db).unwrap_or(0);
    (last_audible + 1 < levels_db.len()).then_some(last_audible)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a tone that rises in `attack` seconds. It falls by 60 dB in `decay` seconds while it
    /// is held and in `release` seconds after its end.
    fn note(attack: f64, decay: f64, release: f64) -> Vec<f32> {
        let held = frames(HELD_MS);
        let fall = |secs: f64, over: f64| 10_f64.powf(-3.0 * secs / over);
        (0..held + frames(RELEASE_MS))
            .map(|frame| {
                let secs = frame as f64 / 48_000.0;
                let held_secs = secs.min(f64::from(HELD_MS) / 1000.0);
                let level =
                    (secs / attack).min(1.0) * fall(held_secs, decay) * fall(secs - held_secs, release);
                (level * (core::f64::consts::TAU * 440.0 * secs).sin()) as f32
            })
            .collect()
    }

    fn compared(our_envelope: &[f32], their_envelope: &[f32]) -> EnvelopeDifference {
        let stereo = |mono| StereoSlice { left: mono, right: mono };
        compare(stereo(our_envelope), stereo(their_envelope), 69)
    }

    #[test]
    fn equal_notes_do_not_differ() {
        let a = note(0.2, 3.0, 1.0);
        let EnvelopeDifference { attack_percent: attack, decay_percent: decay, release_percent: release } =
            compared(&a, &a);
        assert_eq!((attack, decay, release), (Some(0.0), Some(0.0), Some(0.0)));
    }

    #[test]
    fn each_time_is_compared() {
        let reference = note(0.2, 3.0, 1.0);
        let slow_attack = compared(&note(0.25, 3.0, 1.0), &reference).attack_percent.expect("an attack");
        assert!((20.0..30.0).contains(&slow_attack), "{slow_attack}");
        let fast_decay = compared(&note(0.2, 2.4, 1.0), &reference).decay_percent.expect("a decay");
        assert!((-22.0..-16.0).contains(&fast_decay), "{fast_decay}");
        let slow_release = compared(&note(0.2, 3.0, 1.2), &reference).release_percent.expect("a release");
        assert!((16.0..22.0).contains(&slow_release), "{slow_release}");
    }

    #[test]
    fn straight_envelopes_may_differ_by_the_tolerance() {
        let attack = |ratio: f64| {
            let difference = compared(&note(0.4 * ratio, 1e9, 1.0), &note(0.4, 1e9, 1.0));
            difference.attack_percent.expect("an attack").abs()
        };
        let falls = |decay: f64, release: f64| {
            let difference = compared(&note(0.2, 3.0 * decay, release), &note(0.2, 3.0, 1.0));
            [difference.decay_percent, difference.release_percent].map(|value| value.expect("a fall").abs())
        };
        for ratio in [0.92, 1.08] {
            assert!(attack(ratio) > 5.0, "attack {ratio}: {}", attack(ratio));
            assert!(falls(ratio, 1.0)[0] > 5.0, "decay {ratio}: {:?}", falls(ratio, 1.0));
            assert!(falls(1.0, ratio)[1] > 5.0, "release {ratio}: {:?}", falls(1.0, ratio));
        }
        for ratio in [0.96, 1.04] {
            assert_eq!(attack(ratio), 0.0, "attack {ratio}");
            assert_eq!(falls(ratio, 1.0)[0], 0.0, "decay {ratio}");
            assert_eq!(falls(1.0, ratio)[1], 0.0, "release {ratio}");
        }
    }

    #[test]
    fn a_threshold_that_only_one_note_reaches_is_a_difference() {
        let decay =
            compared(&note(0.2, 30.0, 1.0), &note(0.2, 3.0, 1.0)).decay_percent.expect("a difference");
        assert!(decay > 50.0, "{decay}");
        assert_eq!(compared(&note(0.2, 30.0, 1.0), &note(0.2, 31.0, 1.0)).decay_percent, None);
    }
}

//! How fast notes rise and fall.
//!
//! A time is where the smoothed level crosses a threshold. Where a level lingers near the
//! threshold, as in the swell of a choir or the beats of two strings, a hair's difference of level
//! moves the crossing far, and the crossing says nothing of the envelope. So the level is asked
//! too: what times that are [`SHARE`] longer change of the level of a straight envelope at the
//! threshold is also how far the reference's threshold may be off. Between its crossings of the
//! threshold moved up and down by this, times do not differ; outside, they differ by all that is
//! between the two crossings. On a straight rise or fall both ways of counting come to the same.

use super::Piece;
use super::notes::{HELD_MS, RELEASE_MS, frames};
use crate::stats::power_db;

/// Frames between two values of an envelope: a millisecond.
const STEP_FRAMES: usize = frames(1);
/// Frames over which power is averaged, from MIDI key 48 on and below.
const SMOOTH_FRAMES: usize = frames(20);
const SMOOTH_LOW_FRAMES: usize = frames(50);
/// How much longer or shorter a time may be.
const SHARE: f64 = 0.05;
/// Differences up to this do not count, in milliseconds: the reference's envelopes move once in 64
/// frames, and it starts and ends notes there.
const GRID_MS: f64 = 1.5;

/// Where an attack ends, in decibels below the loudest.
const ATTACK_DB: f64 = 3.0;
/// How far a decay is followed, in decibels.
const DECAY_DB: f64 = 20.0;
/// How far a release is followed, in decibels.
const RELEASE_DB: f64 = 40.0;
/// Releases that would have to be followed below this level of the reference's are not compared:
/// our voices end 96 dB below full scale, which is -89 here because the reference is louder by
/// some 7.
const LOWEST_DB: f64 = -85.0;

/// How much longer or shorter our times are, in per cent of the reference's; `None` where neither
/// gets to the threshold.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EnvelopeDifference {
    /// From the start of the note to 3 dB below its loudest.
    pub(crate) attack: Option<f64>,
    /// From the start of the note to where it has fallen 20 dB below its loudest while held.
    pub(crate) decay: Option<f64>,
    /// From the end of the note to 40 dB below what it was there.
    pub(crate) release: Option<f64>,
}

/// Compares a note; both pieces start with it.
pub(crate) fn compare(ours: Piece<'_>, theirs: Piece<'_>, key: u8) -> EnvelopeDifference {
    let smooth = if key < 48 { SMOOTH_LOW_FRAMES } else { SMOOTH_FRAMES };
    let (ours, theirs) = (Envelope::of(ours, smooth), Envelope::of(theirs, smooth));
    EnvelopeDifference {
        // An attack is straight in amplitude, falls are straight in decibels.
        attack: difference(&ours, &theirs, Envelope::attack_ms, HELD_MS, 20.0 * (1.0 + SHARE).log10()),
        decay: difference(&ours, &theirs, Envelope::decay_ms, HELD_MS, DECAY_DB * SHARE),
        release: if theirs.is_heard_to_its_end() {
            difference(&ours, &theirs, Envelope::release_ms, RELEASE_MS, RELEASE_DB * SHARE)
        } else {
            None
        },
    }
}

/// `time` gives the milliseconds to a threshold moved up by some decibels; `longest_ms` stands in
/// for a threshold that is not reached; `half_width_db` is how far the reference's threshold may be
/// off.
fn difference(
    ours: &Envelope,
    theirs: &Envelope,
    time: impl Fn(&Envelope, f64) -> Option<f64>,
    longest_ms: u32,
    half_width_db: f64,
) -> Option<f64> {
    let longest_ms = f64::from(longest_ms);
    let (own, reference) = (time(ours, 0.0), time(theirs, 0.0));
    if own.is_none() && reference.is_none() {
        return None;
    }
    let edge = |offset_db| time(theirs, offset_db).unwrap_or(longest_ms);
    let (one, other) = (edge(half_width_db), edge(-half_width_db));
    let own = own.unwrap_or(longest_ms);
    let outside = (one.min(other) - own).max(own - one.max(other));
    if outside <= GRID_MS {
        return Some(0.0);
    }
    let reference = reference.unwrap_or(longest_ms);
    Some(100.0 * (own - reference) / reference.max(1.0))
}

/// Smoothed level of a note in decibels, a value each millisecond.
struct Envelope {
    levels_db: Vec<f64>,
}

impl Envelope {
    fn of(piece: Piece<'_>, smooth_frames: usize) -> Self {
        let mut sums = Vec::with_capacity(piece.left.len() + 1);
        let mut sum = 0.0;
        sums.push(sum);
        for (&left, &right) in piece.left.iter().zip(piece.right) {
            sum += f64::from(left * left) + f64::from(right * right);
            sums.push(sum);
        }
        // Each value looks ahead, so that the end of the held part has nothing of the release in
        // the one and nothing of silence before the note in the other.
        let ends = (smooth_frames..sums.len()).step_by(STEP_FRAMES);
        let power = |end: usize| (sums[end] - sums[end - smooth_frames]).max(0.0) / smooth_frames as f64;
        Self { levels_db: ends.map(|end| power_db(power(end))).collect() }
    }

    fn held(&self) -> &[f64] {
        &self.levels_db[..(HELD_MS as usize).min(self.levels_db.len())]
    }

    /// Place and level of the loudest moment while the note is held.
    fn loudest(&self) -> (usize, f64) {
        let pairs = self.held().iter().copied().enumerate();
        pairs.fold(
            (0, f64::NEG_INFINITY),
            |best, (place, level)| if level > best.1 { (place, level) } else { best },
        )
    }

    fn attack_ms(&self, offset_db: f64) -> Option<f64> {
        let threshold_db = self.loudest().1 - ATTACK_DB + offset_db;
        self.held().iter().position(|&level| level >= threshold_db).map(|place| place as f64)
    }

    fn decay_ms(&self, offset_db: f64) -> Option<f64> {
        let (loudest_place, loudest_db) = self.loudest();
        let threshold_db = loudest_db - DECAY_DB + offset_db;
        last_above(&self.held()[loudest_place..], threshold_db).map(|place| (loudest_place + place) as f64)
    }

    /// Level at the end of the held part. A level looks ahead by its width: this is the last that
    /// saw the held note only.
    fn end_db(&self) -> f64 {
        let end = HELD_MS as usize - SMOOTH_LOW_FRAMES / STEP_FRAMES;
        self.levels_db.get(end).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Whether the release begins and ends where it can be heard.
    fn is_heard_to_its_end(&self) -> bool {
        self.end_db() >= self.loudest().1 - 50.0 && self.end_db() - RELEASE_DB >= LOWEST_DB
    }

    fn release_ms(&self, offset_db: f64) -> Option<f64> {
        let threshold_db = self.end_db() - RELEASE_DB + offset_db;
        last_above(self.levels_db.get(HELD_MS as usize..)?, threshold_db).map(|place| place as f64)
    }
}

/// Where the level is above a threshold for the last time; `None` if it is at the very end.
fn last_above(levels_db: &[f64], threshold_db: f64) -> Option<usize> {
    let last = levels_db.iter().rposition(|&level| level >= threshold_db).unwrap_or(0);
    (last + 1 < levels_db.len()).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tone that rises in `attack` seconds, falls by 60 dB in `decay` and, let go, in `release`.
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

    fn compared(ours: &[f32], theirs: &[f32]) -> EnvelopeDifference {
        let piece = |side| Piece { left: side, right: side };
        compare(piece(ours), piece(theirs), 69)
    }

    #[test]
    fn equal_notes_do_not_differ() {
        let a = note(0.2, 3.0, 1.0);
        let EnvelopeDifference { attack, decay, release } = compared(&a, &a);
        assert_eq!((attack, decay, release), (Some(0.0), Some(0.0), Some(0.0)));
    }

    #[test]
    fn each_time_is_seen() {
        let reference = note(0.2, 3.0, 1.0);
        let slow_attack = compared(&note(0.25, 3.0, 1.0), &reference).attack.expect("an attack");
        assert!((20.0..30.0).contains(&slow_attack), "{slow_attack}");
        let fast_decay = compared(&note(0.2, 2.4, 1.0), &reference).decay.expect("a decay");
        assert!((-22.0..-16.0).contains(&fast_decay), "{fast_decay}");
        let slow_release = compared(&note(0.2, 3.0, 1.2), &reference).release.expect("a release");
        assert!((16.0..22.0).contains(&slow_release), "{slow_release}");
    }

    #[test]
    fn the_limit_is_that_of_straight_envelopes() {
        let attack = |ratio: f64| {
            let difference = compared(&note(0.4 * ratio, 1e9, 1.0), &note(0.4, 1e9, 1.0));
            difference.attack.expect("an attack").abs()
        };
        let falls = |decay: f64, release: f64| {
            let difference = compared(&note(0.2, 3.0 * decay, release), &note(0.2, 3.0, 1.0));
            [difference.decay, difference.release].map(|value| value.expect("a fall").abs())
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
    fn a_threshold_that_one_does_not_reach_counts() {
        let decay = compared(&note(0.2, 30.0, 1.0), &note(0.2, 3.0, 1.0)).decay.expect("a difference");
        assert!(decay > 50.0, "{decay}");
        assert_eq!(compared(&note(0.2, 30.0, 1.0), &note(0.2, 31.0, 1.0)).decay, None);
    }
}

//! Laying two renders of a note on each other.

use super::Piece;

/// How much later the reference may be, in frames: it starts notes at the next of its blocks of 64, and
/// its player's clock counts whole milliseconds.
const LATEST: usize = 320;
/// How much sooner it may be, in frames.
const SOONEST: usize = 64;
/// Frames from the start of the note that are looked at.
const LOOK_FRAMES: usize = 24_000;

/// Frames by which `theirs` is later than `ours`, where they are most alike; both pieces start at
/// the same time, `lead` frames before the note, which is at least what the search needs.
pub(crate) fn lag(ours: Piece<'_>, theirs: Piece<'_>, lead: usize) -> isize {
    assert!(lead >= SOONEST, "the search looks {SOONEST} frames back");
    let mut best = (0, f64::NEG_INFINITY);
    for shift in 0..=SOONEST + LATEST {
        let start = lead - SOONEST + shift;
        let alike = dot(ours.left, theirs.left, lead, start) + dot(ours.right, theirs.right, lead, start);
        if alike > best.1 {
            best = (shift as isize - SOONEST as isize, alike);
        }
    }
    best.0
}

fn dot(ours: &[f32], theirs: &[f32], our_start: usize, their_start: usize) -> f64 {
    let ours = ours.get(our_start..).unwrap_or_default();
    let theirs = theirs.get(their_start..).unwrap_or_default();
    let pairs = ours.iter().zip(theirs).take(LOOK_FRAMES);
    // In f32 lanes: which shift is best needs no more, and there are many.
    let mut sums = [0.0_f32; 8];
    for (place, (a, b)) in pairs.enumerate() {
        sums[place % 8] += a * b;
    }
    sums.iter().map(|&sum| f64::from(sum)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_shift() {
        let note = |start: usize| -> Vec<f32> {
            let tone = |n: usize| (n as f32 * 0.03).sin() * (-(n as f32) / 4000.0).exp();
            (0..9_000).map(|frame| if frame < start { 0.0 } else { tone(frame - start) }).collect()
        };
        let ours = note(2_400);
        for shift in [-40_isize, 0, 7, 120, 300] {
            let theirs = note(2_400_usize.checked_add_signed(shift).expect("in range"));
            let piece = |side| Piece { left: side, right: side };
            assert_eq!(lag(piece(&ours), piece(&theirs), 2_400), shift);
        }
    }
}

//! Laying two renders of a note on each other.

use super::Piece;

/// Frames of a block of FluidSynth. A note that its player finds due starts at the beginning of a
/// block (`fluid_midi.c`), and is heard in the one after it, as drums show.
const BLOCK_FRAMES: usize = 64;
/// How far from there the two are compared, in frames: filters and envelopes may move what is most
/// alike a little. Less than half of the period of the highest key, or a tone would fit a period
/// off.
const REACH: usize = 8;
/// Frames from the start of the note that are looked at.
const LOOK_FRAMES: usize = 24_000;

/// Frames by which FluidSynth starts a note later that is due at a frame of the whole render.
fn expected_lag(due: usize) -> usize {
    due.next_multiple_of(BLOCK_FRAMES) - due + BLOCK_FRAMES
}

/// Frames by which `theirs` is later than `ours`, where they are most alike; both pieces begin at
/// the frame `slot` of the whole render, `lead` frames before the note.
pub(crate) fn lag(ours: Piece<'_>, theirs: Piece<'_>, slot: usize, lead: usize) -> isize {
    let expected = expected_lag(slot + lead);
    let mut best = (expected, f64::NEG_INFINITY);
    for shift in expected - REACH..=expected + REACH {
        let start = lead + shift;
        let alike = dot(ours.left, theirs.left, lead, start) + dot(ours.right, theirs.right, lead, start);
        if alike > best.1 {
            best = (shift, alike);
        }
    }
    best.0 as isize
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
    fn finds_the_start_of_a_tone() {
        // Of 48 frames a period: a search over more than one would take another one's place for it.
        let note = |start: usize| -> Vec<f32> {
            let tone =
                |n: usize| (n as f32 * core::f32::consts::TAU / 48.0).sin() * (n as f32 / 4000.0).min(1.0);
            (0..9_000).map(|frame| if frame < start { 0.0 } else { tone(frame - start) }).collect()
        };
        let ours = note(2_400);
        // The first note is due in the middle of a block, the second at the beginning of one.
        for (slot, expected) in [(0, 96_usize), (244_800 - 32, 64)] {
            for off in [-5_isize, 0, 5] {
                let lag_frames = expected.saturating_add_signed(off);
                let theirs = note(2_400 + lag_frames);
                let piece = |side| Piece { left: side, right: side };
                assert_eq!(lag(piece(&ours), piece(&theirs), slot, 2_400), lag_frames as isize);
            }
        }
    }
}

//! Aligns two renders of a note.

use super::StereoSlice;

/// Block size of FluidSynth. Its player starts notes at the beginning of a block (`fluid_midi.c`);
/// they become audible one block later, as drum notes show.
const BLOCK_FRAMES: usize = 64;
/// Largest deviation from the expected lag, in frames. Filters and envelopes may shift the best
/// match. This is less than half the period of the highest key, so that the match cannot be in a
/// neighbouring period.
const SEARCH_FRAMES: usize = 8;
/// Number of correlated frames, from the start of the note.
const CORRELATED_FRAMES: usize = 24_000;

/// Returns FluidSynth's delay in frames for a note at the frame `due` of the render.
fn expected_lag(due: usize) -> usize {
    due.next_multiple_of(BLOCK_FRAMES) - due + BLOCK_FRAMES
}

/// Returns the lag of `their_frames` behind `our_frames` in frames, which is where their correlation is
/// largest. Both slices begin at the frame `slot` of the render, `lead` frames before the note.
pub(crate) fn lag(
    our_frames: StereoSlice<'_>,
    their_frames: StereoSlice<'_>,
    slot: usize,
    lead: usize,
) -> isize {
    let expected = expected_lag(slot + lead);
    let mut best_lag = (expected, f64::NEG_INFINITY);
    for shift in expected - SEARCH_FRAMES..=expected + SEARCH_FRAMES {
        let start = lead + shift;
        let correlation = dot(our_frames.left, their_frames.left, lead, start)
            + dot(our_frames.right, their_frames.right, lead, start);
        if correlation > best_lag.1 {
            best_lag = (shift, correlation);
        }
    }
    best_lag.0 as isize
}

fn dot(our_frames: &[f32], their_frames: &[f32], our_start: usize, their_start: usize) -> f64 {
    let our_frames = our_frames.get(our_start..).unwrap_or_default();
    let their_frames = their_frames.get(their_start..).unwrap_or_default();
    let pairs = our_frames.iter().zip(their_frames).take(CORRELATED_FRAMES);
    // Eight sums in single precision are fast, and precise enough for choosing the best shift.
    let mut sums = [0.0_f32; 8];
    for (index, (a, b)) in pairs.enumerate() {
        sums[index % 8] += a * b;
    }
    sums.iter().map(|&sum| f64::from(sum)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_of_a_tone_is_found() {
        // The period is 48 frames. A wider search could find a lag that is wrong by a period.
        let note = |start: usize| -> Vec<f32> {
            let tone =
                |n: usize| (n as f32 * core::f32::consts::TAU / 48.0).sin() * (n as f32 / 4000.0).min(1.0);
            (0..9_000).map(|frame| if frame < start { 0.0 } else { tone(frame - start) }).collect()
        };
        let our_frames = note(2_400);
        // The first note is due in the middle of a block, the second at the beginning of one.
        for (slot, expected) in [(0, 96_usize), (244_800 - 32, 64)] {
            for deviation in [-5_isize, 0, 5] {
                let lag_frames = expected.saturating_add_signed(deviation);
                let their_frames = note(2_400 + lag_frames);
                let stereo = |mono| StereoSlice { left: mono, right: mono };
                assert_eq!(lag(stereo(&our_frames), stereo(&their_frames), slot, 2_400), lag_frames as isize);
            }
        }
    }
}

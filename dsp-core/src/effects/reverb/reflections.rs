//! The first reflections of a room, each a copy of the input (J. A. Moorer, "About This
//! Reverberation Business", Computer Music Journal 3-2, 1979: a tapped delay for the early sound).

use super::Room;
use crate::dsp::lanes::{LANES, Lanes};
use crate::effects::CONTROL_FRAMES;
use crate::effects::line::Line;
use crate::effects::step::put;

/// Reflections on each side.
const TAPS: usize = 8;

/// When they come in the largest room, in milliseconds, left and right: evenly enough to be no
/// echo, unevenly enough to have no pitch.
const TAP_MS: [[f64; TAPS]; 2] =
    [[6.1, 13.7, 19.9, 27.1, 35.3, 44.9, 57.7, 71.3], [7.9, 12.1, 21.7, 29.3, 33.1, 47.3, 54.1, 73.9]];

/// Which of them come from the other side, from a wall across.
const FROM_ACROSS: [bool; TAPS] = [false, true, false, false, true, false, true, false];

/// Their signs: copies that only add would make a comb of the bass.
const SIGNS: [f64; TAPS] = [1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0];

/// Time in which they become softer by a factor of e, in milliseconds.
const SOFTER_MS: f64 = 60.0;

/// Frames from a sound to its reflections, without the pre-delay.
pub(super) type TapFrames = [[usize; TAPS]; 2];

/// The frames of the reflections in a room of a size.
pub(super) fn tap_frames(sample_rate_hz: f64, size: f64) -> TapFrames {
    TAP_MS.map(|side| side.map(|ms| libm::round(1e-3 * ms * size * sample_rate_hz) as usize))
}

/// The reflections of both sides.
#[derive(Debug, Clone)]
pub(super) struct Reflections {
    /// Together they have the energy of the input.
    gains: [[f32; TAPS]; 2],
}

impl Reflections {
    pub(super) fn new() -> Self {
        let gains = TAP_MS.map(|side| {
            let mut gains = side.map(|ms| libm::exp(-ms / SOFTER_MS));
            let energy: f64 = gains.iter().map(|gain| gain * gain).sum();
            for (gain, sign) in gains.iter_mut().zip(SIGNS) {
                *gain *= sign / libm::sqrt(energy);
            }
            gains.map(|gain| gain as f32)
        });
        Self { gains }
    }

    /// The reflections on a side of the frames that were written last.
    #[inline(always)]
    pub(super) fn read(&self, inputs: &[Line; 2], side: usize, room: &Room, values: &mut [f32]) {
        let row = |tap: usize| {
            let input = &inputs[if FROM_ACROSS[tap] { 1 - side } else { side }];
            input.row(room.pre_delay_frames + room.taps[side][tap] + values.len())
        };
        let rows: [_; TAPS] = core::array::from_fn(row);
        if rows.iter().all(Option::is_some) {
            // Nearly always: all at once.
            let mut sums = [Lanes::zero(); CONTROL_FRAMES / LANES];
            for (row, gain) in rows.into_iter().flatten().zip(self.gains[side]) {
                for (sum, delayed) in sums.iter_mut().zip(row.as_chunks().0) {
                    *sum = *sum + Lanes::new(*delayed) * gain;
                }
            }
            return put(sums.map(Lanes::to_array).as_flattened(), values);
        }
        values.fill(0.0);
        for tap in 0..TAPS {
            let input = &inputs[if FROM_ACROSS[tap] { 1 - side } else { side }];
            let frames_back = room.pre_delay_frames + room.taps[side][tap] + values.len();
            input.add(frames_back, self.gains[side][tap], values);
        }
    }
}

//! The early reflections of a room: a tapped delay line (J. A. Moorer, "About This Reverberation
//! Business", Computer Music Journal 3-2, 1979).

use super::room::{Room, TAP_COUNT, TAP_MS};
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::control_block::copy_to;
use crate::dsp::lanes::{LANES, Lanes};
use crate::dsp::tapped_delay_line::TappedDelayLine;

/// Whether each reflection comes from the opposite channel.
const IS_OPPOSITE: [bool; TAP_COUNT] = [false, true, false, false, true, false, true, false];

/// Sign of each reflection. Equal signs would make a comb filter at low frequencies.
const TAP_SIGNS: [f64; TAP_COUNT] = [1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0];

/// Time constant of the reflections' decay, in milliseconds.
const DECAY_MS: f64 = 60.0;

/// The early reflections of both channels.
#[derive(Debug, Clone)]
pub(super) struct Reflections {
    /// Gains with a total energy of 1 per channel.
    gains: [[f32; TAP_COUNT]; 2],
}

impl Reflections {
    pub(super) fn new() -> Self {
        let gains = TAP_MS.map(|side| {
            let mut gains = side.map(|ms| libm::exp(-ms / DECAY_MS));
            let energy: f64 = gains.iter().map(|gain| gain * gain).sum();
            for (gain, sign) in gains.iter_mut().zip(TAP_SIGNS) {
                *gain *= sign / libm::sqrt(energy);
            }
            gains.map(|gain| gain as f32)
        });
        Self { gains }
    }

    /// Reads the reflections of a channel for the frames that were last written to `inputs`.
    #[inline(always)]
    pub(super) fn read(&self, inputs: &[TappedDelayLine; 2], side: usize, room: &Room, values: &mut [f32]) {
        let contiguous = |tap: usize| {
            let input = &inputs[if IS_OPPOSITE[tap] { 1 - side } else { side }];
            input.contiguous_samples(room.pre_delay_frames + room.taps[side][tap] + values.len())
        };
        let blocks: [_; TAP_COUNT] = core::array::from_fn(contiguous);
        if blocks.iter().all(Option::is_some) {
            // Nearly all reads are contiguous and take this faster path.
            let mut sums = [Lanes::zero(); CONTROL_FRAMES / LANES];
            for (block, gain) in blocks.into_iter().flatten().zip(self.gains[side]) {
                for (sum, delayed) in sums.iter_mut().zip(block.as_chunks().0) {
                    *sum = *sum + Lanes::new(*delayed) * gain;
                }
            }
            return copy_to::<CONTROL_FRAMES>(sums.map(Lanes::to_array).as_flattened(), values);
        }
        values.fill(0.0);
        for tap in 0..TAP_COUNT {
            let input = &inputs[if IS_OPPOSITE[tap] { 1 - side } else { side }];
            let frames_back = room.pre_delay_frames + room.taps[side][tap] + values.len();
            input.add(frames_back, self.gains[side][tap], values);
        }
    }
}

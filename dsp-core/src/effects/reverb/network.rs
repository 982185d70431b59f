//! The feedback delay network: sixteen delay lines that feed each other (J.-M. Jot and A. Chaigne,
//! AES 90th Convention, 1991).
//!
//! The feedback matrix arranges the delay lines in a square of four by four. It applies a
//! Householder reflection of four values (I - J/2) to the columns and then to the rows. Every line
//! thus feeds every line with a quarter of its amplitude. The square is transposed between the two
//! reflections, which is a permutation and therefore lossless.
//!
//! Before the reflections, pairs of lines are rotated by small modulated angles. A time-varying
//! orthogonal matrix breaks up resonances without a change of decay or brightness (S. J. Schlecht
//! and E. A. P. Habets, "Time-varying feedback matrices in feedback delay networks and their
//! application in artificial reverberation", JASA 138-3, 2015). All delays are whole numbers of
//! frames. They need no interpolation, which would attenuate high frequencies, so only the
//! absorption filters attenuate.

use wide::f32x4;

use super::absorption::{Absorption, Decay};
use super::room::{Column, LINE_COUNT, LINE_SECS, Room};
use crate::dsp::compact_delay_line::CompactDelayLine;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::phase::{Phase, sine};
use crate::dsp::tap_crossfade::TapCrossfade;

/// Four values that ramp linearly from one control point to the next.
#[derive(Debug, Clone, Copy)]
struct Ramps {
    start: f32x4,
    target: f32x4,
    step: f32x4,
}

impl Ramps {
    fn new(value: f32) -> Self {
        Self { start: f32x4::splat(value), target: f32x4::splat(value), step: f32x4::ZERO }
    }

    fn ramp_to(&mut self, target: f32x4) {
        (self.start, self.target) = (self.target, target);
        self.step = (self.target - self.start) * f32x4::splat(1.0 / CONTROL_FRAMES as f32);
    }

    /// Returns the value of a lane, at four offsets in frames after the control point.
    #[inline(always)]
    fn value_at(&self, lane: usize, offsets: f32x4) -> f32x4 {
        let splat_lane = |values: &f32x4| f32x4::splat(values.as_array_ref()[lane]);
        splat_lane(&self.start) + splat_lane(&self.step) * offsets
    }
}

/// The delay lines with their absorption filters and the feedback matrix.
#[derive(Debug, Clone)]
pub(super) struct Network {
    sample_rate_hz: f64,
    delay_lines: [CompactDelayLine; LINE_COUNT],
    /// Mean delay of the lines in seconds.
    mean_secs: f64,
    absorption: Absorption,
    /// Sines and cosines of the rotation between groups 0 and 1, and between groups 2 and 3.
    sines: [Ramps; 2],
    cosines: [Ramps; 2],
}

impl Network {
    /// Creates a silent network whose delay lines have at most the lengths `longest`, in frames.
    pub(super) fn new(sample_rate_hz: f64, longest: &[usize; LINE_COUNT]) -> Self {
        Self {
            sample_rate_hz,
            delay_lines: longest.map(CompactDelayLine::new),
            mean_secs: LINE_SECS[1],
            absorption: Absorption::new(sample_rate_hz),
            sines: [Ramps::new(0.0); 2],
            cosines: [Ramps::new(1.0); 2],
        }
    }

    pub(super) fn clear(&mut self) {
        self.delay_lines.iter_mut().for_each(CompactDelayLine::clear);
        self.absorption.clear();
    }

    /// Sets the rotation, and the absorption for a decay and a room, without a ramp. `max_angle` is
    /// in radians.
    pub(super) fn start(&mut self, decay: &Decay, room: &TapCrossfade<Room>, phase: Phase, max_angle: f64) {
        self.absorption.reset_to(decay, &room.next().line_frames);
        self.update_lengths(room);
        self.rotate(phase, max_angle);
        self.rotate(phase, max_angle);
    }

    /// Starts ramps at a control point, to the absorption and the rotation of the next control
    /// point.
    pub(super) fn step(&mut self, decay: &Decay, room: &TapCrossfade<Room>, phase: Phase, max_angle: f64) {
        self.absorption.step(decay, &room.next().line_frames);
        self.update_lengths(room);
        self.rotate(phase, max_angle);
    }

    /// Sets the lengths of the delay lines to those of the room. During a crossfade, the lines have
    /// their maximum length.
    fn update_lengths(&mut self, room: &TapCrossfade<Room>) {
        let frames = &room.next().line_frames;
        for (delay_line, frames) in self.delay_lines.iter_mut().zip(frames) {
            if room.is_steady() {
                delay_line.set_frames(*frames);
            } else {
                delay_line.set_max_frames();
            }
        }
        let total_frames: usize = frames.iter().sum();
        self.mean_secs = total_frames as f64 / (LINE_COUNT as f64 * self.sample_rate_hz);
    }

    /// Returns the input gain at which the output of steady noise is about as loud as the input.
    /// Each channel feeds eight lines. Let k be the proportion of the energy that remains after one
    /// pass through the lines. Eight lines then output 8 k / (1 - k) times the energy of the input.
    /// The gain does not divide by the factor k in the numerator. Reverberation that decays within
    /// one pass is therefore soft.
    pub(super) fn input_gain(&self, decay_secs: f64) -> f64 {
        let remaining_energy = libm::exp10(-6.0 * self.mean_secs / decay_secs);
        libm::sqrt((1.0 - remaining_energy) * (2.0 / LINE_COUNT as f64))
    }

    fn rotate(&mut self, phase: Phase, max_angle: f64) {
        for pair in 0..2 {
            let angles: [f32; 4] = core::array::from_fn(|lane| {
                let eighths = (2 * lane + pair) as u64;
                (max_angle * sine(phase.wrapping_add(eighths << 61))) as f32
            });
            let angle = f32x4::new(angles);
            let square = angle * angle;
            // The Taylor series are accurate to 4e-7 at the largest angle. The cosine is rounded
            // down to keep the matrix from amplifying.
            let term = |factor: f64| f32x4::splat(factor as f32);
            let series = term(1.0 / 120.0) - square * term(1.0 / 5_040.0);
            let series = term(-1.0 / 6.0) + square * series;
            let sine = angle + angle * square * series;
            let series = term(1.0 / 24.0) - square * term(1.0 / 720.0);
            let cosine = f32x4::ONE - square * (f32x4::HALF - square * series);
            self.sines[pair].ramp_to(sine);
            self.cosines[pair].ramp_to(cosine);
        }
    }

    /// Feeds frames of both channels to the network and replaces them by its output.
    #[inline(always)]
    pub(super) fn process(
        &mut self,
        offset: usize,
        frames: usize,
        room: &TapCrossfade<Room>,
        inputs: &mut [[f32; CONTROL_FRAMES]; 2],
    ) {
        let mut columns = [[f32x4::ZERO; LINE_COUNT]; CONTROL_FRAMES / 4];
        let mut copy = [0.0; CONTROL_FRAMES];
        for (index, delay_line) in self.delay_lines.iter().enumerate() {
            let frames_back = room.current().line_frames[index];
            delay_line.prefetch();
            // Nearly all reads are contiguous and need no copy.
            let values = match delay_line.contiguous_samples(frames_back) {
                Some(samples) if room.is_steady() => samples,
                _ => {
                    delay_line.read(frames_back, &mut copy[..frames]);
                    room.crossfade(&mut copy[..frames], |room, values| {
                        delay_line.read(room.line_frames[index], values);
                    });
                    &copy
                }
            };
            for (column, values) in columns.iter_mut().zip(values.as_chunks().0) {
                column[index] = f32x4::new(*values);
            }
        }
        let [left, right] = inputs;
        let sides = left.as_chunks_mut().0.iter_mut().zip(right.as_chunks_mut().0);
        let mut states = self.absorption.states;
        for (quad, (column, (left, right))) in columns.iter_mut().zip(sides).enumerate() {
            let first_frame = 4 * quad;
            if first_frame >= frames {
                break;
            }
            self.absorption.process(&mut states, offset + first_frame, (frames - first_frame).min(4), column);
            self.mix(offset + first_frame, [left, right], column);
        }
        self.absorption.states = states;
        for (index, delay_line) in self.delay_lines.iter_mut().enumerate() {
            let contiguous =
                if frames == CONTROL_FRAMES { delay_line.next_contiguous_samples() } else { None };
            if let Some(samples) = contiguous {
                for (values, column) in samples.as_chunks_mut::<4>().0.iter_mut().zip(&columns) {
                    *values = column[index].to_array();
                }
            } else {
                let mut values = [[0.0; 4]; CONTROL_FRAMES / 4];
                for (values, column) in values.iter_mut().zip(&columns) {
                    *values = column[index].to_array();
                }
                delay_line.write(&values.as_flattened()[..frames]);
            }
        }
    }

    /// Processes four frames with the matrix, from `offset` frames after the control point on.
    /// Replaces the output of the delay lines in `columns` by their next input, and the input in
    /// `left` and `right` by the network's output.
    #[inline(always)]
    fn mix(&self, offset: usize, [left, right]: [&mut [f32; 4]; 2], columns: &mut Column) {
        let offsets = f32x4::new([0, 1, 2, 3].map(|frame| (offset + frame) as u16 as f32));
        let (input_left, input_right) = (f32x4::new(*left), f32x4::new(*right));
        let sum = |first: usize, second: usize| {
            let line_sum = |lane: usize| columns[first + lane] + columns[second + lane];
            ((line_sum(0) + line_sum(1)) - (line_sum(2) + line_sum(3))).to_array()
        };
        (*left, *right) = (sum(0, 4), sum(8, 12));
        for lane in 0..4 {
            let rotate = |pair: usize, a: f32x4, b: f32x4| {
                let (sine, cosine) =
                    (self.sines[pair].value_at(lane, offsets), self.cosines[pair].value_at(lane, offsets));
                (a * cosine - b * sine, a * sine + b * cosine)
            };
            let (a, b) = rotate(0, columns[lane], columns[4 + lane]);
            let (c, d) = rotate(1, columns[8 + lane], columns[12 + lane]);
            [columns[lane], columns[4 + lane], columns[8 + lane], columns[12 + lane]] = reflect([a, b, c, d]);
        }
        let square = *columns;
        let floor = f32x4::splat(1e-18);
        for (lane, [a, b, c, d]) in square.as_chunks().0.iter().enumerate() {
            let [a, b, c, d] = reflect([*a, *b, *c, *d]);
            // Each channel feeds half of the lines. Alternating signs keep the input from
            // circulating in phase.
            let line_inputs = if lane % 2 == 0 {
                [a + input_left, b + input_left, c + input_right, d + input_right]
            } else {
                [a - input_left, b - input_left, c - input_right, d - input_right]
            };
            // The square of lines is transposed: groups become lanes.
            for (group, values) in line_inputs.into_iter().enumerate() {
                columns[4 * group + lane] = (values + floor) - floor;
            }
        }
    }
}

/// Returns the Householder reflection of four values: x - J x / 2, where J is the matrix of ones.
#[inline(always)]
fn reflect([a, b, c, d]: [f32x4; 4]) -> [f32x4; 4] {
    let half_sum = ((a + b) + (c + d)) * f32x4::HALF;
    [a - half_sum, b - half_sum, c - half_sum, d - half_sum]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::reverb::room::line_frames;

    #[test]
    fn the_matrix_keeps_the_energy_of_the_delay_lines() {
        let mut network = Network::new(48_000.0, &line_frames(48_000.0, 1.0));
        network.rotate(12_345 << 45, 0.6);
        network.rotate(13_000 << 45, 0.6);
        let mut lines: Column = core::array::from_fn(|index| {
            f32x4::new([0.3, -0.1, 0.7, 1.0]) * f32x4::splat(((7 * index) % 11) as f32 - 4.0)
        });
        let energy = |lines: &Column| -> f32 {
            lines.iter().flat_map(|values| values.to_array()).map(|value| value * value).sum()
        };
        let energy_before = energy(&lines);
        for offset in 0..32 {
            let [mut left, mut right] = [[0.0; 4]; 2];
            network.mix(offset, [&mut left, &mut right], &mut lines);
        }
        let energy_after = energy(&lines);
        assert!(
            (energy_after / energy_before - 1.0).abs() < 1e-4,
            "the energy changes from {energy_before} to {energy_after}"
        );
    }
}

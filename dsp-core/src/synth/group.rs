//! Eight voices in lockstep: their filters, whose every output depends on the one before, so that
//! only different voices can be computed together.

use super::filter::Coefficients;
use super::interpolation::{CHUNK_FRAMES, Chunk};
use super::lanes::{LANES, Lanes};
use super::simd::on_best_instructions;

/// Below this a filter's memory counts as silence, so that it never reaches denormal numbers,
/// which are slow: -300 dB.
const SILENCE: f32 = 1e-15;

/// The filters of eight voices.
#[derive(Debug, Clone)]
pub(super) struct Group {
    coefficients: [Lanes; 5],
    coefficient_steps: [Lanes; 5],
    /// Whether any coefficient moves.
    moving: bool,
    inputs: [Lanes; 2],
    outputs: [Lanes; 2],
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            coefficients: [Lanes::ZERO; 5],
            coefficient_steps: [Lanes::ZERO; 5],
            moving: false,
            inputs: [Lanes::ZERO; 2],
            outputs: [Lanes::ZERO; 2],
        }
    }

    /// A lane for a voice that starts: its filter at rest.
    pub(super) fn start_lane(&mut self, lane: usize, coefficients: Coefficients) {
        for lanes in self.inputs.iter_mut().chain(&mut self.outputs) {
            lanes.0[lane] = 0.0;
        }
        self.hold_filter(lane, coefficients);
    }

    /// A lane without a voice.
    pub(super) fn silence_lane(&mut self, lane: usize) {
        self.start_lane(lane, Coefficients::CLOSED);
    }

    /// Lets a lane's filter become another in `1 / per_frame` frames; the filters between two
    /// stable ones are stable.
    pub(super) fn aim_filter(&mut self, lane: usize, target: Coefficients, per_frame: f32) {
        for (place, target) in target.as_array().into_iter().enumerate() {
            self.coefficient_steps[place].0[lane] = (target - self.coefficients[place].0[lane]) * per_frame;
        }
    }

    /// Lets a lane's filter stay exactly what it is.
    pub(super) fn hold_filter(&mut self, lane: usize, coefficients: Coefficients) {
        for (place, value) in coefficients.as_array().into_iter().enumerate() {
            self.coefficients[place].0[lane] = value;
            self.coefficient_steps[place].0[lane] = 0.0;
        }
    }

    /// To be called when the aims of some lanes have been set anew.
    pub(super) fn settle(&mut self) {
        self.moving = self.coefficient_steps.iter().any(|lanes| *lanes != Lanes::ZERO);
        for lanes in self.inputs.iter_mut().chain(&mut self.outputs) {
            for value in &mut lanes.0 {
                *value = if value.abs() < SILENCE { 0.0 } else { *value };
            }
        }
    }
}

on_best_instructions! {
    /// Passes the first `frames` frames of each lane's chunk through its filter.
    pub(super) fn filter(group: &mut Group, chunks: &mut [Chunk; LANES], frames: usize) = filter_inline;
}

#[inline(always)]
fn filter_inline(group: &mut Group, chunks: &mut [Chunk; LANES], frames: usize) {
    let mut rows = [Lanes::ZERO; CHUNK_FRAMES];
    let frames = frames.min(CHUNK_FRAMES);
    for (frame, row) in rows[..frames].iter_mut().enumerate() {
        for lane in 0..LANES {
            row.0[lane] = chunks[lane][frame];
        }
    }
    if group.moving {
        run::<true>(group, &mut rows[..frames]);
    } else {
        run::<false>(group, &mut rows[..frames]);
    }
    for (lane, chunk) in chunks.iter_mut().enumerate() {
        for (value, row) in chunk.iter_mut().zip(&rows[..frames]) {
            *value = row.0[lane];
        }
    }
}

#[inline(always)]
fn run<const MOVING: bool>(group: &mut Group, rows: &mut [Lanes]) {
    let [mut newest, mut middle, mut oldest, mut near, mut far] = group.coefficients;
    let [newest_step, middle_step, oldest_step, near_step, far_step] = group.coefficient_steps;
    let [mut input_1, mut input_2] = group.inputs;
    let [mut output_1, mut output_2] = group.outputs;
    for row in rows {
        if MOVING {
            newest = newest + newest_step;
            middle = middle + middle_step;
            oldest = oldest + oldest_step;
            near = near + near_step;
            far = far + far_step;
        }
        let input = *row;
        let forward = newest * input + (middle * input_1 + oldest * input_2);
        let output = (forward - far * output_2) - near * output_1;
        (input_2, input_1) = (input_1, input);
        (output_2, output_1) = (output_1, output);
        *row = output;
    }
    group.coefficients = [newest, middle, oldest, near, far];
    group.inputs = [input_1, input_2];
    group.outputs = [output_1, output_2];
}

//! Eight voices in lockstep: filter, gains, and the sum on the four outputs of a synthesizer.

use super::filter::Coefficients;
use super::interpolation::{CHUNK_FRAMES, Chunk};
use super::lanes::{LANES, Lanes};
use super::simd::on_best_instructions;

/// What a voice sounds on: left, right, and what goes to the reverb and to the chorus.
pub(super) const OUTPUTS: usize = 4;

/// The sums of all groups for a chunk of frames, still lane by lane.
pub(super) type Sums = [[Lanes; CHUNK_FRAMES]; OUTPUTS];

/// Below this a filter's memory counts as silence, so that it never reaches denormal numbers,
/// which are slow: -300 dB.
const SILENCE: f32 = 1e-15;

/// The part of eight voices that is computed for every frame.
#[derive(Debug, Clone)]
pub(super) struct Group {
    coefficients: [Lanes; 5],
    coefficient_steps: [Lanes; 5],
    /// Whether any coefficient moves.
    moving: bool,
    gains: [Lanes; OUTPUTS],
    gain_steps: [Lanes; OUTPUTS],
    inputs: [Lanes; 2],
    outputs: [Lanes; 2],
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            coefficients: [Lanes::ZERO; 5],
            coefficient_steps: [Lanes::ZERO; 5],
            moving: false,
            gains: [Lanes::ZERO; OUTPUTS],
            gain_steps: [Lanes::ZERO; OUTPUTS],
            inputs: [Lanes::ZERO; 2],
            outputs: [Lanes::ZERO; 2],
        }
    }

    /// A lane for a voice that starts: silent, its filter at rest.
    pub(super) fn start_lane(&mut self, lane: usize, coefficients: Coefficients) {
        self.silence_lane(lane);
        for (lanes, value) in self.coefficients.iter_mut().zip(coefficients.as_array()) {
            lanes.0[lane] = value;
        }
    }

    /// A lane without a voice.
    pub(super) fn silence_lane(&mut self, lane: usize) {
        let filter = self.coefficients.iter_mut().chain(&mut self.coefficient_steps);
        let gains = self.gains.iter_mut().chain(&mut self.gain_steps);
        let memory = self.inputs.iter_mut().chain(&mut self.outputs);
        filter.chain(gains).chain(memory).for_each(|lanes| lanes.0[lane] = 0.0);
    }

    /// Lets a lane's gains reach their targets in `1 / per_frame` frames.
    pub(super) fn aim_gains(&mut self, lane: usize, targets: [f32; OUTPUTS], per_frame: f32) {
        for (output, target) in targets.into_iter().enumerate() {
            self.gain_steps[output].0[lane] = (target - self.gains[output].0[lane]) * per_frame;
        }
    }

    /// Lets a lane's filter become another in `1 / per_frame` frames; the filters between two
    /// stable ones are stable.
    pub(super) fn aim_filter(&mut self, lane: usize, target: Coefficients, per_frame: f32) {
        for (place, target) in target.as_array().into_iter().enumerate() {
            self.coefficient_steps[place].0[lane] = (target - self.coefficients[place].0[lane]) * per_frame;
        }
        self.moving = true;
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
                if value.abs() < SILENCE {
                    *value = 0.0;
                }
            }
        }
    }
}

on_best_instructions! {
    /// Adds the next `frames` frames of eight voices to the sums. `chunks` holds what each lane's
    /// voice reads from its sample.
    pub(super) fn add(group: &mut Group, chunks: &[Chunk; LANES], frames: usize, sums: &mut Sums) = add_inline;
}

#[inline(always)]
fn add_inline(group: &mut Group, chunks: &[Chunk; LANES], frames: usize, sums: &mut Sums) {
    if group.moving {
        filter_and_sum::<true>(group, chunks, frames, sums);
    } else {
        filter_and_sum::<false>(group, chunks, frames, sums);
    }
}

#[inline(always)]
fn filter_and_sum<const MOVING: bool>(
    group: &mut Group,
    chunks: &[Chunk; LANES],
    frames: usize,
    sums: &mut Sums,
) {
    let [mut newest, mut middle, mut oldest, mut near, mut far] = group.coefficients;
    let [mut input_1, mut input_2] = group.inputs;
    let [mut output_1, mut output_2] = group.outputs;
    let mut gains = group.gains;
    for frame in 0..frames.min(CHUNK_FRAMES) {
        if MOVING {
            let [newest_step, middle_step, oldest_step, near_step, far_step] = group.coefficient_steps;
            newest = newest + newest_step;
            middle = middle + middle_step;
            oldest = oldest + oldest_step;
            near = near + near_step;
            far = far + far_step;
        }
        let input = Lanes(core::array::from_fn(|lane| chunks[lane][frame]));
        let forward = newest * input + (middle * input_1 + oldest * input_2);
        let output = (forward - far * output_2) - near * output_1;
        (input_2, input_1) = (input_1, input);
        (output_2, output_1) = (output_1, output);
        for place in 0..OUTPUTS {
            gains[place] = gains[place] + group.gain_steps[place];
            sums[place][frame] = sums[place][frame] + output * gains[place];
        }
    }
    group.coefficients = [newest, middle, oldest, near, far];
    group.inputs = [input_1, input_2];
    group.outputs = [output_1, output_2];
    group.gains = gains;
}

//! Eight voices in lockstep: their filters, whose every output depends on the one before, so that
//! only different voices can be computed together. They run as two quads, the second only where it
//! has voices: with both, one fills the waits of the other.

use wide::f32x4;

use super::filter::Coefficients;
use super::interpolation::{CHUNK_FRAMES, Chunk};
use super::lanes::LANES;
use crate::simd::{on_best_instructions, transpose};

/// Voices that share a register.
const QUAD: usize = 4;

/// Below this a filter's memory counts as silence, so that it never reaches denormal numbers,
/// which are slow: -300 dB.
const SILENCE: f32 = 1e-15;

/// The filters of four voices, lane by lane.
#[derive(Debug, Clone, Copy)]
struct Quad {
    coefficients: [[f32; QUAD]; 5],
    coefficient_steps: [[f32; QUAD]; 5],
    inputs: [[f32; QUAD]; 2],
    outputs: [[f32; QUAD]; 2],
}

impl Quad {
    const CLOSED: Self = Self {
        coefficients: [[0.0; QUAD]; 5],
        coefficient_steps: [[0.0; QUAD]; 5],
        inputs: [[0.0; QUAD]; 2],
        outputs: [[0.0; QUAD]; 2],
    };
}

/// The filters of eight voices.
#[derive(Debug, Clone)]
pub(super) struct Group {
    quads: [Quad; LANES / QUAD],
    /// Whether any coefficient moves.
    moving: bool,
}

impl Group {
    pub(super) fn new() -> Self {
        Self { quads: [Quad::CLOSED; LANES / QUAD], moving: false }
    }

    /// A lane for a voice that starts: its filter at rest.
    pub(super) fn start_lane(&mut self, lane: usize, coefficients: Coefficients) {
        let quad = &mut self.quads[lane / QUAD];
        for lanes in quad.inputs.iter_mut().chain(&mut quad.outputs) {
            lanes[lane % QUAD] = 0.0;
        }
        self.hold_filter(lane, coefficients);
    }

    /// A lane without a voice.
    pub(super) fn silence_lane(&mut self, lane: usize) {
        self.start_lane(lane, Coefficients::CLOSED);
    }

    /// Whether a lane's filter has rung out: 96 dB below full scale.
    pub(super) fn is_quiet(&self, lane: usize) -> bool {
        const QUIET: f32 = 1.6e-5;
        let quad = &self.quads[lane / QUAD];
        quad.inputs.iter().chain(&quad.outputs).all(|lanes| lanes[lane % QUAD].abs() < QUIET)
    }

    /// Lets a lane's filter become another in `1 / per_frame` frames; the filters between two
    /// stable ones are stable.
    pub(super) fn aim_filter(&mut self, lane: usize, target: Coefficients, per_frame: f32) {
        let quad = &mut self.quads[lane / QUAD];
        let lane = lane % QUAD;
        for (place, target) in target.as_array().into_iter().enumerate() {
            quad.coefficient_steps[place][lane] = (target - quad.coefficients[place][lane]) * per_frame;
        }
        self.moving = true;
    }

    /// Lets a lane's filter stay exactly what it is.
    pub(super) fn hold_filter(&mut self, lane: usize, coefficients: Coefficients) {
        let quad = &mut self.quads[lane / QUAD];
        let lane = lane % QUAD;
        for (place, value) in coefficients.as_array().into_iter().enumerate() {
            quad.coefficients[place][lane] = value;
            quad.coefficient_steps[place][lane] = 0.0;
        }
    }

    /// To be called before lanes are aimed: no filter moves until one is aimed.
    pub(super) fn rest(&mut self) {
        self.moving = false;
    }

    /// Forgets what is below all hearing in the filters' memory.
    pub(super) fn forget_silence(&mut self) {
        for quad in &mut self.quads {
            for value in quad.inputs.iter_mut().chain(&mut quad.outputs).flatten() {
                *value = if value.abs() < SILENCE { 0.0 } else { *value };
            }
        }
    }
}

on_best_instructions! {
    /// Passes the first `frames` frames of each lane's chunk through its filter; what is behind them
    /// is used up. Lanes from `lanes` on have no voice.
    pub(super) fn filter(group: &mut Group, chunks: &mut [Chunk; LANES], lanes: usize, frames: usize) =
        filter_inline;
}

#[inline(always)]
fn filter_inline(group: &mut Group, chunks: &mut [Chunk; LANES], lanes: usize, frames: usize) {
    let [first, _] = &mut group.quads;
    match (group.moving, lanes <= QUAD) {
        (false, true) => run::<1, false>(core::array::from_mut(first), chunks, frames),
        (true, true) => run::<1, true>(core::array::from_mut(first), chunks, frames),
        (false, false) => run::<2, false>(&mut group.quads, chunks, frames),
        (true, false) => run::<2, true>(&mut group.quads, chunks, frames),
    }
}

/// The state of a quad while it runs.
#[derive(Clone, Copy)]
struct Running {
    coefficients: [f32x4; 5],
    steps: [f32x4; 5],
    inputs: [f32x4; 2],
    outputs: [f32x4; 2],
}

impl Running {
    const ZERO: Self = Self {
        coefficients: [f32x4::ZERO; 5],
        steps: [f32x4::ZERO; 5],
        inputs: [f32x4::ZERO; 2],
        outputs: [f32x4::ZERO; 2],
    };

    #[inline(always)]
    fn load(quad: &Quad) -> Self {
        let mut running = Self::ZERO;
        for place in 0..5 {
            running.coefficients[place] = f32x4::from(quad.coefficients[place]);
            running.steps[place] = f32x4::from(quad.coefficient_steps[place]);
        }
        for place in 0..2 {
            running.inputs[place] = f32x4::from(quad.inputs[place]);
            running.outputs[place] = f32x4::from(quad.outputs[place]);
        }
        running
    }

    #[inline(always)]
    fn store(self, quad: &mut Quad) {
        for place in 0..5 {
            quad.coefficients[place] = self.coefficients[place].to_array();
        }
        for place in 0..2 {
            quad.inputs[place] = self.inputs[place].to_array();
            quad.outputs[place] = self.outputs[place].to_array();
        }
    }

    #[inline(always)]
    fn next<const MOVING: bool>(&mut self, input: f32x4) -> f32x4 {
        if MOVING {
            for place in 0..5 {
                self.coefficients[place] += self.steps[place];
            }
        }
        let [newest, middle, oldest, near, far] = self.coefficients;
        let forward = newest * input + (middle * self.inputs[0] + oldest * self.inputs[1]);
        let output = (forward - far * self.outputs[1]) - near * self.outputs[0];
        self.inputs = [input, self.inputs[0]];
        self.outputs = [output, self.outputs[0]];
        output
    }
}

/// Four frames of four lanes at a time, so that lanes become rows and back in registers.
#[inline(always)]
fn run<const QUADS: usize, const MOVING: bool>(
    quads: &mut [Quad; QUADS],
    chunks: &mut [Chunk; LANES],
    frames: usize,
) {
    let mut running = [Running::ZERO; QUADS];
    for (running, quad) in running.iter_mut().zip(&*quads) {
        *running = Running::load(quad);
    }
    let frames = frames.min(CHUNK_FRAMES);
    let whole = frames - frames % QUAD;
    for first in (0..whole).step_by(QUAD) {
        let mut lanes = [[f32x4::ZERO; QUAD]; QUADS];
        for (lanes, chunks) in lanes.iter_mut().zip(chunks.as_chunks::<QUAD>().0) {
            for (lane, chunk) in lanes.iter_mut().zip(chunks) {
                let mut values = [0.0; QUAD];
                values.copy_from_slice(&chunk[first..first + QUAD]);
                *lane = f32x4::from(values);
            }
            *lanes = transpose(*lanes);
        }
        for frame in 0..QUAD {
            for (running, rows) in running.iter_mut().zip(&mut lanes) {
                rows[frame] = running.next::<MOVING>(rows[frame]);
            }
        }
        for (lanes, chunks) in lanes.iter().zip(chunks.as_chunks_mut::<QUAD>().0) {
            for (lane, chunk) in transpose(*lanes).iter().zip(chunks) {
                chunk[first..first + QUAD].copy_from_slice(&lane.to_array());
            }
        }
    }
    for (running, chunks) in running.iter_mut().zip(chunks.as_chunks_mut::<QUAD>().0) {
        for frame in whole..frames {
            let inputs = chunks.each_ref().map(|chunk| chunk[frame]);
            let outputs = running.next::<MOVING>(f32x4::from(inputs)).to_array();
            for (chunk, output) in chunks.iter_mut().zip(outputs) {
                chunk[frame] = output;
            }
        }
    }
    for (running, quad) in running.into_iter().zip(quads) {
        running.store(quad);
    }
}

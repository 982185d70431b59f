//! The filters of voices in lockstep: every output of a filter depends on the one before, so that
//! only different voices can be computed together. They run as quads, two at a time where there are
//! more than four of them: one fills the waits of the other.

use wide::f32x4;

use super::filter::Coefficients;
use super::interpolation::{CHUNK_FRAMES, Chunk};
use super::voices::GROUP;
use crate::simd::{on_best_instructions, transpose};

/// Voices that share a register.
const QUAD: usize = 4;

/// Voices of two of them.
pub(super) const PAIR: usize = 2 * QUAD;

/// Pairs of a group.
pub(super) const PAIRS: usize = GROUP / PAIR;

/// Numbers that a filter consists of, and some that make whole rows of them.
const NUMBERS: usize = 16;

/// Where the numbers stand: coefficients, their steps, the last inputs and the last outputs, the
/// latest first.
const STEPS: usize = 5;
const INPUTS: usize = 10;
const OUTPUTS: usize = 12;
const END: usize = 14;

/// Below this a filter's memory counts as silence, so that it never reaches denormal numbers,
/// which are slow: -300 dB.
const SILENCE: f32 = 1e-15;

/// The filter of a voice: what it is, where it goes, and what it remembers.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct VoiceFilter {
    numbers: [f32; NUMBERS],
}

impl VoiceFilter {
    pub(super) const OPEN: Self = {
        let mut numbers = [0.0; NUMBERS];
        numbers[0] = 1.0;
        Self { numbers }
    };

    /// A filter at rest.
    pub(super) fn new(coefficients: Coefficients) -> Self {
        let mut filter = Self::OPEN;
        filter.hold(coefficients);
        filter
    }

    /// Whether it has rung out: 96 dB below full scale, and without an input it gets no louder.
    pub(super) fn is_quiet(&self) -> bool {
        const QUIET: f64 = 1.6e-5;
        let numbers = self.numbers.map(f64::from);
        if numbers[INPUTS..OUTPUTS].iter().any(|value| value.abs() >= QUIET) {
            return false;
        }
        let [near, far] = [numbers[STEPS - 2], numbers[STEPS - 1]];
        let [last, before] = [numbers[OUTPUTS], numbers[OUTPUTS + 1]];
        // Poles at a distance r and an angle w ring as A r^n cos(w n + p). Of any two outputs that
        // follow each other y^2 + near y z + far z^2 is A^2 sin^2 w, wherever between its peaks the
        // wave is.
        let square_of_sine = 1.0 - near * near / (4.0 * far);
        if far > 0.0 && square_of_sine > 0.0 {
            let energy = last * last + near * last * before + far * before * before;
            energy < QUIET * QUIET * square_of_sine
        } else {
            last.abs() < QUIET && before.abs() < QUIET
        }
    }

    /// Lets the filter become another in `1 / per_frame` frames; the filters between two stable
    /// ones are stable.
    pub(super) fn aim(&mut self, target: Coefficients, per_frame: f32) {
        let (coefficients, steps) = self.numbers.split_at_mut(STEPS);
        for ((step, coefficient), target) in steps.iter_mut().zip(coefficients).zip(target.as_array()) {
            *step = (target - *coefficient) * per_frame;
        }
    }

    /// Goes on its way to another filter by so many frames.
    pub(super) fn skip(&mut self, frames: f32) {
        let (coefficients, steps) = self.numbers.split_at_mut(STEPS);
        for (coefficient, step) in coefficients.iter_mut().zip(steps) {
            *coefficient += *step * frames;
        }
    }

    /// What it is now.
    pub(super) fn coefficients(&self) -> Coefficients {
        Coefficients::from_array(core::array::from_fn(|number| self.numbers[number]))
    }

    /// Lets the filter stay exactly what it is.
    pub(super) fn hold(&mut self, coefficients: Coefficients) {
        self.numbers[..STEPS].copy_from_slice(&coefficients.as_array());
        self.numbers[STEPS..INPUTS].fill(0.0);
    }

    /// Lets values pass that an open filter does not change.
    pub(super) fn remember(&mut self, values: &[f32]) {
        for value in &values[values.len().saturating_sub(2)..] {
            for memory in [INPUTS, OUTPUTS] {
                self.numbers[memory + 1] = self.numbers[memory];
                self.numbers[memory] = *value;
            }
        }
    }

    /// Forgets what is below all hearing.
    pub(super) fn forget_silence(&mut self) {
        for value in &mut self.numbers[INPUTS..END] {
            *value = if value.abs() < SILENCE { 0.0 } else { *value };
        }
    }
}

/// The filters of the voices of a group, in its first lanes.
pub(super) type Filters<'a> = [Option<&'a mut VoiceFilter>; GROUP];

on_best_instructions! {
    /// Passes the first `frames` frames of each chunk through its filter, of which there are
    /// `count`, in the first lanes; what is behind these frames, and in the chunks of other lanes,
    /// stays. `moving` is whether any coefficient of a pair of quads moves.
    pub(super) fn filter(
        filters: &mut Filters<'_>,
        chunks: &mut [Chunk; GROUP],
        count: usize,
        moving: [bool; PAIRS],
        frames: usize,
    ) = filter_inline;
}

#[inline(always)]
fn filter_inline(
    filters: &mut Filters<'_>,
    chunks: &mut [Chunk; GROUP],
    count: usize,
    moving: [bool; PAIRS],
    frames: usize,
) {
    let pairs = filters.as_chunks_mut().0.iter_mut().zip(chunks.as_chunks_mut().0);
    for (((filters, chunks), moving), first) in pairs.zip(moving).zip((0..count).step_by(PAIR)) {
        match (moving, count - first <= QUAD) {
            (false, true) => run::<1, false>(filters, chunks, frames),
            (true, true) => run::<1, true>(filters, chunks, frames),
            (false, false) => run::<2, false>(filters, chunks, frames),
            (true, false) => run::<2, true>(filters, chunks, frames),
        }
    }
}

/// The filters of a quad while they run, voice by voice in the lanes.
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
    fn load(filters: &[Option<&mut VoiceFilter>; QUAD]) -> Self {
        let columns = |row: usize| {
            let of = |lane: usize| {
                let filter = filters[lane].as_deref().unwrap_or(&VoiceFilter::OPEN);
                f32x4::from(filter.numbers.as_chunks().0[row])
            };
            transpose([of(0), of(1), of(2), of(3)])
        };
        let ([a, b, c, d], [e, f, g, h]) = (columns(0), columns(1));
        let ([i, j, k, l], [m, n, ..]) = (columns(2), columns(3));
        Self { coefficients: [a, b, c, d, e], steps: [f, g, h, i, j], inputs: [k, l], outputs: [m, n] }
    }

    #[inline(always)]
    fn store(&self, filters: &mut [Option<&mut VoiceFilter>; QUAD]) {
        let Self { coefficients: [a, b, c, d, e], steps: [f, g, h, i, j], .. } = *self;
        let ([k, l], [m, n]) = (self.inputs, self.outputs);
        let columns = [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, f32x4::ZERO, f32x4::ZERO]];
        for (row, columns) in columns.into_iter().enumerate() {
            for (filter, values) in filters.iter_mut().zip(transpose(columns)) {
                if let Some(filter) = filter {
                    filter.numbers.as_chunks_mut().0[row] = values.to_array();
                }
            }
        }
    }

    #[inline(always)]
    fn next<const MOVING: bool>(&mut self, input: f32x4) -> f32x4 {
        if MOVING {
            for (coefficient, step) in self.coefficients.iter_mut().zip(self.steps) {
                *coefficient += step;
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

/// Four frames of four voices at a time, so that voices become lanes and back in registers.
#[inline(always)]
fn run<const QUADS: usize, const MOVING: bool>(
    filters: &mut [Option<&mut VoiceFilter>; PAIR],
    chunks: &mut [Chunk; PAIR],
    frames: usize,
) {
    let (filters, chunks) = (filters.as_chunks_mut::<QUAD>().0, chunks.as_chunks_mut::<QUAD>().0);
    let mut running = [Running::ZERO; QUADS];
    for (running, filters) in running.iter_mut().zip(&*filters) {
        *running = Running::load(filters);
    }
    let frames = frames.min(CHUNK_FRAMES);
    let whole = frames - frames % QUAD;
    for first in (0..whole).step_by(QUAD) {
        let mut lanes = [[f32x4::ZERO; QUAD]; QUADS];
        for (lanes, chunks) in lanes.iter_mut().zip(&*chunks) {
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
        for (lanes, chunks) in lanes.iter().zip(&mut *chunks) {
            for (lane, chunk) in transpose(*lanes).iter().zip(chunks) {
                chunk[first..first + QUAD].copy_from_slice(&lane.to_array());
            }
        }
    }
    for (running, chunks) in running.iter_mut().zip(chunks) {
        for frame in whole..frames {
            let inputs = chunks.each_ref().map(|chunk| chunk[frame]);
            let outputs = running.next::<MOVING>(f32x4::from(inputs)).to_array();
            for (chunk, output) in chunks.iter_mut().zip(outputs) {
                chunk[frame] = output;
            }
        }
    }
    for (running, filters) in running.iter().zip(filters) {
        running.store(filters);
    }
}

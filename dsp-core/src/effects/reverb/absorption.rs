//! What each line of the network takes away, so that every frequency decays in its own time.
//!
//! A line of m frames that is to lose 60 dB in T seconds loses 60 m / (T rate) dB each time (J.-M.
//! Jot and A. Chaigne, "Digital Delay Networks for Designing Artificial Reverberators", AES 90th
//! Convention, 1991, section 3). Two shelves of the first order go from the loss of the bass to
//! that of the middle and on to that of the treble. Their half-way frequency is the same for every
//! line, for the loss in decibels to grow with the line's length at all frequencies (Jot,
//! "Proportional Parametric Equalizers", AES 139th Convention, 2015).

use wide::f32x4;

use super::network::{Column, GROUPS, LINES};
use crate::effects::CONTROL_FRAMES;
use crate::simd::transpose;

/// How long the late sound takes to fall by 60 dB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decay {
    pub(super) low_secs: f64,
    pub(super) middle_secs: f64,
    pub(super) high_secs: f64,
    /// Where bass turns into middle.
    pub(super) low_hz: f64,
    /// Where middle turns into treble.
    pub(super) high_hz: f64,
}

/// Coefficients of the two shelves of four lines, low and high: b0, b1 - a1 b0 and a1 of y = b0 x +
/// s, then s = b1 x - a1 y, which is s = (b1 - a1 b0) x - a1 s, a short way from one state to the
/// next.
type Shelves = [[f32x4; 3]; 2];

/// What the two shelves of a group keep, and those of all groups.
type State = [f32x4; 2];
pub(super) type States = [State; GROUPS];

/// Shelves through which everything passes as it is.
const THROUGH: Shelves = [[f32x4::ONE, f32x4::ZERO, f32x4::ZERO]; 2];

/// The shelves of all lines, whose coefficients go straight from one control place to the next.
#[derive(Debug, Clone)]
pub(super) struct Absorption {
    sample_rate_hz: f64,
    made_for: Option<(Decay, [usize; LINES])>,
    from: [Shelves; GROUPS],
    to: [Shelves; GROUPS],
    moves: bool,
    pub(super) states: States,
}

impl Absorption {
    pub(super) fn new(sample_rate_hz: f64) -> Self {
        Self {
            sample_rate_hz,
            made_for: None,
            from: [THROUGH; GROUPS],
            to: [THROUGH; GROUPS],
            moves: false,
            states: [[f32x4::ZERO; 2]; GROUPS],
        }
    }

    pub(super) fn clear(&mut self) {
        self.states = [[f32x4::ZERO; 2]; GROUPS];
    }

    /// At a control place: goes on to what absorbs for a decay in lines of so many frames.
    pub(super) fn step(&mut self, decay: &Decay, lines: &[usize; LINES]) {
        // What is far below hearing becomes 0.
        let floor = f32x4::splat(1e-18);
        for state in self.states.as_flattened_mut() {
            *state = (*state + floor) - floor;
        }
        if self.moves {
            self.from = self.to;
        }
        self.moves = self.made_for != Some((*decay, *lines));
        if self.moves {
            self.make(decay, lines);
        }
    }

    /// Absorbs at once.
    pub(super) fn jump(&mut self, decay: &Decay, lines: &[usize; LINES]) {
        self.make(decay, lines);
        (self.from, self.moves) = (self.to, false);
    }

    fn make(&mut self, decay: &Decay, lines: &[usize; LINES]) {
        self.made_for = Some((*decay, *lines));
        let warped = |frequency_hz: f64| {
            libm::tan(core::f64::consts::PI * (frequency_hz / self.sample_rate_hz).min(0.49))
        };
        let (low_warped, high_warped) = (warped(decay.low_hz), warped(decay.high_hz));
        for (group, lines) in lines.as_chunks::<4>().0.iter().enumerate() {
            let (mut low, mut high) = ([[0.0; 4]; 3], [[0.0; 4]; 3]);
            for (lane, frames) in lines.iter().enumerate() {
                let gain = |secs: f64| libm::exp10(-3.0 * *frames as f64 / (self.sample_rate_hz * secs));
                let middle = gain(decay.middle_secs);
                let below = libm::sqrt(gain(decay.low_secs) / middle);
                let above = libm::sqrt(gain(decay.high_secs) / middle);
                let shelves = [
                    (&mut low, middle, low_warped * below, low_warped / below),
                    (&mut high, above * above, high_warped / above, high_warped * above),
                ];
                for (shelf, gain, zero, pole) in shelves {
                    let scale = 1.0 / (1.0 + pole);
                    let direct = gain * (zero + 1.0) * scale;
                    let kept = (pole - 1.0) * scale;
                    shelf[0][lane] = direct as f32;
                    shelf[1][lane] = (gain * (zero - 1.0) * scale - kept * direct) as f32;
                    shelf[2][lane] = kept as f32;
                }
            }
            self.to[group] = [low, high].map(|shelf| shelf.map(f32x4::new));
        }
    }

    /// Passes some frames of all lines, at most four, the first of them so many after the control
    /// place. The states are the caller's copy of [`Self::states`] for the while, which can stay in
    /// registers.
    #[inline(always)]
    pub(super) fn process(&self, states: &mut States, offset: usize, frames: usize, lines: &mut Column) {
        for group in 0..GROUPS {
            // Lines of four frames become frames of four lines, and lines again.
            let [a, b, c, d] = [0, 1, 2, 3].map(|lane| lines[4 * group + lane]);
            let mut rows = transpose([a, b, c, d]);
            let (still, state) = (&self.from[group], &mut states[group]);
            if frames == 4 && !self.moves {
                rows.iter_mut().for_each(|values| pass(still, state, values));
            } else {
                for (frame, values) in rows.iter_mut().enumerate().take(frames) {
                    pass(&between(still, &self.to[group], offset + frame), state, values);
                }
            }
            for (lane, values) in transpose(rows).into_iter().enumerate() {
                lines[4 * group + lane] = values;
            }
        }
    }
}

/// Passes a frame of four lines.
#[inline(always)]
fn pass(shelves: &Shelves, state: &mut State, values: &mut f32x4) {
    for ([direct, fed, kept], state) in shelves.iter().zip(state) {
        let before = *state;
        *state = *fed * *values - *kept * before;
        *values = *direct * *values + before;
    }
}

/// The shelves so many frames after the control place.
#[inline(always)]
fn between(from: &Shelves, to: &Shelves, offset: usize) -> Shelves {
    let way = f32x4::splat(offset as u16 as f32 * (1.0 / CONTROL_FRAMES as f32));
    let mut shelves = *from;
    for (value, to) in shelves.as_flattened_mut().iter_mut().zip(to.as_flattened()) {
        *value = *value + (*to - *value) * way;
    }
    shelves
}

//! Sections whose responses ramp, and their processing in series.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
use super::avx2;
use super::factors::{Factors, State, step, step_moving};
use super::shape::Shape;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::stereo_frames::Frame;

/// A state below this magnitude counts as silent.
const SILENT_MAGNITUDE: f64 = 1e-30;

/// A stereo section, whose response ramps linearly from one control point to the next.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    is_passthrough: bool,
    is_moving: bool,
    factors: Factors,
    state: State,
    start_shape: Shape,
    target_shape: Shape,
}

impl Section {
    /// Creates a silent, steady section.
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            is_passthrough: shape.is_passthrough(),
            is_moving: false,
            factors: Factors::new(&shape),
            state: [Frame::ZERO; 2],
            start_shape: shape,
            target_shape: shape,
        }
    }

    /// Sets the response immediately and clears the state.
    pub(crate) fn reset(&mut self, shape: Shape) {
        *self = Self::new(shape);
    }

    /// Starts a ramp at a control point, from the target of the last ramp to a response at the next
    /// control point.
    pub(crate) fn ramp_to(&mut self, shape: Shape) {
        if !self.is_moving {
            if shape == self.target_shape {
                return;
            }
            self.state = self.factors.moving_state(self.state);
        }
        (self.start_shape, self.target_shape) = (self.target_shape, shape);
        self.is_moving = self.start_shape != self.target_shape;
        self.is_passthrough = self.start_shape.is_passthrough() && self.target_shape.is_passthrough();
        if self.is_passthrough {
            self.state = [Frame::ZERO; 2];
        }
        if !self.is_moving {
            self.factors = Factors::new(&shape);
            self.state = self.factors.steady_state(self.state);
        }
    }

    /// Clears states that would become denormal. The caller calls this at fixed frames of the
    /// clock.
    pub(crate) fn flush_denormals(&mut self) {
        let is_silent = |state: &Frame| state.to_array().iter().all(|value| value.abs() < SILENT_MAGNITUDE);
        if !self.is_passthrough && self.state.iter().all(is_silent) {
            self.state = [Frame::ZERO; 2];
        }
    }

    /// Whether the state is silent.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_passthrough || self.state.iter().all(|state| state.to_array() == [0.0; 2])
    }

    /// Whether the response ramps until the next control point.
    pub(crate) fn is_moving(&self) -> bool {
        self.is_moving
    }

    /// Whether the output equals the input until the next control point.
    pub(crate) fn is_passthrough(&self) -> bool {
        self.is_passthrough
    }

    /// Filters frames in place, from `offset` frames after a control point on.
    fn process(&mut self, offset: usize, audio: &mut [Frame]) {
        if !self.is_moving {
            return run_in_lockstep([self], audio);
        }
        for (frame, value) in audio.iter_mut().enumerate() {
            let fraction = (offset + frame) as f64 * (1.0 / CONTROL_FRAMES as f64);
            *value = step_moving(
                &self.start_shape.interpolate(&self.target_shape, fraction),
                &mut self.state,
                *value,
            );
        }
    }
}

/// Maximum number of sections that process frames in lockstep. In lockstep, the CPU computes one
/// section while another waits for its previous frame. On WebAssembly, the registers suffice for
/// the coefficients of two sections.
const MAX_LOCKSTEP: usize = if cfg!(target_arch = "wasm32") { 2 } else { 4 };

/// Filters frames with sections in series. Skips sections that pass their input through.
///
/// Up to [`MAX_LOCKSTEP`] steady sections process in lockstep.
#[inline(always)]
pub(crate) fn process_in_series(sections: &mut [Section], offset: usize, audio: &mut [Frame]) {
    let mut remaining = sections.iter_mut().filter(|section| !section.is_passthrough).peekable();
    while let Some(first) = remaining.next() {
        if first.is_moving {
            first.process(offset, audio);
            continue;
        }
        let mut next_steady = |number| {
            if number <= MAX_LOCKSTEP { remaining.next_if(|section| !section.is_moving) } else { None }
        };
        match (next_steady(2), next_steady(3), next_steady(4)) {
            (Some(second), Some(third), Some(fourth)) => {
                run_in_lockstep([first, second, third, fourth], audio);
            }
            (Some(second), Some(third), _) => run_in_lockstep([first, second, third], audio),
            (Some(second), ..) => run_in_lockstep([first, second], audio),
            _ => run_in_lockstep([first], audio),
        }
    }
}

#[inline(always)]
fn run_in_lockstep<const COUNT: usize>(sections: [&mut Section; COUNT], audio: &mut [Frame]) {
    let factors: [Factors; COUNT] = core::array::from_fn(|index| sections[index].factors);
    let mut states: [State; COUNT] = core::array::from_fn(|index| sections[index].state);
    process_lockstep(&factors, &mut states, audio);
    for (section, state) in sections.into_iter().zip(states) {
        section.state = state;
    }
}

#[inline(always)]
fn process_lockstep<const COUNT: usize>(
    factors: &[Factors; COUNT],
    states: &mut [State; COUNT],
    audio: &mut [Frame],
) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if audio.len() >= avx2::min_frames(COUNT) && crate::simd::has_avx2() {
        #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
        // SAFETY: `avx2` has confirmed that the CPU has AVX2, the only feature that the function
        // needs.
        return unsafe { avx2::process_lockstep(factors, states, audio) };
    }
    for value in audio {
        for (factors, state) in factors.iter().zip(&mut *states) {
            *value = step(factors, state, *value);
        }
    }
}

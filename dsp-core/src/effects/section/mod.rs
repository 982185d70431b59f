//! A second-order filter section that stays stable and silent of clicks while its coefficients
//! move.
//!
//! The trapezoidal state-variable filter of A. Simper, "Linear Trapezoidal Integrated SVF"
//! (Cytomic, 2013); V. Zavalishin, "The Art of VA Filter Design" (2012), chapter 4. Its transfer
//! function is the bilinear transform of an analogue one, as in R. Bristow-Johnson's "Audio EQ
//! Cookbook"; unlike a direct form it keeps its energy when the coefficients change from frame to
//! frame.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod avx2;

use wide::f64x2;

use super::{CONTROL_FRAMES, Glide, LONGEST_FRAMES};

/// Magnitude below which a state counts as silence: far below what an output can hold.
const SILENT: f64 = 1e-30;

/// Left and right of a frame.
pub(crate) type Frame = f64x2;

/// What a section does: with `s = j tan(pi f / rate) / g`,
/// `H = input + (band s + low) / (s^2 + damping s + 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// `tan(pi f0 / rate)`, above 0.
    pub(crate) g: f64,
    /// `1 / Q`, above 0.
    pub(crate) damping: f64,
    /// Gain of the input.
    pub(crate) input: f64,
    /// Gain of the band-pass output.
    pub(crate) band: f64,
    /// Gain of the low-pass output.
    pub(crate) low: f64,
}

impl Shape {
    /// What passes everything as it is, tuned to a frequency.
    pub(crate) fn open(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 1.0, band: 0.0, low: 0.0 }
    }

    /// A low-pass filter of 12 dB an octave.
    pub(crate) fn low_pass(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 0.0, band: 0.0, low: 1.0 }
    }

    /// A high-pass filter of 12 dB an octave.
    pub(crate) fn high_pass(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 1.0, band: -damping, low: -1.0 }
    }

    /// A band-pass filter with 0 dB at its middle.
    pub(crate) fn band_pass(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 0.0, band: damping, low: 0.0 }
    }

    /// A notch.
    pub(crate) fn notch(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 1.0, band: -damping, low: 0.0 }
    }

    /// A bell of a gain `a * a` (Cookbook: peakingEQ; `a = 10^(dB / 40)`).
    pub(crate) fn bell(g: f64, q: f64, a: f64) -> Self {
        let damping = 1.0 / (q * a);
        Self { g, damping, input: 1.0, band: damping * (a * a - 1.0), low: 0.0 }
    }

    /// A shelf of a gain `a * a` below a frequency (Cookbook: lowShelf).
    pub(crate) fn low_shelf(g: f64, q: f64, a: f64) -> Self {
        let damping = 1.0 / q;
        Self { g: g / libm::sqrt(a), damping, input: 1.0, band: damping * (a - 1.0), low: a * a - 1.0 }
    }

    /// A shelf of a gain `a * a` above a frequency (Cookbook: highShelf).
    pub(crate) fn high_shelf(g: f64, q: f64, a: f64) -> Self {
        let damping = 1.0 / q;
        Self { g: g * libm::sqrt(a), damping, input: a * a, band: damping * (1.0 - a) * a, low: 1.0 - a * a }
    }

    /// So much of this filter, and of the input the rest.
    pub(crate) fn share(self, share: f64) -> Self {
        Self {
            input: 1.0 + (self.input - 1.0) * share,
            band: self.band * share,
            low: self.low * share,
            ..self
        }
    }

    /// Whether everything passes as it is.
    pub(crate) fn is_open(&self) -> bool {
        self.input == 1.0 && self.band == 0.0 && self.low == 0.0
    }

    /// Magnitude squared of the transfer function at `warped = tan(pi f / rate)`.
    pub(crate) fn power_at(&self, warped: f64) -> f64 {
        let s = warped / self.g;
        let (re, im) = (1.0 - s * s, self.damping * s);
        let (top_re, top_im) = (self.input * re + self.low, self.input * im + self.band * s);
        (top_re * top_re + top_im * top_im) / (re * re + im * im)
    }

    /// What lies so far on the straight way to another shape.
    fn towards(&self, to: &Self, way: f64) -> Self {
        let between = |from: f64, to: f64| from + (to - from) * way;
        Self {
            g: between(self.g, to.g),
            damping: between(self.damping, to.damping),
            input: between(self.input, to.input),
            band: between(self.band, to.band),
            low: between(self.low, to.low),
        }
    }
}

/// A frequency as the bilinear transform sees it: `tan(pi f / rate)`, the frequency kept below 0.49
/// of the rate.
pub(crate) fn warp(frequency_hz: f64, sample_rate_hz: f64) -> f64 {
    libm::tan(core::f64::consts::PI * (frequency_hz / sample_rate_hz).min(0.49))
}

/// A shape as factors of the inner loop: those of its transfer function in `1 / z`, above
/// `1 + last z^-1 + before z^-2` and below it, and what its states are by those of [`step_moving`].
#[derive(Debug, Clone, Copy)]
struct Factors {
    last: f64,
    before: f64,
    above: [f64; 3],
    to_half: f64,
    to_low: f64,
}

impl Factors {
    /// Of the bilinear transform `s = (1 - z^-1) / (g (1 + z^-1))`.
    #[inline]
    fn of(shape: &Shape) -> Self {
        let (g, damped) = (shape.g, shape.g * shape.damping);
        let a1 = 1.0 / (1.0 + g * g + damped);
        let (last, before) = (2.0 * (g * g - 1.0) * a1, (1.0 + g * g - damped) * a1);
        let (band, low) = (shape.band * g * a1, shape.low * g * g * a1);
        let input = shape.input;
        Self {
            last,
            before,
            above: [input + (low + band), input * last + 2.0 * low, input * before + (low - band)],
            to_half: g * a1,
            to_low: 2.0 * g * g * a1,
        }
    }

    /// What [`step_moving`] keeps, of what [`step`] keeps.
    fn moving(&self, [last, before]: State) -> State {
        [(last - before) * self.to_half, (last + before) * self.to_low]
    }

    /// What [`step`] keeps, of what [`step_moving`] keeps.
    fn still(&self, [half, low]: State) -> State {
        let (sum, difference) = (low * (0.5 / self.to_low), half * (0.5 / self.to_half));
        [sum + difference, sum - difference]
    }
}

/// While a shape stays: what stood in front of its zeros at the last frame and at the one before.
/// While it moves: half the first integrator's state and the second's.
type State = [Frame; 2];

/// One frame through a section that stays as it is: direct form II, in which a frame waits for the
/// one before it for a product and a difference only.
///
/// What is kept is up to `1 / (4 g^2)` times as loud as the input, and so is its rounding: in
/// double precision, of noise of full scale through 20 Hz at 192 kHz, below -200 dBFS with a Q of
/// 0.7 and below -170 dBFS with one of 40.
#[inline(always)]
fn step(factors: &Factors, [last, before]: &mut State, frame: Frame) -> Frame {
    let now = (frame - *before * factors.before) - *last * factors.last;
    let [above, above_last, above_before] = factors.above;
    let output = now * above + (*last * above_last + *before * above_before);
    (*last, *before) = (now, *last);
    output
}

/// One frame through a section that moves, in the trapezoidal form, of which half the first
/// integrator's state is kept: what a shape that moves leaves as it is.
#[inline(always)]
fn step_moving(shape: &Shape, [half, low]: &mut State, frame: Frame) -> Frame {
    let a1 = 1.0 / (1.0 + shape.g * (shape.g + shape.damping));
    let band = *half * (a1 + a1) + (frame - *low) * (shape.g * a1);
    let output = frame * shape.input + band * (shape.band + shape.low * shape.g) + *low * shape.low;
    *half = band - *half;
    *low += band * (shape.g + shape.g);
    output
}

/// A stereo section. Between two control places its shape goes straight from one to the next.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    is_open: bool,
    is_moving: bool,
    factors: Factors,
    state: State,
    from: Shape,
    to: Shape,
}

impl Section {
    /// A silent section at rest.
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            is_open: shape.is_open(),
            is_moving: false,
            factors: Factors::of(&shape),
            state: [Frame::ZERO; 2],
            from: shape,
            to: shape,
        }
    }

    /// Has a shape at once, and is silent.
    pub(crate) fn reset(&mut self, shape: Shape) {
        *self = Self::new(shape);
    }

    /// At a control place: has reached its shape, and goes to another until the next place.
    pub(crate) fn aim(&mut self, shape: Shape) {
        if !self.is_moving {
            if shape == self.to {
                return;
            }
            self.state = self.factors.moving(self.state);
        }
        (self.from, self.to) = (self.to, shape);
        self.is_moving = self.from != self.to;
        self.is_open = self.from.is_open() && self.to.is_open();
        if self.is_open {
            self.state = [Frame::ZERO; 2];
        }
        if !self.is_moving {
            self.factors = Factors::of(&shape);
            self.state = self.factors.still(self.state);
        }
    }

    /// Lets what rings on end before it becomes denormal; to be called at control places.
    pub(crate) fn hush(&mut self) {
        let is_silent = |state: &Frame| state.to_array().iter().all(|value| value.abs() < SILENT);
        if !self.is_open && self.state.iter().all(is_silent) {
            self.state = [Frame::ZERO; 2];
        }
    }

    /// Whether nothing is left of what it heard.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_open || self.state.iter().all(|state| state.to_array() == [0.0; 2])
    }

    /// Whether its shape changes before the next control place.
    pub(crate) fn is_moving(&self) -> bool {
        self.is_moving
    }

    /// Whether it passes everything as it is, now and until the next control place.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Filters frames, the first of which is `place` frames after a control place.
    fn process(&mut self, place: usize, audio: &mut [Frame]) {
        if !self.is_moving {
            return in_lockstep([self], audio);
        }
        for (frame, value) in audio.iter_mut().enumerate() {
            let way = (place + frame) as f64 * (1.0 / CONTROL_FRAMES as f64);
            *value = step_moving(&self.from.towards(&self.to, way), &mut self.state, *value);
        }
    }
}

/// Most sections that run frame by frame: each waits for its own last frame, not for the others.
/// For WebAssembly as many as registers hold the factors of.
const MOST_TOGETHER: usize = if cfg!(target_arch = "wasm32") { 2 } else { 4 };

/// Passes frames through sections in a row, leaving out those that are open.
///
/// Sections at rest run [`MOST_TOGETHER`] at a time.
#[inline(always)]
pub(crate) fn in_a_row(sections: &mut [Section], place: usize, audio: &mut [Frame]) {
    let mut rest = sections.iter_mut().filter(|section| !section.is_open).peekable();
    while let Some(first) = rest.next() {
        if first.is_moving {
            first.process(place, audio);
            continue;
        }
        let mut still = |number| {
            if number <= MOST_TOGETHER { rest.next_if(|section| !section.is_moving) } else { None }
        };
        match (still(2), still(3), still(4)) {
            (Some(second), Some(third), Some(fourth)) => in_lockstep([first, second, third, fourth], audio),
            (Some(second), Some(third), _) => in_lockstep([first, second, third], audio),
            (Some(second), ..) => in_lockstep([first, second], audio),
            _ => in_lockstep([first], audio),
        }
    }
}

#[inline(always)]
fn in_lockstep<const COUNT: usize>(sections: [&mut Section; COUNT], audio: &mut [Frame]) {
    let factors: [Factors; COUNT] = core::array::from_fn(|at| sections[at].factors);
    let mut states: [State; COUNT] = core::array::from_fn(|at| sections[at].state);
    pass(&factors, &mut states, audio);
    for (section, state) in sections.into_iter().zip(states) {
        section.state = state;
    }
}

#[inline(always)]
fn pass<const COUNT: usize>(factors: &[Factors; COUNT], states: &mut [State; COUNT], audio: &mut [Frame]) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if audio.len() >= avx2::fewest_frames(COUNT) && crate::simd::avx2() {
        #[expect(unsafe_code, reason = "the only way to call code for a feature found at run time")]
        // SAFETY: `avx2` has just found the one feature that the function needs.
        return unsafe { avx2::pass(factors, states, audio) };
    }
    for value in audio {
        for (factors, state) in factors.iter().zip(&mut *states) {
            *value = step(factors, state, *value);
        }
    }
}

/// Stereo frames of a call in double precision.
pub(crate) struct Frames {
    values: [Frame; LONGEST_FRAMES],
    count: usize,
}

impl Frames {
    /// Left and right, at most [`LONGEST_FRAMES`].
    #[inline(always)]
    pub(crate) fn of(left: &[f32], right: &[f32]) -> Self {
        let mut values = [Frame::ZERO; LONGEST_FRAMES];
        for ((value, left), right) in values.iter_mut().zip(left).zip(right) {
            *value = Frame::new([f64::from(*left), f64::from(*right)]);
        }
        Self { values, count: left.len().min(LONGEST_FRAMES) }
    }

    /// The frames.
    #[inline(always)]
    pub(crate) fn as_mut(&mut self) -> &mut [Frame] {
        &mut self.values[..self.count]
    }

    /// Writes a mix of them and of what is in left and right: 0 leaves that as it is.
    #[inline(always)]
    pub(crate) fn mix(&self, left: &mut [f32], right: &mut [f32], share: &mut Glide) {
        if share.is_at_rest() && share.target() == 1.0 {
            return self.store(left, right);
        }
        for ((value, left), right) in self.values.iter().zip(left).zip(right) {
            let share = share.next();
            let dry = Frame::new([f64::from(*left), f64::from(*right)]);
            let [l, r] = (dry + (*value - dry) * share).to_array();
            (*left, *right) = (l as f32, r as f32);
        }
    }

    /// Writes them to left and right.
    #[inline(always)]
    pub(crate) fn store(&self, left: &mut [f32], right: &mut [f32]) {
        for ((value, left), right) in self.values.iter().zip(left).zip(right) {
            let [l, r] = value.to_array();
            (*left, *right) = (l as f32, r as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of full scale, in single precision.
    fn noise(frames: usize) -> impl Iterator<Item = Frame> {
        let mut state = 1_u64;
        (0..frames).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Frame::splat(f64::from((state >> 40) as f32 / 8_388_608.0 - 1.0))
        })
    }

    #[test]
    fn the_direct_form_rounds_no_more_than_it_says() {
        for (sample_rate_hz, frequency_hz, q, most_db) in [
            (48_000.0, 20.0, 0.1, -200.0),
            (48_000.0, 1_000.0, 1.0, -200.0),
            (192_000.0, 20.0, 0.7, -200.0),
            (192_000.0, 20.0, 40.0, -170.0),
        ] {
            let g = warp(frequency_hz, sample_rate_hz);
            for shape in [Shape::high_pass(g, 1.0 / q), Shape::low_pass(g, 1.0 / q), Shape::bell(g, q, 2.0)] {
                let factors = Factors::of(&shape);
                let (mut direct, mut trapezoidal) = ([Frame::ZERO; 2], [Frame::ZERO; 2]);
                let mut off = 0.0_f64;
                for value in noise(400_000) {
                    let one = step(&factors, &mut direct, value);
                    let other = step_moving(&shape, &mut trapezoidal, value);
                    off = off.max((one - other).abs().to_array()[0]);
                }
                let off_db = 20.0 * libm::log10(off);
                println!("{frequency_hz} Hz at {sample_rate_hz} Hz, Q {q}: {off_db:.1} dBFS off");
                assert!(
                    off_db < most_db,
                    "{frequency_hz} Hz at {sample_rate_hz} Hz, Q {q}: {off_db:.1} dBFS"
                );
            }
        }
    }

    #[test]
    fn states_are_the_same_in_both_forms() {
        let shape = Shape::bell(warp(300.0, 48_000.0), 2.0, 1.7);
        let factors = Factors::of(&shape);
        let (mut direct, mut trapezoidal) = ([Frame::ZERO; 2], [Frame::ZERO; 2]);
        for value in noise(5_000) {
            step(&factors, &mut direct, value);
            step_moving(&shape, &mut trapezoidal, value);
        }
        let both = [(factors.moving(direct), trapezoidal), (factors.still(trapezoidal), direct)];
        for (one, other) in both.iter().flat_map(|(one, other)| one.iter().zip(other)) {
            let (one, other) = (one.to_array()[0], other.to_array()[0]);
            assert!((one - other).abs() < 1e-9 * other.abs().max(1e-3), "{one} instead of {other}");
        }
    }
}

//! Curves, applied so that what they add above the sample rate hardly folds down.
//!
//! A frame is not one value of the curve: between two frames the signal goes straight, and the
//! curve of that is weighted by a triangle two frames wide. That is antiderivative antialiasing of
//! second order (J. D. Parker, V. Zavalishin, E. Le Bivic, "Reducing the Aliasing of Nonlinear
//! Waveshaping Using Continuous-Time Convolution", DAFx 2016). Here the integrals are taken piece
//! by piece, which loses no digits where the signal hardly moves: the flat ends of a curve by hand,
//! its middle by the derivatives at the middle of the way, of which a polynomial of degree 5 has
//! five.

use super::super::CONTROL_FRAMES;
use super::oversampling::FACTOR;
use crate::dsp::lanes::Lanes;

/// Left and right of all frames of a control step at the high rate.
const VALUES: usize = 2 * FACTOR * CONTROL_FRAMES;

/// Frames of the high rate by which the output lags: the middle of the triangle, and one more that
/// makes the oversampler's whole way a number of whole frames.
pub(super) const LAG: usize = 2;

/// What the input is bent by: `p(u)` with `u = (x + bias) / reach` held between -1 and 1 and
/// `p(u) = (1 - cubic - quintic) u + cubic u^3 + quintic u^5`, some of it replaced by
/// `sin(x + bias)`; less its value at `x = 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Curve {
    pub(super) reach: f32,
    pub(super) cubic: f32,
    pub(super) quintic: f32,
    pub(super) bias: f32,
    /// Share of the sine.
    pub(super) fold: f32,
}

impl Curve {
    #[inline(always)]
    fn middle(&self, u: f32) -> f32 {
        let square = u * u;
        u * ((1.0 - self.cubic - self.quintic) + square * (self.cubic + square * self.quintic))
    }

    /// The curve before its value at rest is taken away, where folding does not count.
    #[inline(always)]
    fn at_rest(&self) -> f32 {
        let bent = self.middle(limit(self.bias / self.reach, -1.0, 1.0));
        bent + (sine(self.bias) - bent) * self.fold
    }
}

/// Plain comparisons: alike on all targets.
#[inline(always)]
fn limit(value: f32, low: f32, high: f32) -> f32 {
    let value = if value < high { value } else { high };
    if value > low { value } else { low }
}

/// The sine, to 2e-7 of full scale within a few turns: Taylor's series to the eleventh degree
/// within a quarter turn.
#[inline(always)]
fn sine(x: f32) -> f32 {
    // 1.5 * 2^23: added and taken away, it rounds to a whole number.
    const ROUNDING: f32 = 12_582_912.0;
    const PI_HIGH: f32 = 3.140_625;
    const PI_LOW: f32 = 9.676_536e-4;
    let turns = (x * core::f32::consts::FRAC_1_PI + ROUNDING) - ROUNDING;
    let rest = (x - turns * PI_HIGH) - turns * PI_LOW;
    let half = turns * 0.5;
    let odd = (half - ((half + ROUNDING) - ROUNDING)) * 2.0;
    let square = rest * rest;
    let series = rest
        * (1.0
            + square
                * (-1.0 / 6.0
                    + square
                        * (1.0 / 120.0
                            + square
                                * (-1.0 / 5_040.0
                                    + square * (1.0 / 362_880.0 - square * (1.0 / 39_916_800.0))))));
    series * (1.0 - 2.0 * odd * odd)
}

/// Factors of the curve's middle.
#[derive(Clone, Copy)]
struct Terms {
    linear: f32,
    cubic: f32,
    quintic: f32,
}

impl Terms {
    fn of(curve: &Curve) -> Self {
        let Curve { cubic, quintic, .. } = *curve;
        Self { linear: 1.0 - cubic - quintic, cubic, quintic }
    }

    /// On the straight way from `start` to `end`, `t` from 0 to 1, which stays in the middle of the
    /// curve: the integrals of `p` and of `t p`. With `p1` to `p5` for the derivatives of `p` at
    /// the middle of the way and `h` for half its length, the first is
    /// `p + p2 h^2 / 6 + p4 h^4 / 120`, and the second half of the sum of that and
    /// `p1 h / 3 + p3 h^3 / 30 + p5 h^5 / 840`.
    #[inline(always)]
    fn integrals_within(&self, start: f32, end: f32) -> (f32, f32) {
        let Self { linear, cubic, quintic } = *self;
        let (middle, half) = (0.5 * (start + end), 0.5 * (end - start));
        let (square, way) = (middle * middle, half * half);
        let even = (linear + square * (cubic + square * quintic))
            + way * (cubic + square * (10.0 / 3.0 * quintic) + way * quintic);
        let odd = (linear * (1.0 / 3.0) + square * (cubic + square * (5.0 / 3.0 * quintic)))
            + way * (0.2 * cubic + square * (2.0 * quintic) + way * (1.0 / 7.0 * quintic));
        let integral = middle * even;
        // A sum with 0 has no sign where it is 0: then both ways to a result give the same bits.
        (integral + 0.0, 0.5 * (integral + half * odd) + 0.0)
    }
}

/// As [`Terms::integrals_within`], for a way that leads anywhere.
#[inline(always)]
fn integrals(terms: &Terms, u0: f32, u1: f32) -> (f32, f32) {
    let way = u1 - u0;
    let way = if way.abs() > 1e-20 { way } else { 1e-20 };
    let speed = 1.0 / way;
    let (low, high) = ((-1.0 - u0) * speed, (1.0 - u0) * speed);
    let is_within = (u0.abs() <= 1.0) & (u1.abs() <= 1.0);
    let enters = if is_within { 0.0 } else { limit(if low < high { low } else { high }, 0.0, 1.0) };
    let leaves = if is_within { 1.0 } else { limit(if low < high { high } else { low }, 0.0, 1.0) };
    let (start, end) = (limit(u0, -1.0, 1.0), limit(u1, -1.0, 1.0));
    let (whole, moment) = terms.integrals_within(start, end);
    let inside = leaves - enters;
    // Before it enters and after it leaves the middle, the curve is flat at -1 or 1: there p(u) =
    // u.
    let (before, after) = (start * enters, end * (1.0 - leaves));
    let integral = before + inside * whole + after;
    let weighted =
        0.5 * before * enters + inside * (enters * whole + inside * moment) + 0.5 * after * (1.0 + leaves);
    (integral + 0.0, weighted + 0.0)
}

/// The curves' memory: the last frames of the high rate.
pub(super) struct Shaper {
    /// `u` of the last frame, then of those at work.
    bent: [f32; 2 + VALUES],
    /// What frames give to the output after the next, and to the next one, with those of two and
    /// one frames before.
    late: [f32; 4 + VALUES],
    early: [f32; 2 + VALUES],
    /// The sines of two frames before, and of those at work.
    folded: [f32; 4 + VALUES],
    rested: bool,
}

impl Shaper {
    pub(super) fn new() -> Self {
        Self {
            bent: [0.0; 2 + VALUES],
            late: [0.0; 4 + VALUES],
            early: [0.0; 2 + VALUES],
            folded: [0.0; 4 + VALUES],
            rested: false,
        }
    }

    /// As if the input had always been silent.
    pub(super) fn clear(&mut self) {
        self.rested = false;
    }

    /// Silence through a curve is its bias.
    fn rest(&mut self, curve: &Curve) {
        let u = curve.bias / curve.reach;
        let (integral, weighted) = integrals(&Terms::of(curve), u, u);
        self.bent[..2].fill(u);
        self.late[..4].fill(weighted);
        self.early[..2].fill(integral - weighted);
        self.folded[..4].fill(sine(curve.bias));
        self.rested = true;
    }

    /// Bends frames of left and right in turns, at the high rate; the bias goes straight from one
    /// curve's to the next one's.
    #[inline(always)]
    pub(super) fn process(&mut self, curve: &Curve, next: &Curve, audio: &mut [f32]) {
        if !self.rested {
            self.rest(curve);
        }
        let count = audio.len();
        self.enter(curve, next, audio);
        // What is not heard is silent, whatever was there before.
        if curve.fold < 1.0 {
            self.bend(curve, count);
        } else {
            self.late[..4 + count].fill(0.0);
            self.early[..2 + count].fill(0.0);
        }
        if curve.fold > 0.0 {
            for (folded, bent) in self.folded[4..].iter_mut().zip(&self.bent[2..2 + count]) {
                *folded = sine(bent * curve.reach);
            }
        } else {
            self.folded[..4].fill(0.0);
        }
        self.leave(curve, next, audio);
        self.bent.copy_within(count..count + 2, 0);
        self.late.copy_within(count..count + 4, 0);
        self.early.copy_within(count..count + 2, 0);
        if curve.fold > 0.0 {
            self.folded.copy_within(count..count + 4, 0);
        }
    }

    /// Adds the bias.
    #[inline(always)]
    fn enter(&mut self, curve: &Curve, next: &Curve, audio: &[f32]) {
        let per_reach = 1.0 / curve.reach;
        let bias_step = (next.bias - curve.bias) * (2.0 / audio.len() as f32);
        let bent = self.bent[2..].iter_mut().zip(audio);
        if bias_step == 0.0 {
            bent.for_each(|(bent, audio)| *bent = (audio + curve.bias) * per_reach);
        } else {
            for (place, (bent, audio)) in bent.enumerate() {
                *bent = (audio + curve.bias + bias_step * (place / 2) as f32) * per_reach;
            }
        }
    }

    /// Puts together what frames give to each other, and takes away what silence would be.
    #[inline(always)]
    fn leave(&self, curve: &Curve, next: &Curve, audio: &mut [f32]) {
        let rest = curve.at_rest();
        let rest_step = (next.at_rest() - rest) * (2.0 / audio.len() as f32);
        let bent = self.late.iter().zip(&self.early).map(|(late, early)| late + early);
        if curve == next && curve.fold == 0.0 {
            audio.iter_mut().zip(bent).for_each(|(value, bent)| *value = bent - rest);
        } else {
            for (place, ((value, bent), folded)) in audio.iter_mut().zip(bent).zip(&self.folded).enumerate() {
                let both = bent + (folded - bent) * curve.fold;
                *value = both - (rest + rest_step * (place / 2) as f32);
            }
        }
    }

    #[inline(always)]
    fn bend(&mut self, curve: &Curve, count: usize) {
        let terms = Terms::of(curve);
        let ends = self.bent[2..2 + count].as_chunks::<FRAME_VALUES>().0;
        let lates = self.late[4..4 + count].as_chunks_mut::<FRAME_VALUES>().0;
        let earlies = self.early[2..2 + count].as_chunks_mut::<FRAME_VALUES>().0;
        let starts = self.bent.chunks(FRAME_VALUES).filter_map(|bent| bent.first_chunk::<FRAME_VALUES>());
        for ((starts, ends), (late, early)) in starts.zip(ends).zip(lates.iter_mut().zip(earlies)) {
            // The values of a quiet frame never leave the middle, which is nearly all frames.
            if is_within(starts) & is_within(ends) {
                weigh(starts, ends, late, early, |start, end| terms.integrals_within(start, end));
            } else {
                weigh(starts, ends, late, early, |start, end| integrals(&terms, start, end));
            }
        }
    }
}

/// Left and right of a frame at the high rate.
const FRAME_VALUES: usize = 2 * FACTOR;

/// Whether all values of a frame are from -1 to 1.
#[inline(always)]
fn is_within(values: &[f32; FRAME_VALUES]) -> bool {
    values.as_chunks().0.iter().fold(true, |all, values| all & Lanes::new(*values).abs().are_at_most(1.0))
}

/// What the ways of a frame give to what is two frames of the high rate later, and one.
#[inline(always)]
fn weigh(
    starts: &[f32; FRAME_VALUES],
    ends: &[f32; FRAME_VALUES],
    late: &mut [f32; FRAME_VALUES],
    early: &mut [f32; FRAME_VALUES],
    integrals: impl Fn(f32, f32) -> (f32, f32),
) {
    for place in 0..FRAME_VALUES {
        let (integral, weighted) = integrals(starts[place], ends[place]);
        (late[place], early[place]) = (weighted, integral - weighted);
    }
}

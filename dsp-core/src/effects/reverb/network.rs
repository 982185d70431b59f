//! The feedback delay network: sixteen delay lines that feed each other (J.-M. Jot and A. Chaigne,
//! AES 90th Convention, 1991).
//!
//! The feedback matrix is two times Householder's reflection of four (I - J/2), once across and
//! once along a square of four by four lines, so that every line feeds every line with a quarter of
//! its amplitude; transposing the square between is one more permutation, which loses nothing
//! either. Before it, pairs of lines are turned by small angles that swing: a matrix that moves but
//! stays orthogonal breaks up what would ring and changes neither decay nor brightness (S. J.
//! Schlecht and E. A. P. Habets, "Time-varying feedback matrices in feedback delay networks and
//! their application in artificial reverberation", JASA 138-3, 2015). No line is read between its
//! frames, so nothing but the absorption absorbs.

use wide::f32x4;

use super::Room;
use super::absorption::{Absorption, Decay};
use super::ring::Ring;
use crate::effects::CONTROL_FRAMES;
use crate::effects::fade::Fade;
use crate::effects::lfo::{Phase, sine};

/// Lines of the network.
pub(super) const LINES: usize = 16;

/// Groups of four lines.
pub(super) const GROUPS: usize = LINES / 4;

/// Four frames of each line.
pub(super) type Column = [f32x4; LINES];

/// Shortest and longest line of the largest room, in seconds. Those between stand in equal ratios.
const LINE_SECS: [f64; 2] = [0.05, 0.15];

/// Lines by groups: neighbours in length are far apart, and both sides have short and long ones.
const ORDER: [usize; LINES] = [0, 6, 9, 15, 3, 5, 10, 12, 1, 7, 8, 14, 2, 4, 11, 13];

/// Lines of a room of a size, in frames: different primes, so that their echoes meet rarely.
pub(super) fn line_frames(sample_rate_hz: f64, size: f64) -> [usize; LINES] {
    let ratio = libm::log(LINE_SECS[1] / LINE_SECS[0]) / (LINES - 1) as f64;
    let mut last = CONTROL_FRAMES;
    let rising: [usize; LINES] = core::array::from_fn(|place| {
        let secs = size * LINE_SECS[0] * libm::exp(ratio * place as f64);
        last = prime_from(((secs * sample_rate_hz) as usize).max(last + 1));
        last
    });
    ORDER.map(|place| rising[place])
}

/// The first prime from a number on that is longer than a control step, so that nothing comes back
/// within one.
pub(super) fn prime_from(number: usize) -> usize {
    let is_prime =
        |number: &usize| !(2..).take_while(|of| of * of <= *number).any(|of| number.is_multiple_of(of));
    (number.max(CONTROL_FRAMES)..).find(is_prime).unwrap_or(number)
}

/// Four values that go straight from one control place to the next.
#[derive(Debug, Clone, Copy)]
struct Ramps {
    from: f32x4,
    to: f32x4,
    step: f32x4,
}

impl Ramps {
    fn new(value: f32) -> Self {
        Self { from: f32x4::splat(value), to: f32x4::splat(value), step: f32x4::ZERO }
    }

    fn aim(&mut self, to: f32x4) {
        (self.from, self.to) = (self.to, to);
        self.step = (self.to - self.from) * f32x4::splat(1.0 / CONTROL_FRAMES as f32);
    }

    /// One of them at some frames after the control place.
    #[inline(always)]
    fn at(&self, lane: usize, offsets: f32x4) -> f32x4 {
        let of = |values: &f32x4| f32x4::splat(values.as_array_ref()[lane]);
        of(&self.from) + of(&self.step) * offsets
    }
}

/// Sixteen lines, their absorption and their matrix.
#[derive(Debug, Clone)]
pub(super) struct Network {
    sample_rate_hz: f64,
    lines: [Ring; LINES],
    /// Mean length of the lines, in seconds.
    mean_secs: f64,
    absorption: Absorption,
    /// Sines and cosines of the angles by which groups 0 and 1, and 2 and 3, are turned.
    sines: [Ramps; 2],
    cosines: [Ramps; 2],
}

impl Network {
    /// A silent network whose lines can have up to so many frames.
    pub(super) fn new(sample_rate_hz: f64, longest: &[usize; LINES]) -> Self {
        Self {
            sample_rate_hz,
            lines: longest.map(Ring::new),
            mean_secs: LINE_SECS[1],
            absorption: Absorption::new(sample_rate_hz),
            sines: [Ramps::new(0.0); 2],
            cosines: [Ramps::new(1.0); 2],
        }
    }

    pub(super) fn clear(&mut self) {
        self.lines.iter_mut().for_each(Ring::clear);
        self.absorption.clear();
    }

    /// Absorbs for a decay in the lines of a room, and turns pairs by angles that swing by so many
    /// radians, at once.
    pub(super) fn start(&mut self, decay: &Decay, room: &Fade<Room>, phase: Phase, widest: f64) {
        self.absorption.jump(decay, &room.next().lines);
        self.fit(room);
        self.turn(phase, widest);
        self.turn(phase, widest);
    }

    /// At a control place: goes on to the absorption and the angles of the next one.
    pub(super) fn step(&mut self, decay: &Decay, room: &Fade<Room>, phase: Phase, widest: f64) {
        self.absorption.step(decay, &room.next().lines);
        self.fit(room);
        self.turn(phase, widest);
    }

    /// Lets the lines remember as much as a room reads.
    fn fit(&mut self, room: &Fade<Room>) {
        let frames = &room.next().lines;
        for (line, frames) in self.lines.iter_mut().zip(frames) {
            if room.is_at_rest() {
                line.remember(*frames);
            } else {
                line.remember_all();
            }
        }
        let total: usize = frames.iter().sum();
        self.mean_secs = total as f64 / (LINES as f64 * self.sample_rate_hz);
    }

    /// The gain for what goes in, with which a steady noise comes out about as loud: each side
    /// takes eight lines, and so often does what a pass keeps of the energy, k, come out of eight
    /// again: 8 k / (1 - k) in all. The k above is left out, for a decay that is shorter than a
    /// pass to be soft rather than all direct sound.
    pub(super) fn level(&self, decay_secs: f64) -> f64 {
        let kept = libm::exp10(-6.0 * self.mean_secs / decay_secs);
        libm::sqrt((1.0 - kept) * (2.0 / LINES as f64))
    }

    fn turn(&mut self, phase: Phase, widest: f64) {
        for pair in 0..2 {
            let angles: [f32; 4] = core::array::from_fn(|lane| {
                let share = (2 * lane + pair) as u64;
                (widest * sine(phase.wrapping_add(share << 61))) as f32
            });
            let angle = f32x4::new(angles);
            let square = angle * angle;
            // Taylor series, right to 4e-7 at the widest turn; the cosine is rather too low, so
            // that nothing is gained.
            let term = |factor: f64| f32x4::splat(factor as f32);
            let series = term(1.0 / 120.0) - square * term(1.0 / 5_040.0);
            let series = term(-1.0 / 6.0) + square * series;
            let sine = angle + angle * square * series;
            let series = term(1.0 / 24.0) - square * term(1.0 / 720.0);
            let cosine = f32x4::ONE - square * (f32x4::HALF - square * series);
            self.sines[pair].aim(sine);
            self.cosines[pair].aim(cosine);
        }
    }

    /// Feeds frames of both sides to the lines and replaces them by what comes out.
    #[inline(always)]
    pub(super) fn process(
        &mut self,
        offset: usize,
        frames: usize,
        room: &Fade<Room>,
        inputs: &mut [[f32; CONTROL_FRAMES]; 2],
    ) {
        let mut columns = [[f32x4::ZERO; LINES]; CONTROL_FRAMES / 4];
        let mut copy = [0.0; CONTROL_FRAMES];
        for (place, line) in self.lines.iter().enumerate() {
            let frames_back = room.now().lines[place];
            line.prefetch();
            // Straight from the line nearly always.
            let values = match line.row(frames_back) {
                Some(row) if room.is_at_rest() => row,
                _ => {
                    line.read(frames_back, &mut copy[..frames]);
                    room.blend(&mut copy[..frames], |room, values| line.read(room.lines[place], values));
                    &copy
                }
            };
            for (column, values) in columns.iter_mut().zip(values.as_chunks().0) {
                column[place] = f32x4::new(*values);
            }
        }
        let [left, right] = inputs;
        let sides = left.as_chunks_mut().0.iter_mut().zip(right.as_chunks_mut().0);
        let mut states = self.absorption.states;
        for (quad, (column, (left, right))) in columns.iter_mut().zip(sides).enumerate() {
            let done = 4 * quad;
            if done >= frames {
                break;
            }
            self.absorption.process(&mut states, offset + done, (frames - done).min(4), column);
            self.pass(offset + done, [left, right], column);
        }
        self.absorption.states = states;
        for (place, line) in self.lines.iter_mut().enumerate() {
            let row = if frames == CONTROL_FRAMES { line.next_row() } else { None };
            if let Some(row) = row {
                for (values, column) in row.as_chunks_mut::<4>().0.iter_mut().zip(&columns) {
                    *values = column[place].to_array();
                }
            } else {
                let mut values = [[0.0; 4]; CONTROL_FRAMES / 4];
                for (values, column) in values.iter_mut().zip(&columns) {
                    *values = column[place].to_array();
                }
                line.write(&values.as_flattened()[..frames]);
            }
        }
    }

    /// Passes four frames, the first of them so many after the control place, through the matrix:
    /// what comes out of the lines becomes what goes into them, what comes in becomes what is
    /// heard.
    #[inline(always)]
    fn pass(&self, offset: usize, [left, right]: [&mut [f32; 4]; 2], lines: &mut Column) {
        let offsets = f32x4::new([0, 1, 2, 3].map(|frame| (offset + frame) as u16 as f32));
        let (came_left, came_right) = (f32x4::new(*left), f32x4::new(*right));
        let sum = |first: usize, second: usize| {
            let both = |lane: usize| lines[first + lane] + lines[second + lane];
            ((both(0) + both(1)) - (both(2) + both(3))).to_array()
        };
        (*left, *right) = (sum(0, 4), sum(8, 12));
        for lane in 0..4 {
            let turn = |pair: usize, a: f32x4, b: f32x4| {
                let (sine, cosine) =
                    (self.sines[pair].at(lane, offsets), self.cosines[pair].at(lane, offsets));
                (a * cosine - b * sine, a * sine + b * cosine)
            };
            let (a, b) = turn(0, lines[lane], lines[4 + lane]);
            let (c, d) = turn(1, lines[8 + lane], lines[12 + lane]);
            [lines[lane], lines[4 + lane], lines[8 + lane], lines[12 + lane]] = reflect([a, b, c, d]);
        }
        let square = *lines;
        let floor = f32x4::splat(1e-18);
        for (lane, [a, b, c, d]) in square.as_chunks().0.iter().enumerate() {
            let [a, b, c, d] = reflect([*a, *b, *c, *d]);
            // Half of the lines take each side; signs, so that it does not go around as one.
            let fed = if lane % 2 == 0 {
                [a + came_left, b + came_left, c + came_right, d + came_right]
            } else {
                [a - came_left, b - came_left, c - came_right, d - came_right]
            };
            // The square of lines is transposed on the way: groups become lanes.
            for (group, values) in fed.into_iter().enumerate() {
                lines[4 * group + lane] = (values + floor) - floor;
            }
        }
    }
}

/// Householder's reflection of four: x - J x / 2.
#[inline(always)]
fn reflect([a, b, c, d]: [f32x4; 4]) -> [f32x4; 4] {
    let half_sum = ((a + b) + (c + d)) * f32x4::HALF;
    [a - half_sum, b - half_sum, c - half_sum, d - half_sum]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_different_primes_at_any_rate_and_size() {
        assert_eq!((prime_from(34), prime_from(41), prime_from(90)), (37, 41, 97));
        for sample_rate_hz in [8_000.0, 48_000.0, 192_000.0] {
            for size in [0.1, 0.6, 1.0] {
                let mut lines = line_frames(sample_rate_hz, size);
                lines.sort_unstable();
                assert!(lines.windows(2).all(|pair| pair[0] < pair[1]), "{lines:?}");
                assert!(lines[0] > CONTROL_FRAMES);
            }
        }
    }

    #[test]
    fn nothing_is_lost_without_absorption() {
        let mut network = Network::new(48_000.0, &line_frames(48_000.0, 1.0));
        network.turn(12_345 << 45, 0.6);
        network.turn(13_000 << 45, 0.6);
        let mut lines: Column = core::array::from_fn(|place| {
            f32x4::new([0.3, -0.1, 0.7, 1.0]) * f32x4::splat(((7 * place) % 11) as f32 - 4.0)
        });
        let energy = |lines: &Column| -> f32 {
            lines.iter().flat_map(|values| values.to_array()).map(|value| value * value).sum()
        };
        let before = energy(&lines);
        for offset in 0..32 {
            let [mut left, mut right] = [[0.0; 4]; 2];
            network.pass(offset, [&mut left, &mut right], &mut lines);
        }
        let after = energy(&lines);
        assert!((after / before - 1.0).abs() < 1e-4, "{before} became {after}");
    }
}

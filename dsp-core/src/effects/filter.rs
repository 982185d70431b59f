//! Filter: a resonant low-pass, high-pass, band-pass or notch, with drive, and a cut-off that an
//! oscillator and the level of the input can move.
//!
//! One or two trapezoidal state-variable sections (`section.rs`). Low-pass and high-pass filters
//! without resonance are Butterworth filters: -3 dB at the cut-off; resonance lifts the cut-off by
//! its decibels. What moves the cut-off is asked at control places, so it follows the level 32
//! frames later.

use wide::{CmpLe, f64x2};

use super::best::best;
use super::lfo::{Lfo, Speed, share_of_turn};
use super::section::{Frame, Frames, Section, Shape, in_a_row, warp};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, LineSum, Parameter, Unit, memory};
use crate::gain;

/// A filter to play with.
pub(super) static FILTER: EffectKind = EffectKind {
    id: "filter",
    name: "Filter",
    parameters: &[
        Parameter::choice("type", "Type", &["Low-pass", "High-pass", "Band-pass", "Notch"], 0),
        Parameter::choice("slope", "Slope", &["12 dB/octave", "24 dB/octave"], 1),
        Parameter::logarithmic("cutoff_hz", "Cut-off", Unit::Hertz, [20.0, 20_000.0], 2_000.0),
        Parameter::linear("resonance_db", "Resonance", Unit::Decibels, [0.0, 36.0], 3.0),
        Parameter::linear("drive_db", "Drive", Unit::Decibels, [0.0, 24.0], 0.0),
        Parameter::logarithmic("lfo_rate_hz", "LFO rate", Unit::Hertz, [0.01, 20.0], 0.5),
        Parameter::linear("lfo_octaves", "LFO amount", Unit::Octaves, [0.0, 5.0], 0.0),
        Parameter::linear("envelope_octaves", "Envelope amount", Unit::Octaves, [-6.0, 6.0], 0.0),
        Parameter::logarithmic(
            "envelope_attack_ms",
            "Envelope attack",
            Unit::Milliseconds,
            [0.1, 200.0],
            5.0,
        ),
        Parameter::logarithmic(
            "envelope_release_ms",
            "Envelope release",
            Unit::Milliseconds,
            [5.0, 2_000.0],
            150.0,
        ),
        Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 1.0),
    ],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Filter::new(config)),
    memory_bytes: memory::inline_bytes::<Filter>,
};

const TYPES: usize = 4;

/// How long choices take, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Levels below this are no level: the follower ends there.
const SILENT: f64 = 1e-20;

/// What a section is tuned to, but for the cut-off.
#[derive(Debug, Clone, Copy)]
struct Tuning {
    /// Q without resonance.
    flat_q: Glide,
    /// Share of the resonance that it takes.
    resonance: Glide,
    /// How much of it is heard.
    share: Glide,
}

/// Q without resonance, share of the resonance, and how much is heard, of each section.
fn tunings(kind: usize, is_steep: bool) -> [[f64; 3]; 2] {
    const FLAT: f64 = core::f64::consts::FRAC_1_SQRT_2;
    // Butterworth, fourth order: 1 / (2 cos(pi / 8)) and 1 / (2 cos(3 pi / 8)).
    const WIDE: f64 = 0.541_196_100_146_197;
    const SHARP: f64 = 1.306_562_964_876_376_6;
    match (kind, is_steep) {
        (0 | 1, true) => [[WIDE, 0.0, 1.0], [SHARP, 1.0, 1.0]],
        (_, true) => [[FLAT, 1.0, 1.0]; 2],
        (_, false) => [[FLAT, 1.0, 1.0], [FLAT, 1.0, 0.0]],
    }
}

struct Filter {
    sample_rate_hz: f64,
    clock: u64,
    kind: usize,
    is_steep: bool,
    /// How much of each type is heard.
    types: [Glide; TYPES],
    tunings: [Tuning; 2],
    cutoff_hz: Glide,
    resonance_db: Glide,
    lfo_rate_hz: Glide,
    lfo_octaves: Glide,
    envelope_octaves: Glide,
    drive: Drive,
    mix: Glide,
    /// Stands at the next control place.
    lfo: Lfo,
    follower: Follower,
    /// Whether something was set since the last control place, also what is there at once.
    was_set: bool,
    sections: [Section; 2],
}

impl Filter {
    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let section = Section::new(Shape::open(1.0, 1.0));
        let still = Glide::new(0.0);
        let mut filter = Self {
            sample_rate_hz,
            clock: 0,
            kind: 0,
            is_steep: false,
            types: [still; TYPES],
            tunings: [Tuning { flat_q: still, resonance: still, share: still }; 2],
            cutoff_hz: still,
            resonance_db: still,
            lfo_rate_hz: still,
            lfo_octaves: still,
            envelope_octaves: still,
            drive: Drive { amount: still, level: Glide::new(1.0) },
            mix: still,
            lfo: Lfo::new(config.sample_rate_hz),
            follower: Follower { level: 0.0, attack: 0.0, release: 0.0 },
            was_set: false,
            sections: [section.clone(), section],
        };
        for (place, parameter) in FILTER.parameters.iter().enumerate() {
            filter.set(place, parameter.default, 0);
        }
        filter.reset(0);
        filter
    }

    fn aim(&mut self, glide_frames: u32) {
        let frames = glide_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32);
        for (kind, share) in self.types.iter_mut().enumerate() {
            share.set(if kind == self.kind { 1.0 } else { 0.0 }, frames);
        }
        let targets = tunings(self.kind, self.is_steep);
        for (tuning, [flat_q, resonance, share]) in self.tunings.iter_mut().zip(targets) {
            tuning.flat_q.set(flat_q, frames);
            tuning.resonance.set(resonance, frames);
            tuning.share.set(share, frames);
        }
    }

    /// What moves from control place to control place.
    fn glides(&mut self) -> impl Iterator<Item = &mut Glide> {
        let tunings = self.tunings.iter_mut();
        let tunings =
            tunings.flat_map(|tuning| [&mut tuning.flat_q, &mut tuning.resonance, &mut tuning.share]);
        let others = [
            &mut self.cutoff_hz,
            &mut self.resonance_db,
            &mut self.lfo_rate_hz,
            &mut self.lfo_octaves,
            &mut self.envelope_octaves,
        ];
        self.types.iter_mut().chain(tunings).chain(others)
    }

    fn speed(&self) -> Speed {
        Speed::Hertz(self.lfo_rate_hz.value())
    }

    /// What the sections are where the oscillator stands.
    fn shapes(&self) -> [Shape; 2] {
        let turn = share_of_turn(self.lfo.phase());
        let swing = libm::sin(core::f64::consts::TAU * turn) * self.lfo_octaves.value();
        let follow = self.follower.level.min(1.0) * self.envelope_octaves.value();
        let g = warp(self.cutoff_hz.value() * libm::exp2(swing + follow), self.sample_rate_hz);
        let resonance = |share: f64| libm::exp10(self.resonance_db.value() * share / 20.0);
        self.tunings.each_ref().map(|tuning| {
            let damping = 1.0 / (tuning.flat_q.value() * resonance(tuning.resonance.value()));
            let makers = [Shape::low_pass, Shape::high_pass, Shape::band_pass, Shape::notch];
            let mut sum = Shape { input: 0.0, ..Shape::open(g, damping) };
            for (share, make) in self.types.iter().zip(makers) {
                let (share, shape) = (share.value(), make(g, damping));
                sum.input += shape.input * share;
                sum.band += shape.band * share;
                sum.low += shape.low * share;
            }
            sum.share(tuning.share.value())
        })
    }

    fn is_modulated(&self) -> bool {
        [&self.lfo_octaves, &self.envelope_octaves]
            .into_iter()
            .any(|octaves| octaves.target() != 0.0 || !octaves.is_at_rest())
    }

    /// Lets frames pass, and says how many frames behind a control place the first of them is.
    fn pass(&mut self, frames: usize) -> usize {
        let place = (self.clock % CONTROL_FRAMES as u64) as usize;
        self.clock += frames as u64;
        if place == 0 {
            self.control();
        }
        place
    }

    /// At a control place: what everything will be at the next.
    fn control(&mut self) {
        let moves = core::mem::take(&mut self.was_set)
            || self.is_modulated()
            || self.sections.iter().any(Section::is_moving)
            || self.glides().any(|glide| !glide.is_at_rest());
        self.glides().for_each(|glide| glide.pass(CONTROL_FRAMES));
        self.lfo.step(self.speed());
        if moves {
            let shapes = self.shapes();
            for (section, shape) in self.sections.iter_mut().zip(shapes) {
                section.aim(shape);
            }
        }
        self.follower.hush();
        self.sections.iter_mut().for_each(Section::hush);
    }
}

impl Effect for Filter {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.glides().for_each(Glide::jump);
        [&mut self.drive.amount, &mut self.drive.level, &mut self.mix].into_iter().for_each(Glide::jump);
        self.follower.level = 0.0;
        // From the place before this frame to the one at or after it.
        let next_place = frame.next_multiple_of(CONTROL_FRAMES as u64);
        let last_place = next_place.wrapping_sub(CONTROL_FRAMES as u64);
        self.lfo.start(last_place, self.speed());
        let from = self.shapes();
        self.lfo.step(self.speed());
        let to = self.shapes();
        for (section, (from, to)) in self.sections.iter_mut().zip(from.into_iter().zip(to)) {
            section.reset(from);
            section.aim(to);
        }
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.was_set = true;
        let smoothing = |ms: f64| 1.0 - libm::exp(-1_000.0 / (ms * self.sample_rate_hz));
        match parameter {
            0 | 1 => {
                if parameter == 0 {
                    self.kind = value as usize;
                } else {
                    self.is_steep = value >= 0.5;
                }
                self.aim(glide_frames);
            }
            2 => self.cutoff_hz.set(value, glide_frames),
            3 => self.resonance_db.set(value, glide_frames),
            4 => self.drive.set(value, glide_frames),
            5 => self.lfo_rate_hz.set(value, glide_frames),
            6 => self.lfo_octaves.set(value, glide_frames),
            7 => self.envelope_octaves.set(value, glide_frames),
            8 => self.follower.attack = smoothing(value),
            9 => self.follower.release = smoothing(value),
            _ => self.mix.set(value, glide_frames),
        }
    }

    fn counts(&self, parameter: usize) -> bool {
        parameter == 5
    }

    fn follow(&mut self, parameter: usize, line: Option<LineSum>) {
        if self.counts(parameter) {
            self.lfo.follow(line);
        }
    }

    fn gap_frames(&self) -> usize {
        // From one turn's widest opening to that of the next.
        let rate_hz = self.lfo_rate_hz.target();
        let swings = self.lfo_octaves.target() != 0.0 && rate_hz > 0.0;
        if swings { libm::ceil(self.sample_rate_hz / rate_hz) as usize } else { 0 }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let place = self.pass(left.len());
        let mut frames = Frames::of(left, right);
        if self.envelope_octaves.target() != 0.0 || !self.envelope_octaves.is_at_rest() {
            self.follower.follow(frames.as_mut());
        }
        if self.drive.is_on() {
            self.drive.process(frames.as_mut());
        }
        in_a_row(&mut self.sections, place, frames.as_mut());
        frames.mix(left, right, &mut self.mix);
    }

    fn rest(&mut self, frames: usize) -> bool {
        let glides = [&self.drive.amount, &self.drive.level, &self.mix];
        let rests = self.follower.level == 0.0
            && self.sections.iter().all(Section::is_silent)
            && glides.iter().all(|glide| glide.is_at_rest());
        if rests {
            self.pass(frames);
        }
        rests
    }
}

/// The level of the louder side.
#[derive(Debug, Clone)]
struct Follower {
    level: f64,
    /// Shares of the way that it goes in a frame, up and down: `1 - e^(-1 / frames)`.
    attack: f64,
    release: f64,
}

impl Follower {
    fn follow(&mut self, audio: &[Frame]) {
        for value in audio {
            let [left, right] = value.to_array();
            let way = left.abs().max(right.abs()) - self.level;
            self.level += way * if way > 0.0 { self.attack } else { self.release };
        }
    }

    fn hush(&mut self) {
        if self.level < SILENT {
            self.level = 0.0;
        }
    }
}

/// A soft limit before the filter.
///
/// With a drive `d` (linear) and `a = d - 1`: `y = sqrt(d) x s(a |x|)`, where
/// `s(t) = (27 + t^2) / (27 + 9 t^2)` up to `t = 3` and `1 / t` from there on (the Padé approximant
/// of `tanh(t) / t`). At 0 dB it is no change, and half of the drive's decibels are taken back.
#[derive(Debug, Clone)]
struct Drive {
    amount: Glide,
    level: Glide,
}

impl Drive {
    fn set(&mut self, drive_db: f64, glide_frames: u32) {
        let drive = f64::from(gain::from_db(drive_db));
        self.amount.set(drive - 1.0, glide_frames);
        self.level.set(libm::sqrt(drive), glide_frames);
    }

    fn is_on(&self) -> bool {
        self.amount.target() != 0.0 || !self.amount.is_at_rest()
    }

    fn process(&mut self, audio: &mut [Frame]) {
        for value in audio {
            let t = (*value * self.amount.next()).abs();
            let square = t * t;
            let is_soft = t.cmp_le(f64x2::splat(3.0));
            let top = is_soft.blend(square + 27.0, f64x2::splat(1.0));
            let bottom = is_soft.blend(square * 9.0 + 27.0, t);
            *value = *value * self.level.next() * (top / bottom);
        }
    }
}

//! Tremolo and auto-pan: a level that swings, on both sides together or against each other.

use super::best::best;
use super::control::{ControlClock, Due, Ramp, Settings, aim_all, jump_all};
use super::lfo::{Lfo, Phase, Speed, share_of_turn, sine, turns};
use super::note_value::{NOTE_NAMES, note_beats, note_place};
use super::{
    CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, LineSum, MusicalTime, Parameter, Unit, memory,
};

/// How long the edges of the square and the saws take, in seconds; a quarter of a turn at most.
const EDGE_SECS: f64 = 0.006;

/// How long a change of shape takes, in seconds.
const SWITCH_SECS: f64 = 0.02;

/// A gain that swings between 1 and `1 - depth`.
///
/// A turn starts at the highest level: at the session's start, or, synchronised, at multiples of
/// the note value. The right side is ahead by `stereo_degrees`; at 180 the sound goes from side to
/// side (auto-pan). The saws fall or rise through a turn; their jumps and those of the square are
/// edges of 6 ms, the square's and the falling saw's rising ones done when the turn starts.
pub(super) static TREMOLO: EffectKind = EffectKind {
    id: "tremolo",
    name: "Tremolo",
    parameters: PARAMETERS,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Tremolo::new(config)),
    memory_bytes: memory::inline_bytes::<Tremolo>,
};

const SYNC: usize = 0;
const RATE_HZ: usize = 1;
const NOTE: usize = 2;
const SHAPE: usize = 3;
const DEPTH: usize = 4;
const STEREO_DEGREES: usize = 5;

const PARAMETERS: &[Parameter] = &[
    Parameter::switch("sync", "Sync", false),
    Parameter::logarithmic("rate_hz", "Rate", Unit::Hertz, [0.02, 20.0], 5.0),
    Parameter::choice("note", "Note", NOTE_NAMES, note_place("1/8")),
    Parameter::choice("shape", "Shape", &["Sine", "Triangle", "Square", "Saw down", "Saw up"], 0),
    Parameter::linear("depth", "Depth", Unit::Share, [0.0, 1.0], 0.5),
    Parameter::linear("stereo_degrees", "Stereo", Unit::Degrees, [0.0, 180.0], 0.0),
];

const SHAPES: usize = 5;

struct Tremolo {
    sample_rate_hz: f64,
    settings: Settings<{ PARAMETERS.len() }>,
    clock: ControlClock,
    lfo: Lfo,
    /// Shares of the shapes, which add up to 1.
    shapes: [Glide; SHAPES],
    /// How far left and right stand below their highest, 0 to 1.
    drops: [Ramp; 2],
    depth: Ramp,
}

impl Tremolo {
    fn new(config: &EffectConfig<'_>) -> Self {
        Self {
            sample_rate_hz: f64::from(config.sample_rate_hz),
            settings: Settings::new(PARAMETERS),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            shapes: core::array::from_fn(|shape| Glide::new(if shape == 0 { 1.0 } else { 0.0 })),
            drops: [Ramp::default(); 2],
            depth: Ramp::default(),
        }
    }

    fn speed(&self) -> Speed {
        if self.settings.is_on(SYNC) {
            Speed::Beats(note_beats(self.settings.choice(NOTE)))
        } else {
            Speed::Hertz(self.settings.get(RATE_HZ))
        }
    }

    fn drop_targets(&self) -> [f64; 2] {
        let edge = (EDGE_SECS * self.lfo.rate_hz()).min(0.25);
        [0.0, self.settings.get(STEREO_DEGREES) / 360.0].map(|ahead| {
            let phase = self.lfo.phase().wrapping_add(turns(ahead));
            let mut height = 0.0;
            for (shape, share) in self.shapes.iter().enumerate() {
                if share.value() > 0.0 {
                    height += share.value() * shape_height(shape, phase, edge);
                }
            }
            1.0 - height
        })
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.place(), self.speed());
        let targets = self.drop_targets();
        jump_all(&mut self.drops, targets);
        self.depth.jump(self.settings.get(DEPTH));
    }

    fn step(&mut self) {
        self.settings.step();
        self.shapes.iter_mut().for_each(|share| share.pass(CONTROL_FRAMES));
        self.lfo.step(self.speed());
        let targets = self.drop_targets();
        aim_all(&mut self.drops, Some(targets));
        self.depth.aim(self.settings.get(DEPTH));
    }
}

/// How high a shape stands at a phase, from 0 to 1. Edges take a share of a turn.
fn shape_height(shape: usize, phase: Phase, edge: f64) -> f64 {
    let turn = share_of_turn(phase);
    match shape {
        0 => 0.5 + 0.5 * sine(phase.wrapping_add(1 << 62)),
        1 => (2.0 * turn - 1.0).abs(),
        // High in the first half; each edge ends with its half.
        2 => {
            let into_half = if turn < 0.5 { turn } else { turn - 0.5 };
            let other = smooth((into_half - (0.5 - edge)) / edge);
            if turn < 0.5 { 1.0 - other } else { other }
        }
        3 => saw_down(turn, edge),
        _ => saw_down(1.0 - turn, edge),
    }
}

/// Straight down from 1 to 0, and up again in an edge before the turn ends.
fn saw_down(turn: f64, edge: f64) -> f64 {
    let bottom = 1.0 - edge;
    if turn < bottom { 1.0 - turn / bottom } else { smooth((turn - bottom) / edge) }
}

/// From 0 to 1 without corners.
fn smooth(way: f64) -> f64 {
    let way = way.clamp(0.0, 1.0);
    way * way * (3.0 - 2.0 * way)
}

impl Effect for Tremolo {
    fn reset(&mut self, frame: u64) {
        self.settings.jump();
        self.shapes.iter_mut().for_each(Glide::jump);
        self.clock.reset(frame);
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.settings.set(parameter, value, glide_frames);
        if parameter == DEPTH && glide_frames == 0 {
            self.depth.jump(value);
        }
        if parameter == SHAPE {
            let glide_frames = glide_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32);
            for (shape, share) in self.shapes.iter_mut().enumerate() {
                share.set(if shape == value as usize { 1.0 } else { 0.0 }, glide_frames);
            }
        }
    }

    fn counts(&self, parameter: usize) -> bool {
        parameter == RATE_HZ
    }

    fn follow(&mut self, parameter: usize, line: Option<LineSum>) {
        if self.counts(parameter) {
            self.lfo.follow(line);
        }
    }

    fn set_time(&mut self, time: MusicalTime) {
        self.lfo.set_time(time, self.clock.frame());
    }

    fn gap_frames(&self) -> usize {
        // From one turn's highest level to that of the next.
        let rate_hz = self.lfo.rate_hz();
        let swings = self.settings.get(DEPTH) > 0.0 && rate_hz > 0.0;
        if swings { (self.sample_rate_hz / rate_hz) as usize } else { 0 }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        match self.clock.due() {
            Due::Start => {
                self.start();
                self.step();
            }
            Due::Step => self.step(),
            Due::Nothing => {}
        }
        let offset = self.clock.offset();
        for (drop, values) in self.drops.iter().zip([&mut *left, right]) {
            for (frame, value) in values.iter_mut().enumerate() {
                *value *= 1.0 - self.depth.gain_at(offset + frame) * drop.gain_at(offset + frame);
            }
        }
        self.clock.pass(left.len());
    }
}

//! Reverb: a room.
//!
//! What comes in passes the cuts and the pre-delay. Early reflections are taken straight from there
//! ([`reflections`]). The late sound passes four all-passes a side ([`diffuser`]) and goes around
//! in a feedback delay network ([`network`]) whose absorption gives each frequency its own decay
//! ([`absorption`]).
//!
//! Where size or pre-delay change, all that is read from delays fades over from the old to the new
//! room, so that nothing clicks and nothing changes its pitch.

mod absorption;
mod diffuser;
mod network;
mod reflections;
mod ring;

use self::absorption::Decay;
use self::diffuser::Diffuser;
use self::network::{LINES, Network, line_frames};
use self::reflections::{Reflections, TapFrames, tap_frames};
use super::best::best;
use super::control::{ControlClock, Due, Ramp, Settings, aim_all, jump_all};
use super::cuts::Cuts;
use super::fade::Fade;
use super::lfo::{Lfo, Speed};
use super::line::Line;
use super::memory::{inline_bytes, values_bytes};
use super::mixing::equal_power;
use super::step::{Step, step_of};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, LineSum, Parameter, Unit};

/// Longest pre-delay, in milliseconds.
const LONGEST_PRE_DELAY_MS: f64 = 250.0;

/// How long a change of size or pre-delay takes, in seconds.
const FADE_SECS: f64 = 0.06;

/// Widest turn of the network's modulation, in radians.
const WIDEST_TURN: f64 = 0.6;

/// A room with early reflections and a decay of its own in bass, middle and treble.
///
/// `decay_secs` is the time in which the late sound falls by 60 dB; `low_decay` and `high_decay`
/// are the shares of it that apply well below `low_hz` and well above `high_hz`. For a steady noise
/// the late sound is about as loud as what comes in, whatever the decay. `early` is the level of
/// the early reflections beside it. `mix` is of equal power.
pub(super) static REVERB: EffectKind = EffectKind {
    id: "reverb",
    name: "Reverb",
    parameters: PARAMETERS,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Reverb::new(config)),
    memory_bytes: Reverb::memory_bytes,
};

const PRE_DELAY_MS: usize = 0;
const SIZE: usize = 1;
const DECAY_SECS: usize = 2;
const LOW_DECAY: usize = 3;
const LOW_HZ: usize = 4;
const HIGH_DECAY: usize = 5;
const HIGH_HZ: usize = 6;
const DIFFUSION: usize = 7;
const EARLY: usize = 8;
const MODULATION: usize = 9;
const MODULATION_HZ: usize = 10;
const LOW_CUT_HZ: usize = 11;
const HIGH_CUT_HZ: usize = 12;
const WIDTH: usize = 13;
const MIX: usize = 14;

const PARAMETERS: &[Parameter] = &[
    Parameter::linear("pre_delay_ms", "Pre-delay", Unit::Milliseconds, [0.0, LONGEST_PRE_DELAY_MS], 12.0),
    Parameter::linear("size", "Size", Unit::Share, [0.1, 1.0], 0.6),
    Parameter::logarithmic("decay_secs", "Decay", Unit::Seconds, [0.1, 20.0], 1.8),
    Parameter::logarithmic("low_decay", "Low decay", Unit::Share, [0.25, 2.0], 1.0),
    Parameter::logarithmic("low_hz", "Low below", Unit::Hertz, [50.0, 1_000.0], 250.0),
    Parameter::logarithmic("high_decay", "High decay", Unit::Share, [0.1, 1.0], 0.5),
    Parameter::logarithmic("high_hz", "High above", Unit::Hertz, [1_000.0, 16_000.0], 5_000.0),
    Parameter::linear("diffusion", "Diffusion", Unit::Share, [0.0, 1.0], 0.8),
    Parameter::linear("early", "Early reflections", Unit::Share, [0.0, 1.0], 0.5),
    Parameter::linear("modulation", "Modulation", Unit::Share, [0.0, 1.0], 0.5),
    Parameter::logarithmic("modulation_hz", "Modulation rate", Unit::Hertz, [0.05, 5.0], 1.3),
    Parameter::logarithmic("low_cut_hz", "Low cut", Unit::Hertz, [20.0, 2_000.0], 80.0),
    Parameter::logarithmic("high_cut_hz", "High cut", Unit::Hertz, [500.0, 20_000.0], 14_000.0),
    Parameter::linear("width", "Width", Unit::Share, [0.0, 1.0], 1.0),
    Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 0.25),
];

/// What is read where, in frames back.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Room {
    pre_delay_frames: usize,
    taps: TapFrames,
    lines: [usize; LINES],
}

impl Room {
    /// Frames from a sound to the last of its reflections and of its first ways through the
    /// network.
    fn longest_way_frames(&self) -> usize {
        let ways = self.taps.iter().flatten().chain(&self.lines);
        self.pre_delay_frames + ways.copied().fold(0, usize::max)
    }
}

struct Reverb {
    sample_rate_hz: f64,
    settings: Settings<{ PARAMETERS.len() }>,
    clock: ControlClock,
    lfo: Lfo,
    cuts: Cuts,
    /// What came in, behind the cuts.
    inputs: [Line; 2],
    room: Fade<Room>,
    /// A fade to another room begins at multiples of so many frames.
    fade_every_frames: u64,
    /// Pre-delay and size of the room that was aimed at last.
    aimed: [f64; 2],
    reflections: Reflections,
    diffusers: [Diffuser; 2],
    network: Network,
    /// Dry, wet, width, early reflections, late sound, coefficient of the diffusers.
    gains: [Ramp; 6],
}

impl Reverb {
    fn longest_room(sample_rate_hz: f64) -> Room {
        room(sample_rate_hz, [LONGEST_PRE_DELAY_MS, 1.0])
    }

    fn input_frames(longest_room: &Room) -> usize {
        let longest_tap = longest_room.taps.iter().flatten().max().copied().unwrap_or(0);
        longest_room.pre_delay_frames + longest_tap + CONTROL_FRAMES
    }

    /// The lines of the inputs, of the network, and of the diffusers.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        let longest_room = Self::longest_room(sample_rate_hz.into());
        let diffusers = [0, 1].map(|side| Diffuser::frames_of(side, sample_rate_hz.into()));
        let rings =
            longest_room.lines.iter().chain(diffusers.iter().flatten()).map(|frames| frames + CONTROL_FRAMES);
        2 * Line::memory_bytes(Self::input_frames(&longest_room))
            + values_bytes(rings.sum())
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let longest_room = Self::longest_room(sample_rate_hz);
        let fade_frames = (FADE_SECS * sample_rate_hz) as usize;
        let input = Line::new(Self::input_frames(&longest_room));
        Self {
            sample_rate_hz,
            settings: Settings::new(PARAMETERS),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            cuts: Cuts::new(config.sample_rate_hz),
            inputs: [input.clone(), input],
            room: Fade::new(longest_room, fade_frames),
            fade_every_frames: fade_frames.next_multiple_of(CONTROL_FRAMES) as u64,
            aimed: [0.0; 2],
            reflections: Reflections::new(),
            diffusers: [Diffuser::new(0, sample_rate_hz), Diffuser::new(1, sample_rate_hz)],
            network: Network::new(sample_rate_hz, &longest_room.lines),
            gains: [Ramp::default(); 6],
        }
    }

    fn cuts_hz(&self) -> [f64; 2] {
        [self.settings.get(LOW_CUT_HZ), self.settings.get(HIGH_CUT_HZ)]
    }

    fn wanted(&self) -> [f64; 2] {
        [self.settings.get(PRE_DELAY_MS), self.settings.get(SIZE)]
    }

    fn decay(&self) -> Decay {
        let settings = &self.settings;
        let middle_secs = settings.get(DECAY_SECS);
        Decay {
            low_secs: middle_secs * settings.get(LOW_DECAY),
            middle_secs,
            high_secs: middle_secs * settings.get(HIGH_DECAY),
            low_hz: settings.get(LOW_HZ),
            high_hz: settings.get(HIGH_HZ),
        }
    }

    fn gain_targets(&self) -> [f64; 6] {
        let settings = &self.settings;
        let [dry, wet] = equal_power(settings.get(MIX));
        let late = self.network.level(settings.get(DECAY_SECS));
        [
            dry,
            wet,
            settings.get(WIDTH),
            settings.get(EARLY),
            late,
            diffuser::STRONGEST * settings.get(DIFFUSION),
        ]
    }

    fn speed(&self) -> Speed {
        Speed::Hertz(self.settings.get(MODULATION_HZ))
    }

    fn start(&mut self) {
        self.aimed = self.wanted();
        self.room.jump(room(self.sample_rate_hz, self.aimed));
        self.cuts.jump(self.cuts_hz());
        self.lfo.start(self.clock.place(), self.speed());
        let (decay, widest) = (self.decay(), WIDEST_TURN * self.settings.get(MODULATION));
        self.network.start(&decay, &self.room, self.lfo.phase(), widest);
        let gains = self.gain_targets();
        jump_all(&mut self.gains, gains);
    }

    fn step(&mut self) {
        let mut moved = self.settings.step();
        // At places that do not depend on when the change began, or where playing did.
        let may_fade = self.room.is_at_rest() && self.clock.place().is_multiple_of(self.fade_every_frames);
        if may_fade && self.aimed != self.wanted() {
            self.aimed = self.wanted();
            self.room.aim(room(self.sample_rate_hz, self.aimed));
            moved = true;
        }
        self.lfo.step(self.speed());
        let (decay, widest) = (self.decay(), WIDEST_TURN * self.settings.get(MODULATION));
        self.network.step(&decay, &self.room, self.lfo.phase(), widest);
        self.cuts.step(moved.then(|| self.cuts_hz()));
        let gains = moved.then(|| self.gain_targets());
        aim_all(&mut self.gains, gains);
    }
}

impl Reverb {
    /// Puts the room beside what came in.
    #[inline(always)]
    fn mix(
        &self,
        offset: usize,
        [left, right]: [&mut [f32]; 2],
        early: &[Step; 2],
        [late_left, late_right]: &[Step; 2],
    ) {
        let mut gains = [[0.0; CONTROL_FRAMES]; 4];
        for (gains, ramp) in gains.iter_mut().zip(&self.gains) {
            ramp.fill(offset, gains);
        }
        let [dry, wet, width, first] = &gains;
        let gains = dry.iter().zip(wet).zip(width.iter().zip(first));
        let early = early[0].iter().zip(&early[1]);
        let late = late_left.iter().zip(late_right);
        let room = early.zip(late).zip(gains);
        for ((left, right), (((early_left, early_right), (late_left, late_right)), gains)) in
            left.iter_mut().zip(right).zip(room)
        {
            let ((dry, wet), (width, first)) = gains;
            let heard_left = early_left * first + late_left;
            let heard_right = early_right * first + late_right;
            let middle = 0.5 * wet * (heard_left + heard_right);
            let side = 0.5 * wet * width * (heard_left - heard_right);
            *left = *left * dry + (middle + side);
            *right = *right * dry + (middle - side);
        }
    }
}

/// The room of a pre-delay in milliseconds and a size.
fn room(sample_rate_hz: f64, [pre_delay_ms, size]: [f64; 2]) -> Room {
    Room {
        pre_delay_frames: libm::round(1e-3 * pre_delay_ms * sample_rate_hz) as usize,
        taps: tap_frames(sample_rate_hz, size),
        lines: line_frames(sample_rate_hz, size),
    }
}

impl Effect for Reverb {
    fn reset(&mut self, frame: u64) {
        self.settings.jump();
        self.clock.reset(frame);
        self.cuts.clear();
        self.inputs.iter_mut().for_each(Line::clear);
        self.diffusers.iter_mut().for_each(Diffuser::clear);
        self.network.clear();
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.settings.set(parameter, value, glide_frames);
        if parameter == MIX && glide_frames == 0 {
            jump_all(&mut self.gains[..2], equal_power(value));
        }
    }

    fn counts(&self, parameter: usize) -> bool {
        parameter == MODULATION_HZ
    }

    fn follow(&mut self, parameter: usize, line: Option<LineSum>) {
        if self.counts(parameter) {
            self.lfo.follow(line);
        }
    }

    fn gap_frames(&self) -> usize {
        self.room.now().longest_way_frames() + self.diffusers.iter().map(Diffuser::frames).fold(0, usize::max)
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
        let (frames, offset) = (left.len(), self.clock.offset());
        let mut wet = [&*left, &*right].map(step_of);
        self.cuts.process(offset, wet.each_mut().map(|wet| &mut wet[..frames]));
        for (input, wet) in self.inputs.iter_mut().zip(&wet) {
            input.write(&wet[..frames]);
        }
        let mut early = [[0.0; CONTROL_FRAMES]; 2];
        for (side, early) in early.iter_mut().enumerate() {
            let early = &mut early[..frames];
            self.reflections.read(&self.inputs, side, self.room.now(), early);
            self.room.blend(early, |room, early| self.reflections.read(&self.inputs, side, room, early));
        }
        let mut gains = [0.0; CONTROL_FRAMES];
        self.gains[4].fill(offset, &mut gains);
        for (side, wet) in wet.iter_mut().enumerate() {
            let input = &self.inputs[side];
            let delayed = &mut wet[..frames];
            input.read(self.room.now().pre_delay_frames + frames, delayed);
            self.room.blend(delayed, |room, delayed| input.read(room.pre_delay_frames + frames, delayed));
            self.diffusers[side].process(offset, &self.gains[5], delayed);
            // On the way in: a change of decay leaves the level of what sounds as it is.
            wet.iter_mut().zip(&gains).for_each(|(value, gain)| *value *= gain);
        }
        self.network.process(offset, frames, &self.room, &mut wet);
        self.mix(offset, [left, right], &early, &wet);
        self.room.pass(frames);
        self.clock.pass(frames);
    }
}

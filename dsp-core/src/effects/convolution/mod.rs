//! Convolution: every frame sets off a response, that of a room or of anything else.
//!
//! The response is one of one's own ([`EffectConfig::impulse`]) or a made room (`rooms.rs`).
//! Whatever it is, its energy is brought to 1, the mean of left and right (that of rooms but for
//! the chance in their noise): white noise then passes at its own level. The wet sound has no
//! latency of its own, and a response is made ready as it is needed (`partitions.rs`). Without a
//! response of one's own, that choice is silence.

mod partitions;
mod pre_delay;
mod rooms;
mod waveform;

use super::best::best;
use super::memory::{inline_bytes, values_bytes};
use super::section::{Frames, Section, Shape, in_a_row, warp};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit};
use crate::gain;
use partitions::Convolver;
use pre_delay::PreDelay;
use waveform::Waveform;

const RESPONSE: usize = 0;
const PRE_DELAY: usize = 1;
const LOW_CUT: usize = 2;
const HIGH_CUT: usize = 3;
const LEVEL: usize = 4;

/// The choice of a response of one's own.
const OWN: usize = 0;

/// At these, a cut is off.
const LOWEST_HZ: f64 = 20.0;
const HIGHEST_HZ: f64 = 20_000.0;

/// Longest response of one's own, in seconds: more than any hall rings. Its level is found when the
/// effect is made, which may be while the music plays.
const LONGEST_SECS: f64 = 30.0;

/// Longest pre-delay, in milliseconds.
const MOST_PRE_DELAY_MS: f64 = 250.0;

/// Convolution reverb.
pub(super) static CONVOLUTION: EffectKind = EffectKind {
    id: "convolution",
    name: "Convolution",
    parameters: &[
        Parameter::choice("response", "Response", &["Own", "Small room", "Hall", "Plate"], 2),
        Parameter::linear("pre_delay_ms", "Pre-delay", Unit::Milliseconds, [0.0, MOST_PRE_DELAY_MS], 10.0),
        Parameter::logarithmic("low_cut_hz", "Low cut", Unit::Hertz, [LOWEST_HZ, 2_000.0], 120.0),
        Parameter::logarithmic("high_cut_hz", "High cut", Unit::Hertz, [500.0, HIGHEST_HZ], 9_000.0),
        Parameter::linear("level_db", "Level", Unit::Decibels, [-36.0, 12.0], 0.0),
        Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 0.25),
    ],
    has_side_chain: false,
    impulse_max_secs: Some(LONGEST_SECS),
    make: |config| best(Convolution::new(config)),
    memory_bytes: Convolution::memory_bytes,
};

/// How long a change of response or of pre-delay fades out and in, in seconds.
const FADE_SECS: f64 = 0.02;

/// How long a cut takes to come and go, in seconds.
const SWITCH_SECS: f64 = 0.01;

struct Convolution {
    sample_rate_hz: f64,
    clock: u64,
    responses: [Waveform; 4],
    wanted: usize,
    playing: usize,
    convolver: Convolver,
    pre_delay: PreDelay,
    /// What the convolver is given, and what is heard of it: 0 around a change of response.
    entry: Glide,
    exit: Glide,
    low_cut_hz: Glide,
    high_cut_hz: Glide,
    cut_shares: [Glide; 2],
    cuts: [Section; 2],
    /// Whether something was set since the last control place, also what is there at once.
    was_set: bool,
    level: Glide,
    mix: Glide,
}

impl Convolution {
    /// The responses, the longest of them once more as spectra, and the spectra of as much input.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        let rate_hz = f64::from(sample_rate_hz);
        let of_rooms = [rooms::SMALL_ROOM, rooms::HALL, rooms::PLATE].map(|room| room.frames(rate_hz));
        let impulse_frames = impulse_frames as usize;
        let longest_frames = of_rooms.into_iter().fold(impulse_frames, usize::max);
        values_bytes(2 * (of_rooms.iter().sum::<usize>() + impulse_frames))
            + partitions::memory_bytes(longest_frames)
            + PreDelay::memory_bytes(MOST_PRE_DELAY_MS / 1_000.0 * rate_hz)
            + inline_bytes::<Self>(sample_rate_hz, 0)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let room = |room| Waveform::of_room(&room, sample_rate_hz, config.seed);
        let mut responses = [
            Waveform::own(config.impulse.unwrap_or([&[], &[]])),
            room(rooms::SMALL_ROOM),
            room(rooms::HALL),
            room(rooms::PLATE),
        ];
        let most_frames = responses.iter().map(Waveform::frames).fold(0, usize::max);
        let mut convolver = Convolver::new(most_frames);
        convolver.begin(&mut responses[OWN]);
        let still = Glide::new(0.0);
        let section = Section::new(Shape::open(1.0, 1.0));
        let mut convolution = Self {
            sample_rate_hz,
            clock: 0,
            responses,
            wanted: OWN,
            playing: OWN,
            convolver,
            pre_delay: PreDelay::new(
                MOST_PRE_DELAY_MS / 1_000.0 * sample_rate_hz,
                FADE_SECS * sample_rate_hz,
            ),
            entry: Glide::new(1.0),
            exit: Glide::new(1.0),
            low_cut_hz: still,
            high_cut_hz: still,
            cut_shares: [still; 2],
            cuts: [section.clone(), section],
            was_set: false,
            level: still,
            mix: still,
        };
        for (place, parameter) in CONVOLUTION.parameters.iter().enumerate() {
            convolution.set(place, parameter.default, 0);
        }
        convolution.reset(0);
        convolution
    }

    fn frames(&self, secs: f64) -> u32 {
        (secs * self.sample_rate_hz) as u32
    }

    fn shapes(&self) -> [Shape; 2] {
        const DAMPING: f64 = core::f64::consts::SQRT_2;
        let g = |glide: &Glide| warp(glide.value(), self.sample_rate_hz);
        [
            Shape::high_pass(g(&self.low_cut_hz), DAMPING).share(self.cut_shares[0].value()),
            Shape::low_pass(g(&self.high_cut_hz), DAMPING).share(self.cut_shares[1].value()),
        ]
    }

    fn cut_glides(&mut self) -> impl Iterator<Item = &mut Glide> {
        [&mut self.low_cut_hz, &mut self.high_cut_hz].into_iter().chain(&mut self.cut_shares)
    }

    /// At the control place `frame`.
    fn control(&mut self, frame: u64) {
        let moves = core::mem::take(&mut self.was_set)
            || self.cut_glides().any(|glide| !glide.is_at_rest())
            || self.cuts.iter().any(Section::is_moving);
        if moves {
            self.cut_glides().for_each(|glide| glide.pass(CONTROL_FRAMES));
            let shapes = self.shapes();
            self.cuts.iter_mut().zip(shapes).for_each(|(cut, shape)| cut.aim(shape));
        }
        self.cuts.iter_mut().for_each(Section::hush);
        self.change_response();
        self.pre_delay.control(frame);
    }

    /// Fades the old response out; once it is silent, lets the new one begin with nothing, and
    /// fades what it hears in.
    fn change_response(&mut self) {
        let fade_frames = self.frames(FADE_SECS);
        let heard = if self.wanted == self.playing { 1.0 } else { 0.0 };
        if self.exit.target() != heard {
            self.exit.set(heard, fade_frames);
        } else if heard == 0.0 && self.exit.is_at_rest() {
            self.playing = self.wanted;
            self.convolver.begin(&mut self.responses[self.playing]);
            self.exit = Glide::new(1.0);
            self.entry = Glide::new(0.0);
            self.entry.set(1.0, fade_frames);
        }
    }
}

impl Effect for Convolution {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        if self.playing == self.wanted {
            self.convolver.clear();
        } else {
            self.playing = self.wanted;
            self.convolver.begin(&mut self.responses[self.playing]);
        }
        self.pre_delay.clear();
        self.entry = Glide::new(1.0);
        self.exit = Glide::new(1.0);
        self.cut_glides().for_each(Glide::jump);
        self.level.jump();
        self.mix.jump();
        let shapes = self.shapes();
        self.cuts.iter_mut().zip(shapes).for_each(|(cut, shape)| cut.reset(shape));
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.was_set = true;
        let switch_frames = glide_frames.max(self.frames(SWITCH_SECS));
        match parameter {
            RESPONSE => self.wanted = value as usize,
            PRE_DELAY => self.pre_delay.set(libm::round(value / 1_000.0 * self.sample_rate_hz) as usize),
            LOW_CUT => {
                self.low_cut_hz.set(value, glide_frames);
                self.cut_shares[0].go_over(if value > LOWEST_HZ { 1.0 } else { 0.0 }, switch_frames);
            }
            HIGH_CUT => {
                self.high_cut_hz.set(value, glide_frames);
                self.cut_shares[1].go_over(if value < HIGHEST_HZ { 1.0 } else { 0.0 }, switch_frames);
            }
            LEVEL => self.level.set(f64::from(gain::from_db(value)), glide_frames),
            _ => self.mix.set(value, glide_frames),
        }
    }

    fn gap_frames(&self) -> usize {
        self.pre_delay.frames() + self.responses[self.playing].frames()
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let frame = self.clock;
        let place = (frame % CONTROL_FRAMES as u64) as usize;
        self.clock += left.len() as u64;
        if place == 0 {
            self.control(frame);
        }
        let mut wet = [[0.0; CONTROL_FRAMES]; 2];
        let [wet_left, wet_right] = wet.each_mut().map(|wet| &mut wet[..left.len()]);
        let mut frames = Frames::of(left, right);
        in_a_row(&mut self.cuts, place, frames.as_mut());
        frames.store(wet_left, wet_right);
        self.pre_delay.process([&mut *wet_left, &mut *wet_right]);
        for (left, right) in wet_left.iter_mut().zip(&mut *wet_right) {
            let gain = self.entry.next() as f32;
            (*left, *right) = (*left * gain, *right * gain);
        }
        let response = &mut self.responses[self.playing];
        self.convolver.process(frame, response, [&mut *wet_left, &mut *wet_right]);
        for ((left, right), (wet_left, wet_right)) in
            left.iter_mut().zip(right).zip(wet_left.iter().zip(wet_right))
        {
            let mix = self.mix.next();
            let (dry, wet) = ((1.0 - mix) as f32, (mix * self.level.next() * self.exit.next()) as f32);
            (*left, *right) = (*left * dry + *wet_left * wet, *right * dry + *wet_right * wet);
        }
    }
}

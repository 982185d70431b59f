//! The built-in effects: one file each, and the table from which the service, the page and
//! automation know them.
//!
//! An [`EffectKind`] says what an effect is called, which parameters it has and how it is made;
//! [`EFFECTS`] lists all kinds. What processes is an [`Effect`]; a [`Chain`](crate::chain::Chain)
//! holds some in a row.

mod ballistics;
mod best;
mod bit_crusher;
mod butterworth;
mod chorus;
mod compressor;
mod control;
mod convolution;
mod curve;
mod cuts;
mod de_esser;
mod decibels;
mod delay;
pub mod equalizer;
mod fade;
mod filter;
mod flanger;
mod fractional_line;
mod gate;
mod glide;
mod group;
mod key;
#[cfg(test)]
pub(crate) mod latent;
mod lfo;
mod limiter;
mod line;
mod memory;
mod mixing;
mod note_value;
mod parameter;
mod phaser;
mod reverb;
mod saturator;
mod section;
mod step;
mod tremolo;
mod utility;
mod width;

use alloc::boxed::Box;

pub use group::Group;
pub use parameter::{Parameter, Scale, Unit};

pub(crate) use glide::Glide;

/// Effects compute what moves slowly at every multiple of so many frames of the session's clock:
/// its control places.
pub const CONTROL_FRAMES: usize = 32;

/// Most frames that an effect is given at once, and whose multiples on the session's clock no call
/// of [`Effect::process`] crosses: some control steps.
pub(crate) const LONGEST_FRAMES: usize = 128;

/// Highest magnitude that an effect is given: 120 dB above full scale.
pub const LOUDEST: f32 = 1e6;

/// Lowest magnitude that an effect is given, but for 0: 400 dB below full scale.
pub const FAINTEST: f32 = 1e-20;

/// Every kind of effect, in the order in which people are offered them.
pub static EFFECTS: &[&EffectKind] = &[
    &utility::UTILITY,
    &compressor::COMPRESSOR,
    &gate::GATE,
    &limiter::LIMITER,
    &de_esser::DE_ESSER,
    &equalizer::EQUALIZER,
    &filter::FILTER,
    &saturator::SATURATOR,
    &bit_crusher::BIT_CRUSHER,
    &width::WIDTH,
    &convolution::CONVOLUTION,
    &delay::DELAY,
    &reverb::REVERB,
    &chorus::CHORUS,
    &flanger::FLANGER,
    &phaser::PHASER,
    &tremolo::TREMOLO,
];

/// The kind of effect with an id; `None` where there is no such kind.
pub fn effect_kind(id: &str) -> Option<&'static EffectKind> {
    #[cfg(test)]
    if let Some(kind) = latent::KINDS.into_iter().find(|kind| kind.id == id) {
        return Some(kind);
    }
    EFFECTS.iter().find(|kind| kind.id == id).copied()
}

/// A kind of effect.
#[derive(Debug)]
pub struct EffectKind {
    /// Its name in projects; never changes.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// What can be set, in the order in which [`Effect::set`] counts.
    pub parameters: &'static [Parameter],
    /// Whether it can listen to another track.
    pub has_side_chain: bool,
    /// How long an impulse response may be, in seconds; `None` where it takes none.
    pub impulse_max_secs: Option<f64>,
    /// Makes one, with every parameter at its default.
    pub make: fn(&EffectConfig<'_>) -> Box<dyn Effect>,
    /// Most bytes that one allocates, at a sample rate in hertz and with an impulse response of
    /// `impulse_frames` frames.
    pub memory_bytes: fn(sample_rate_hz: u32, impulse_frames: u64) -> u64,
}

impl EffectKind {
    /// The place of a parameter in [`Self::parameters`]; `None` where there is no such parameter.
    pub fn parameter_place(&self, id: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.id == id)
    }

    /// Longest impulse response in frames; 0 where it takes none.
    pub fn impulse_max_frames(&self, sample_rate_hz: u32) -> u64 {
        self.impulse_max_secs.map_or(0, |secs| libm::ceil(secs * f64::from(sample_rate_hz)) as u64)
    }
}

/// What an effect is made for.
#[derive(Debug, Clone, Copy)]
pub struct EffectConfig<'a> {
    /// Sample rate in hertz, 8,000 to 192,000.
    pub sample_rate_hz: u32,
    /// Start of every random sequence.
    pub seed: u64,
    /// The impulse response of a convolution, at the sample rate above: left and right, at most
    /// [`EffectKind::impulse_max_frames`] long.
    pub impulse: Option<[&'a [f32]; 2]>,
}

/// Where the music is, for effects that keep time with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MusicalTime {
    /// Quarter notes a minute from here on.
    pub bpm: f64,
    /// Quarter notes from the start of the session to here.
    pub beat: f64,
}

/// What a parameter that follows a line has added up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineSum {
    /// A control place of the session's clock.
    pub place: u64,
    /// Sums of the values from the session's first frame to there and to the next control place,
    /// each value times the seconds for which it held, in the parameter's unit.
    pub value_secs: [f64; 2],
}

/// A stereo effect at work.
///
/// What it computes does not depend on how many frames a call asks for. Nothing here allocates,
/// locks or panics. Input is finite, at most [`LOUDEST`], and either 0 or at least [`FAINTEST`]
/// (the chain sees to that); output and state are finite, and what rings falls to 0 rather than
/// below what a normal float can hold.
pub trait Effect: Send {
    /// Falls silent, goes to the targets of all parameters, and stands at `frame` of the
    /// session's clock: what swings, swings as if it had run from the session's start.
    fn reset(&mut self, frame: u64);

    /// Moves a parameter, counted as in [`EffectKind::parameters`], to a value in its unit, going
    /// straight to it in `glide_frames` (0: at once). The caller has clamped the value
    /// ([`Parameter::clamp`]). Choices and switches may glide as the effect needs to stay free of
    /// clicks.
    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32);

    /// Whether it counts what a parameter adds up to where that follows a line: see
    /// [`Self::follow`].
    fn counts(&self, _parameter: usize) -> bool {
        false
    }

    /// A parameter that the effect [`Self::counts`] follows a line and adds up to this, or no
    /// longer does. What turns as fast as a parameter says has made as many turns, wherever playing
    /// starts. Said at each control place while the session moves, of that place; before a reset to
    /// a frame, and when lines change, of the place at or before.
    fn follow(&mut self, _parameter: usize, _line: Option<LineSum>) {}

    /// The music goes on in this time from the next frame. Called after every reset and at changes
    /// of tempo.
    fn set_time(&mut self, _time: MusicalTime) {}

    /// Whether nothing is to be computed at control places before something is set, so that a call
    /// may go on behind them.
    fn is_still(&self) -> bool {
        false
    }

    /// Processes left and right in place: at most up to the next control place, or if
    /// [`Self::is_still`] said so, to the next multiple of 128 frames. `side` is what a side-chain
    /// hears, as long as `audio`.
    fn process(&mut self, audio: [&mut [f32]; 2], side: Option<[&[f32]; 2]>);

    /// Lets frames of silence pass, in the input and in what a side-chain hears, as many as
    /// [`Self::process`] takes, if nothing is left of what came before: silence would come out, and
    /// everything is as `process` would leave it. Says whether that was so; if not, nothing has
    /// happened.
    fn rest(&mut self, _frames: usize) -> bool {
        false
    }

    /// Frames by which the output lags the input; the same for as long as the effect lives.
    fn latency_frames(&self) -> usize {
        0
    }

    /// Most frames for which the effect, as it is set now, may be silent and sound again with
    /// nothing new coming in: the time of its longest echo, or of a swing from loud to loud. A
    /// render waits so long for what may still come.
    fn gap_frames(&self) -> usize {
        0
    }

    /// How much the effect turns its input down now, in decibels (0 or more), where it does such a
    /// thing.
    fn gain_reduction_db(&self) -> Option<f32> {
        None
    }
}

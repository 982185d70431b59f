//! The built-in effects, and the table by which the server, the page and automation know them.
//!
//! An [`EffectKind`] describes an effect: id, name, parameters and constructor. [`EFFECTS`] lists
//! all kinds. An [`Effect`] processes audio. An [`EffectChain`](crate::mixer::EffectChain) runs
//! several effects in series.

mod bit_crusher;
mod chorus;
mod compressor;
mod convolution;
mod de_esser;
mod delay;
mod detector_input;
mod effect;
pub mod equalizer;
mod filter;
mod flanger;
mod gate;
mod input_range;
mod lfo;
mod limiter;
mod memory;
mod note_value;
mod parameter;
mod params;
mod phaser;
mod reverb;
mod saturator;
mod simd_dispatch;
mod smoothed_parameters;
mod table;
#[cfg(test)]
pub(crate) mod test_kinds;
mod tremolo;
mod utility;
mod width;

pub use effect::{CurveSum, Effect, EffectConfig, EffectKind, FAINTEST, Group, LOUDEST, MusicalTime};
pub use parameter::{Parameter, Scale, Unit};
pub use table::{EFFECTS, effect_kind};

pub use crate::dsp::control::CONTROL_FRAMES;
pub(crate) use crate::dsp::control::LONGEST_FRAMES;
pub(crate) use input_range::clamp_to_range;

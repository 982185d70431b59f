//! The built-in effects, and the table that describes them to the server, the page and automation.
//!
//! An [`EffectKind`] describes an effect: its id, name, parameters and constructor. [`EFFECTS`]
//! lists all kinds. An [`Effect`] processes audio. An [`EffectChain`](crate::mixer::EffectChain)
//! runs several effects in series.

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
mod recorded_output;
mod reverb;
mod saturator;
mod simd_dispatch;
mod smoothed_parameters;
#[cfg(test)]
pub(crate) mod test_kinds;
mod tremolo;
mod utility;
mod width;

pub use effect::{
    CurveIntegral, Effect, EffectConfig, EffectKind, Group, MAX_INPUT_MAGNITUDE, MIN_INPUT_MAGNITUDE,
    MusicalTime,
};
pub use parameter::{Parameter, Scale, Unit};
pub use recorded_output::RECORDED_OUTPUT;

pub use crate::dsp::control::CONTROL_FRAMES;
pub(crate) use crate::dsp::control::LONGEST_FRAMES;
pub(crate) use input_range::clamp_to_range;

/// Every kind of effect, in the order in which the page offers them.
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

/// Returns the kind of effect with the id `id`, or `None` if no kind has it. Besides [`EFFECTS`],
/// there is [`RECORDED_OUTPUT`].
pub fn effect_kind(id: &str) -> Option<&'static EffectKind> {
    #[cfg(test)]
    if let Some(kind) = test_kinds::KINDS.into_iter().find(|kind| kind.id == id) {
        return Some(kind);
    }
    EFFECTS.iter().copied().chain([&RECORDED_OUTPUT]).find(|kind| kind.id == id)
}

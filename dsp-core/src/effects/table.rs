//! The table of all kinds of effects.

use super::effect::EffectKind;
#[cfg(test)]
use super::test_kinds;
use super::{
    bit_crusher, chorus, compressor, convolution, de_esser, delay, equalizer, filter, flanger, gate, limiter,
    phaser, reverb, saturator, tremolo, utility, width,
};

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

/// The kind of effect with an id; `None` if there is none.
pub fn effect_kind(id: &str) -> Option<&'static EffectKind> {
    #[cfg(test)]
    if let Some(kind) = test_kinds::KINDS.into_iter().find(|kind| kind.id == id) {
        return Some(kind);
    }
    EFFECTS.iter().find(|kind| kind.id == id).copied()
}

//! The effects of a track or of the master in the engine's terms.

use dsp_core::effects::{EffectKind, Parameter, Scale, effect_kind};
use dsp_core::session::EffectSettings;
use serde_json::Value;

use super::Builder;
use super::sounds::LeftOutReason;
use crate::project::{Effect, EffectType};

impl Builder<'_> {
    /// What the engine knows of these effects; `pointer` is theirs.
    pub(super) fn effects(&mut self, effects: &[Effect], pointer: &str) -> Vec<EffectSettings> {
        let mut known = Vec::with_capacity(effects.len());
        for (place, effect) in effects.iter().enumerate() {
            known.extend(self.effect(effect, &format!("{pointer}/{place}")));
        }
        known
    }

    fn effect(&mut self, effect: &Effect, pointer: &str) -> Option<EffectSettings> {
        let name = effect.name.as_deref().unwrap_or_default();
        let Some(kind) = built_in(effect) else {
            let reason = match effect.effect_type {
                EffectType::Builtin => LeftOutReason::UnknownEffect { name: name.into() },
                EffectType::Vst2 | EffectType::Vst3 => LeftOutReason::Plugin,
            };
            self.leave_out(pointer.into(), reason);
            return None;
        };
        let mut values: Vec<f64> = kind.parameters.iter().map(|parameter| parameter.default).collect();
        for (id, value) in &effect.params {
            let value = match kind.parameter_place(id) {
                None => Err(LeftOutReason::UnknownParameter { id: id.clone() }),
                Some(place) => match parameter_value(&kind.parameters[place], value) {
                    Some(value) => Ok((place, value)),
                    None => Err(LeftOutReason::Value),
                },
            };
            match value {
                Ok((place, value)) => values[place] = value,
                Err(reason) => self.leave_out(format!("{pointer}/params/{}", escaped(id)), reason),
            }
        }
        let side_chain = effect.side_chain.as_deref().and_then(|id| {
            let place = self.track_place(id);
            if place.is_none() {
                let reason = LeftOutReason::UnknownTrack { id: id.into() };
                self.leave_out(format!("{pointer}/side_chain"), reason);
            }
            place
        });
        let impulse = effect.impulse.as_deref().and_then(|id| {
            let audio = self.sounds.audio(id);
            if audio.is_none() {
                self.leave_out(format!("{pointer}/impulse"), LeftOutReason::Audio);
            }
            Some(audio?.slot)
        });
        Some(EffectSettings {
            id: effect.id.clone(),
            kind: kind.id.into(),
            values,
            bypass: effect.bypass,
            side_chain,
            impulse,
        })
    }
}

/// The kind of a built-in effect, if this version has it.
fn built_in(effect: &Effect) -> Option<&'static EffectKind> {
    let name = effect.name.as_deref().filter(|_| effect.effect_type == EffectType::Builtin)?;
    effect_kind(name)
}

/// The value of a parameter as a project writes it: a number, for a switch also true or false, for a choice
/// also its name.
fn parameter_value(parameter: &Parameter, value: &Value) -> Option<f64> {
    match (value, parameter.scale) {
        (Value::Number(number), _) => number.as_f64().map(|value| parameter.clamp(value)),
        (Value::Bool(on), Scale::Switch) => Some(if *on { 1.0 } else { 0.0 }),
        (Value::String(name), Scale::Choice(choices)) => {
            choices.iter().position(|choice| choice == name).map(|place| place as f64)
        }
        _ => None,
    }
}

/// A name as a part of a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

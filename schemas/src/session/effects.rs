//! Compiles the effects of a track or of the master.

use dsp_core::effects::{EFFECTS, EffectKind, Parameter, RECORDED_OUTPUT, Scale};
use dsp_core::session::EffectSettings;
use serde_json::Value;

use super::Builder;
use super::media::ProjectIssueReason;
use crate::json::JsonText;
use crate::project::{Effect, EffectType};
use crate::validate::excerpt;

impl Builder<'_> {
    /// Compiles the effects that the engine has and those whose output is recorded, and reports the
    /// others. `track_id` is `None` for the master, and `pointer` is the JSON pointer to `effects`.
    pub(super) fn compile_effects(
        &mut self,
        track_id: Option<&str>,
        effects: &[Effect],
        pointer: &str,
    ) -> Vec<EffectSettings> {
        let mut compiled_effects = Vec::with_capacity(effects.len());
        for (index, effect) in effects.iter().enumerate() {
            let pointer = format!("{pointer}/{index}");
            if compiled_effects.iter().any(|compiled_effect: &EffectSettings| compiled_effect.id == effect.id)
            {
                self.report_issue(pointer, ProjectIssueReason::DuplicateId { id: effect.id.clone() });
            } else {
                compiled_effects.extend(self.effect(track_id, effect, &pointer));
            }
        }
        compiled_effects
    }

    fn effect(&mut self, track_id: Option<&str>, effect: &Effect, pointer: &str) -> Option<EffectSettings> {
        if effect.effect_type != EffectType::Builtin {
            return Some(self.plugin_effect(track_id, effect, pointer));
        }
        let name = effect.name.as_deref().unwrap_or_default();
        let Some(kind) = EFFECTS.iter().find(|kind| kind.id == name) else {
            self.report_issue(pointer.into(), ProjectIssueReason::UnknownEffect { name: name.into() });
            return None;
        };
        let values = self.values(effect, kind, pointer);
        let side_chain = self.side_chain(effect, pointer);
        let impulse = effect.impulse.as_deref().and_then(|id| self.impulse(id, kind, pointer));
        Some(EffectSettings {
            id: effect.id.clone(),
            kind: kind.id.into(),
            values,
            bypass: effect.bypass,
            side_chain,
            audio_slot: impulse,
        })
    }

    /// Compiles a plugin effect, which passes its input if its output is not recorded.
    fn plugin_effect(&mut self, track_id: Option<&str>, effect: &Effect, pointer: &str) -> EffectSettings {
        let audio_slot = self.media.plugin_output(track_id, Some(&effect.id)).map(|output| output.slot);
        if audio_slot.is_none() {
            self.report_issue(pointer.into(), ProjectIssueReason::Plugin);
        }
        EffectSettings {
            id: effect.id.clone(),
            kind: RECORDED_OUTPUT.id.into(),
            values: Vec::new(),
            bypass: effect.bypass,
            side_chain: self.side_chain(effect, pointer),
            audio_slot,
        }
    }

    /// Returns the index of the track that feeds an effect's side-chain. Reports an unknown track
    /// and returns `None`.
    fn side_chain(&mut self, effect: &Effect, pointer: &str) -> Option<u32> {
        let id = effect.side_chain.as_deref()?;
        let index = self.track_index(id);
        if index.is_none() {
            let reason = ProjectIssueReason::UnknownTrack { id: id.into() };
            self.report_issue(format!("{pointer}/side_chain"), reason);
        }
        index
    }

    /// Returns the audio slot of an effect's impulse response. Reports a missing or too long file
    /// and returns `None`.
    fn impulse(&mut self, file_id: &str, kind: &EffectKind, pointer: &str) -> Option<u32> {
        let audio = self.media.audio(file_id);
        let rate_hz = self.clock.sample_rate_hz;
        let reason = match (audio, kind.impulse_max_secs) {
            (None, _) => ProjectIssueReason::MissingAudio { id: file_id.to_owned() },
            (Some(audio), Some(max_secs)) if audio.frames > kind.impulse_max_frames(rate_hz) => {
                ProjectIssueReason::LongImpulse { secs: audio.frames as f64 / f64::from(rate_hz), max_secs }
            }
            (Some(audio), _) => return Some(audio.slot),
        };
        self.report_issue(format!("{pointer}/impulse"), reason);
        None
    }

    /// Returns the values of all parameters of an effect; parameters without a value have their
    /// defaults.
    fn values(&mut self, effect: &Effect, kind: &EffectKind, pointer: &str) -> Vec<f64> {
        let mut values: Vec<f64> = kind.parameters.iter().map(|parameter| parameter.default).collect();
        for (id, value) in &effect.params {
            let reason = match kind.parameter_index(id) {
                None => Some(ProjectIssueReason::UnknownParameter { id: id.clone() }),
                Some(index) => {
                    let parameter = &kind.parameters[index];
                    match parameter_value(parameter, value) {
                        None => Some(ProjectIssueReason::InvalidValue {
                            value: excerpt(JsonText::of_value(value).view()),
                            id: id.clone(),
                            expected: expected_values(parameter),
                        }),
                        Some(value) => {
                            values[index] = parameter.clamp(value);
                            ProjectIssueReason::of_range(value, [parameter.min, parameter.max])
                        }
                    }
                }
            };
            if let Some(reason) = reason {
                self.report_issue(format!("{pointer}/params/{}", escaped(id)), reason);
            }
        }
        values
    }
}

/// Returns the number that a parameter is set to. Switches also accept true and false, and choices
/// their names. The number may be out of range. `None` for a value of the wrong type.
pub fn parameter_value(parameter: &Parameter, value: &Value) -> Option<f64> {
    match (value, parameter.scale) {
        (Value::Number(number), _) => number.as_f64(),
        (Value::Bool(is_on), Scale::Switch) => Some(if *is_on { 1.0 } else { 0.0 }),
        (Value::String(name), Scale::Choice(choices)) => {
            choices.iter().position(|choice| choice == name).map(|index| index as f64)
        }
        _ => None,
    }
}

/// Describes the values that a parameter accepts.
pub fn expected_values(parameter: &Parameter) -> String {
    match parameter.scale {
        Scale::Switch => "true, false or a number".into(),
        Scale::Choice(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            format!("a number or one of {}", names.join(", "))
        }
        Scale::Linear | Scale::Logarithmic => "a number".into(),
    }
}

/// Returns a name, escaped for a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

//! The engine's effects in a chain that processes in real time.

use std::collections::BTreeMap;

use dsp_core::effects::{EffectConfig, EffectKind};
use dsp_core::mixer::{EffectChain, EffectSlot, LiveEffect, effect_seed};
use schemas::json::JsonText;
use schemas::session::{expected_values, parameter_value};
use schemas::validate::excerpt;
use serde_json::Value;

use super::message::{Answer, shown};
use super::song_time::SongTime;

/// Maximum number of refused parameters of an effect that are told.
const REFUSED_MAX: usize = 4;

/// What random numbers of the effects depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ChainSeed {
    /// The seed of the project.
    pub(super) seed: u64,
    /// Id of the track with the chain; empty for the master.
    pub(super) track_id: String,
}

/// An effect of the engine.
pub(super) struct BuiltIn {
    kind: &'static EffectKind,
    /// The effect, as the only one of its chain.
    chain: EffectChain,
    time: SongTime,
}

impl BuiltIn {
    /// Creates an effect with every parameter at its default.
    pub(super) fn new(id: &str, kind: &'static EffectKind, time: SongTime, seed: &ChainSeed) -> Self {
        let config = EffectConfig {
            sample_rate_hz: time.sample_rate_hz,
            seed: effect_seed(seed.seed, &seed.track_id, id),
            impulse: None,
        };
        let mut chain = EffectChain::new(time.sample_rate_hz);
        chain.push(EffectSlot::new(id, kind, &config));
        Self { kind, chain, time }
    }

    pub(super) fn kind(&self) -> &'static EffectKind {
        self.kind
    }

    /// Sets all parameters, those that are not in `params` to their defaults. Returns answers for
    /// the first [`REFUSED_MAX`] that are refused.
    pub(super) fn set_all(&mut self, params: &BTreeMap<String, Value>, is_new: bool) -> Vec<Answer> {
        for parameter in self.kind.parameters.iter().filter(|parameter| !params.contains_key(parameter.id)) {
            // The default is valid.
            drop(self.set(parameter.id, &parameter.default.into(), is_new));
        }
        let refused = params.iter().filter_map(|(param, value)| self.set(param, value, is_new).err());
        refused.take(REFUSED_MAX).collect()
    }

    /// Sets a parameter: immediately in an effect that is new, otherwise with a ramp.
    ///
    /// # Errors
    /// The answer if the effect has no such parameter, or if the value has another type.
    pub(super) fn set(&mut self, param: &str, value: &Value, is_new: bool) -> Result<(), Answer> {
        let Some(index) = self.kind.parameter_index(param) else {
            let known: Vec<_> = self.kind.parameters.iter().map(|parameter| parameter.id).collect();
            let (kind, param, known) = (self.kind.id, shown(param), known.join(", "));
            let detail = format!("`{kind}` has no parameter `{param}`; it has {known}");
            return Err(Answer::error("unknown_parameter", detail));
        };
        let parameter = &self.kind.parameters[index];
        let Some(number) = parameter_value(parameter, value).filter(|number| number.is_finite()) else {
            let detail = format!(
                "`{param}` of `{}` is {}; expected {}",
                self.kind.id,
                excerpt(JsonText::of_value(value).view()),
                expected_values(parameter)
            );
            return Err(Answer::error("invalid_value", detail));
        };
        match is_new {
            true => self.chain.automate(0, index, number, 0),
            false => self.chain.set_parameter(0, index, number),
        }
        Ok(())
    }
}

impl BuiltIn {
    /// Processes a block in place.
    pub(super) fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        self.chain.process(left, right, &[]);
    }
}

impl LiveEffect for BuiltIn {
    fn latency_frames(&self) -> usize {
        self.chain.latency_frames()
    }

    fn reset(&mut self, frame: u64) {
        self.chain.reset(frame);
        self.chain.set_time(self.time.musical(frame));
    }
}

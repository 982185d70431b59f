//! Changes the chain of a stream to a requested one.

use dsp_core::mixer::{LiveChain, LiveSource};

use super::built_in::{BuiltIn, ChainSeed};
use super::chain_request::{RequestedChain, RequestedEffect, RequestedOrigin, read_effects};
use super::message::{Answer, ChainCommand};
use super::plugin::LivePlugin;
use super::plugin_request::RequestedPlugin;
use super::song_time::SongTime;
use super::stream::{Effect, Stream};

/// Sample rates of chains, in hertz.
const RATES_HZ: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// Tempi of chains, in quarter notes per minute.
const TEMPI_BPM: std::ops::RangeInclusive<f64> = 1.0..=1_000.0;

impl Stream {
    /// Changes the chain. Returns the answers.
    ///
    /// # Errors
    /// The answer if the chain as a whole is refused.
    pub(super) fn set_chain(&mut self, command: ChainCommand) -> Result<Vec<Answer>, Answer> {
        let ChainCommand { sample_rate: sample_rate_hz, seed, track_id, bpm, effects } = command;
        let seed = ChainSeed { seed, track_id };
        if !RATES_HZ.contains(&sample_rate_hz) {
            let detail = format!("`sample_rate` is {sample_rate_hz}; it must be from 8000 to 192000 Hz");
            return Err(Answer::error("invalid_command", detail));
        }
        if !TEMPI_BPM.contains(&bpm) {
            let detail = format!("`bpm` is {bpm}; it must be from 1 to 1000");
            return Err(Answer::error("invalid_command", detail));
        }
        let requested = read_effects(effects, sample_rate_hz)?;
        let RequestedChain { effects: requested_effects, left_out: mut answers, memory_bytes } = requested;
        let mut reserved_bytes = self.memory.reservation(&self.owner_id);
        reserved_bytes.grow(memory_bytes).map_err(|busy| Answer::error("busy", busy.to_string()))?;
        let time = SongTime { sample_rate_hz, bpm };
        // Effects of the engine cannot change their sample rate, tempo or seed, so all of them are
        // new then. They go on at the same frame of the song.
        let frame = self.chain.frame();
        let needs_new_effects = (time, &seed) != (self.time, &self.seed)
            || (self.chain.latencies_frames().is_empty() && !self.chain.is_changing());
        let mut plugins = std::mem::take(&mut self.opening);
        if needs_new_effects {
            let old_chain = std::mem::replace(&mut self.chain, LiveChain::new(sample_rate_hz));
            plugins.extend(old_chain.into_effects().into_iter().filter_map(|(_, effect)| match effect {
                Effect::Plugin(plugin) => Some(*plugin),
                Effect::BuiltIn(_) => None,
            }));
            (self.time, self.seed) = (time, seed);
        }
        // Plugins that are not requested again free their places for others.
        let is_requested = |plugin: &LivePlugin| {
            let is_same = |requested: &RequestedEffect| match &requested.origin {
                RequestedOrigin::Plugin(origin) => {
                    requested.id == plugin.id() && plugin.is_as_requested(origin, sample_rate_hz)
                }
                RequestedOrigin::BuiltIn { .. } => false,
            };
            requested_effects.iter().any(is_same)
        };
        plugins.retain(is_requested);
        self.running_plugins().filter(|plugin| !is_requested(plugin)).for_each(LivePlugin::leave);
        let mut sources = Vec::with_capacity(requested_effects.len());
        for (index, requested) in requested_effects.iter().enumerate() {
            let id = &requested.id;
            match &requested.origin {
                RequestedOrigin::BuiltIn { kind, params, .. } => {
                    let kept = match self.chain.effect_mut(id) {
                        Some(Effect::BuiltIn(effect)) if effect.kind().id == kind.id => Some(effect),
                        _ => None,
                    };
                    let is_new = kept.is_none();
                    let mut new_effect = None;
                    let effect = match kept {
                        Some(effect) => effect,
                        None => new_effect.insert(Box::new(BuiltIn::new(id, kind, time, &self.seed))),
                    };
                    answers.extend(effect.set_all(params, is_new));
                    sources.push(match new_effect {
                        Some(effect) => LiveSource::New(id.clone(), Effect::BuiltIn(effect)),
                        None => LiveSource::Kept(id.clone()),
                    });
                }
                RequestedOrigin::Plugin(requested) => {
                    match self.plugin_source(index, id, requested, &mut plugins, &mut answers) {
                        Ok(source) => sources.push(source),
                        Err(answer) => answers.push(answer),
                    }
                }
            }
        }
        self.chain.change(sources);
        for requested in &requested_effects {
            let is_bypassed = match &requested.origin {
                RequestedOrigin::BuiltIn { is_bypassed, .. } => *is_bypassed,
                RequestedOrigin::Plugin(plugin) => plugin.is_bypassed,
            };
            self.chain.set_bypass(&requested.id, is_bypassed);
        }
        if needs_new_effects {
            self.chain.reset(frame);
        }
        self.told_frames = self.chain.latencies_frames().iter().sum();
        self.fading_bytes = Some(std::mem::replace(&mut self.reserved_bytes, reserved_bytes));
        answers.push(self.latency());
        Ok(answers)
    }

    /// Returns the source of a requested plugin: the one of the chain, one of `plugins`, or one
    /// that starts now. Adds answers about values of a plugin that stays.
    fn plugin_source(
        &mut self,
        index: usize,
        id: &str,
        requested: &RequestedPlugin,
        plugins: &mut Vec<LivePlugin>,
        answers: &mut Vec<Answer>,
    ) -> Result<LiveSource<Effect>, Answer> {
        let sample_rate_hz = self.time.sample_rate_hz;
        if let Some(Effect::Plugin(plugin)) = self.chain.effect_mut(id)
            && plugin.is_as_requested(requested, sample_rate_hz)
        {
            answers.extend(plugin.request(requested));
            return Ok(LiveSource::Kept(id.to_owned()));
        }
        if let Some(position) = plugins.iter().position(|plugin| plugin.id() == id) {
            let mut plugin = plugins.remove(position);
            answers.extend(plugin.request(requested));
            if plugin.is_ready() {
                return Ok(LiveSource::New(id.to_owned(), Effect::Plugin(Box::new(plugin))));
            }
            self.opening.push(plugin);
            return Ok(LiveSource::Kept(id.to_owned()));
        }
        let Some(source) = &self.plugins else {
            let detail = format!("effect {index} is left out: plugins run in real time only on Linux");
            return Err(Answer::error("unsupported_effect", detail));
        };
        let count = source.count().map_err(|limit| {
            Answer::error("too_many_plugins", format!("effect {index} is left out: {limit}"))
        })?;
        // The slot passes its input until the plugin is open. An effect of this id fades out.
        self.opening.push(LivePlugin::start(id, requested, sample_rate_hz, source, count));
        self.chain.release(id);
        Ok(LiveSource::Kept(id.to_owned()))
    }
}

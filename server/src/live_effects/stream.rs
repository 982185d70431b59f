//! One stream: its chain of effects, and what the messages of its client do.

use std::time::Duration;

use dsp_core::mixer::{LIVE_BLOCK_FRAMES, LiveChain, LiveEffect, LiveSource};
use tokio::time::Instant;

use super::built_in::BuiltIn;
use super::chain_request::{RequestedChain, RequestedEffect, RequestedOrigin, read_effects};
use super::message::{Answer, ChainCommand, Command, SetParameter, shown};
use super::plugin::{BlockTime, LivePlugin};
use super::plugin_request::RequestedPlugin;
use super::plugin_thread::{PluginMessage, PluginSource};
use super::song_time::SongTime;
use super::statistics::Statistics;
use crate::fair_bytes::{FairBytes, ReservedBytes};

/// Size of a binary message in bytes: 512 values, which are 256 frames of left and right.
pub(super) const BLOCK_BYTES: usize = 4 * 2 * LIVE_BLOCK_FRAMES;

/// Sample rates of chains, in hertz.
const RATES_HZ: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// Tempi of chains, in quarter notes per minute.
const TEMPI_BPM: std::ops::RangeInclusive<f64> = 1.0..=1_000.0;

/// Longest time that a block waits for its plugins.
const PLUGIN_WAIT_MAX: Duration = Duration::from_millis(4);

/// An effect of a stream.
enum Effect {
    BuiltIn(Box<BuiltIn>),
    Plugin(Box<LivePlugin>),
}

impl LiveEffect for Effect {
    fn latency_frames(&self) -> usize {
        match self {
            Self::BuiltIn(effect) => effect.latency_frames(),
            Self::Plugin(plugin) => plugin.latency_frames(),
        }
    }

    fn reset(&mut self, frame: u64) {
        match self {
            Self::BuiltIn(effect) => effect.reset(frame),
            Self::Plugin(plugin) => plugin.reset(frame),
        }
    }
}

/// A stream of blocks. Until the first chain, blocks pass unchanged.
pub(super) struct Stream {
    chain: LiveChain<Effect>,
    /// Plugins of the chain that are not open yet.
    opening: Vec<LivePlugin>,
    /// `None` where no plugins run in real time.
    plugins: Option<PluginSource>,
    time: SongTime,
    seed: u64,
    /// The latency that the client was told last, in frames.
    told_frames: usize,
    /// Whether the client waits for the end of a flush.
    is_flushing: bool,
    client_frames: Option<u32>,
    pub(super) statistics: Statistics,
    memory: FairBytes,
    owner_id: String,
    /// Memory of the effects.
    reserved_bytes: ReservedBytes,
    /// Memory of the effects that fade out, which those of the last chain may do.
    fading_bytes: Option<ReservedBytes>,
}

/// A processed block.
pub(super) struct ProcessedBlock {
    /// Answers that follow the block.
    pub(super) answers: Vec<Answer>,
    /// Time that the block waited for plugins.
    pub(super) waited: Duration,
}

impl Stream {
    /// Starts a stream of an account at 48 kHz, whose effects share the budget `memory`.
    pub(super) fn new(memory: &FairBytes, owner_id: &str, plugins: Option<PluginSource>) -> Self {
        let time = SongTime { sample_rate_hz: 48_000, bpm: 120.0 };
        Self {
            chain: LiveChain::new(time.sample_rate_hz),
            opening: Vec::new(),
            plugins,
            time,
            seed: 0,
            told_frames: 0,
            is_flushing: false,
            client_frames: None,
            statistics: Statistics::default(),
            memory: memory.clone(),
            owner_id: owner_id.to_owned(),
            reserved_bytes: memory.reservation(owner_id),
            fading_bytes: None,
        }
    }

    /// Returns the duration of a block.
    pub(super) fn block_duration(&self) -> Duration {
        Duration::from_secs_f64(LIVE_BLOCK_FRAMES as f64 / f64::from(self.time.sample_rate_hz))
    }

    /// Returns how long a block waits for all of its plugins.
    fn plugin_wait(&self) -> Duration {
        let setting_ms = self.plugins.as_ref().map_or(0, |plugins| plugins.block_max_ms());
        match setting_ms {
            0 => PLUGIN_WAIT_MAX.min(self.block_duration() * 3 / 4),
            setting_ms => Duration::from_millis(setting_ms),
        }
    }

    /// Processes a binary message in place.
    ///
    /// # Errors
    /// The answer for a message of another size, which is not processed.
    pub(super) async fn process(&mut self, block: &mut [u8]) -> Result<ProcessedBlock, Answer> {
        if block.len() != BLOCK_BYTES {
            let detail = format!("the block has {} bytes; expected {BLOCK_BYTES}", block.len());
            return Err(Answer::error("wrong_block_size", detail));
        }
        let (mut left, mut right) = ([0.0; LIVE_BLOCK_FRAMES], [0.0; LIVE_BLOCK_FRAMES]);
        let frames = block.as_chunks_mut::<4>().0.as_chunks_mut::<2>().0;
        for (frame, (left, right)) in frames.iter().zip(left.iter_mut().zip(&mut right)) {
            [*left, *right] = frame.map(f32::from_le_bytes);
        }
        let deadline = Instant::now() + self.plugin_wait();
        let at = BlockTime { time: self.time, frame: self.chain.frame(), deadline };
        let (mut answers, mut waited) = (Vec::new(), Duration::ZERO);
        let (mut pass, _removed) = self.chain.start_block();
        while let Some(effect) = self.chain.next_effect(&mut pass, &mut left, &mut right) {
            match effect {
                Effect::BuiltIn(effect) => effect.process(&mut left, &mut right),
                Effect::Plugin(plugin) => {
                    waited += plugin.process(&mut left, &mut right, at).await;
                    answers.append(&mut plugin.take_notices());
                }
            }
        }
        if !self.chain.is_changing() {
            self.fading_bytes = None;
        }
        for (frame, (left, right)) in frames.iter_mut().zip(left.iter().zip(&right)) {
            *frame = [left.to_le_bytes(), right.to_le_bytes()];
        }
        answers.extend(self.tell_end_of_flush());
        answers.extend(self.tell_changed_latency());
        Ok(ProcessedBlock { answers, waited })
    }

    /// Processes an event of a plugin. Returns the answers.
    pub(super) fn handle(&mut self, message: PluginMessage) -> Vec<Answer> {
        let PluginMessage { thread_id, event } = message;
        let mut answers = Vec::new();
        if let Some(index) = self.opening.iter().position(|plugin| plugin.has_thread(thread_id)) {
            let plugin = &mut self.opening[index];
            plugin.handle(event);
            answers.append(&mut plugin.take_notices());
            if plugin.is_ready() {
                let plugin = self.opening.remove(index);
                let (id, is_bypassed) = (plugin.id().to_owned(), plugin.is_bypassed());
                // The chain has no place for a plugin that has left it, which then ends.
                drop(self.chain.add(&id, Effect::Plugin(Box::new(plugin))));
                self.chain.set_bypass(&id, is_bypassed);
            } else if !plugin.is_usable() {
                self.opening.remove(index);
            }
        } else if let Some(plugin) = self.running_plugins().find(|plugin| plugin.has_thread(thread_id)) {
            plugin.handle(event);
            answers.append(&mut plugin.take_notices());
        }
        answers.extend(self.tell_end_of_flush());
        answers.extend(self.tell_changed_latency());
        answers
    }

    /// Carries out a text message. Returns the answers.
    pub(super) fn obey(&mut self, text: &str) -> Vec<Answer> {
        match Command::parse(text) {
            Ok(Command::Chain(command)) => self.set_chain(command).unwrap_or_else(|answer| vec![answer]),
            Ok(Command::SetParameter(command)) => self.set_parameter(&command).err().into_iter().collect(),
            Ok(Command::Bypass(command)) => {
                let id = command.effect.id();
                let mut is_known = self.chain.set_bypass(&id, command.bypass);
                if let Some(plugin) = self.plugin_mut(&id) {
                    plugin.set_bypass(command.bypass);
                    is_known = true;
                }
                (!is_known).then(|| unknown_effect(&id)).into_iter().collect()
            }
            Ok(Command::ReportLatency(command)) => {
                self.client_frames = command.client_frames.or(self.client_frames);
                vec![self.latency()]
            }
            Ok(Command::Flush(command)) => {
                self.chain.reset(command.frame);
                self.is_flushing = true;
                [self.tell_end_of_flush(), self.tell_changed_latency()].into_iter().flatten().collect()
            }
            Ok(Command::State(command)) => {
                let id = command.effect.id();
                let is_known = self.chain.effect_mut(&id).is_some();
                let result = match self.plugin_mut(&id) {
                    Some(plugin) => plugin.request_state(),
                    None if is_known => {
                        let detail = format!("the effect `{}` is no plugin, so it has no state", shown(&id));
                        Err(Answer::error("no_state", detail))
                    }
                    None => Err(unknown_effect(&id)),
                };
                result.err().into_iter().collect()
            }
            Ok(Command::Stats) => {
                let opening = self.opening.iter().map(LivePlugin::statistics).collect::<Vec<_>>();
                let running = self.running_plugins().map(|plugin| plugin.statistics());
                let plugins = running.chain(opening).collect();
                let (statistics, client_frames) = (self.statistics.clone(), self.client_frames);
                let [p50_ms, p99_ms] = [0.5, 0.99].map(|part| statistics.quantile_ms(part));
                vec![Answer::Stats { statistics, p50_ms, p99_ms, client_frames, plugins }]
            }
            Err(answer) => vec![answer],
        }
    }

    fn set_parameter(&mut self, command: &SetParameter) -> Result<(), Answer> {
        let id = command.effect.id();
        if let Some(plugin) = self.plugin_mut(&id) {
            return plugin.set(&command.param, &command.value);
        }
        match self.chain.effect_mut(&id) {
            Some(Effect::BuiltIn(effect)) => effect.set(&command.param, &command.value, false),
            _ => Err(unknown_effect(&id)),
        }
    }

    fn set_chain(&mut self, command: ChainCommand) -> Result<Vec<Answer>, Answer> {
        let ChainCommand { sample_rate: sample_rate_hz, seed, bpm, effects } = command;
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
        let needs_new_effects = (time, seed) != (self.time, self.seed)
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
                        None => new_effect.insert(Box::new(BuiltIn::new(id, kind, time, seed))),
                    };
                    answers.extend(effect.set_all(params, is_new));
                    sources.push(match new_effect {
                        Some(effect) => LiveSource::New(id.clone(), Effect::BuiltIn(effect)),
                        None => LiveSource::Kept(id.clone()),
                    });
                }
                RequestedOrigin::Plugin(requested) => {
                    match self.plugin_source(index, id, requested, &mut plugins) {
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
    /// that starts now.
    fn plugin_source(
        &mut self,
        index: usize,
        id: &str,
        requested: &RequestedPlugin,
        plugins: &mut Vec<LivePlugin>,
    ) -> Result<LiveSource<Effect>, Answer> {
        let sample_rate_hz = self.time.sample_rate_hz;
        if let Some(Effect::Plugin(plugin)) = self.chain.effect_mut(id)
            && plugin.is_as_requested(requested, sample_rate_hz)
        {
            plugin.request(requested);
            return Ok(LiveSource::Kept(id.to_owned()));
        }
        if let Some(position) = plugins.iter().position(|plugin| plugin.id() == id) {
            let mut plugin = plugins.remove(position);
            plugin.request(requested);
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

    /// Returns the plugins of the chain.
    fn running_plugins(&mut self) -> impl Iterator<Item = &mut LivePlugin> {
        self.chain.effects_mut().filter_map(|effect| match effect {
            Effect::Plugin(plugin) => Some(&mut **plugin),
            Effect::BuiltIn(_) => None,
        })
    }

    /// Returns the plugin of an effect, also one that is not open yet.
    fn plugin_mut(&mut self, id: &str) -> Option<&mut LivePlugin> {
        if let Some(index) = self.opening.iter().position(|plugin| plugin.id() == id) {
            return self.opening.get_mut(index);
        }
        match self.chain.effect_mut(id) {
            Some(Effect::Plugin(plugin)) => Some(plugin),
            _ => None,
        }
    }

    fn latency(&self) -> Answer {
        let latencies = self.chain.latencies_frames();
        Answer::Latency { total: latencies.iter().sum(), latencies }
    }

    /// Returns the latency if the client was told another one.
    fn tell_changed_latency(&mut self) -> Option<Answer> {
        let total: usize = self.chain.latencies_frames().iter().sum();
        (std::mem::replace(&mut self.told_frames, total) != total).then(|| self.latency())
    }

    /// Returns the answer to a flush when all plugins are reset.
    fn tell_end_of_flush(&mut self) -> Option<Answer> {
        let has_ended = self.is_flushing && !self.running_plugins().any(|plugin| plugin.is_resetting());
        self.is_flushing &= !has_ended;
        has_ended.then_some(Answer::FlushDone)
    }
}

fn unknown_effect(id: &str) -> Answer {
    Answer::error("unknown_effect", format!("the chain has no effect with the id `{}`", shown(id)))
}

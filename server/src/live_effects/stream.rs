//! One stream: its chain of effects, and what the messages of its client do.

use std::time::Duration;

use dsp_core::mixer::{LIVE_BLOCK_FRAMES, LiveChain, LiveEffect};
use tokio::time::Instant;

use super::built_in::{BuiltIn, ChainSeed};
use super::message::{Answer, Command, MidiCommand, SetParameter, shown};
use super::plugin::{BlockTime, LivePlugin};
use super::plugin_thread::{PluginMessage, PluginSource};
use super::song_time::SongTime;
use super::statistics::Statistics;
use crate::fair_bytes::{FairBytes, ReservedBytes};

/// Size of a binary message in bytes: 512 values, which are 256 frames of left and right.
pub(super) const BLOCK_BYTES: usize = 4 * 2 * LIVE_BLOCK_FRAMES;

/// Longest time that a block waits for its plugins.
const PLUGIN_WAIT_MAX: Duration = Duration::from_millis(4);

/// An effect of a stream.
pub(super) enum Effect {
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
    pub(super) chain: LiveChain<Effect>,
    /// Plugins of the chain that are not open yet.
    pub(super) opening: Vec<LivePlugin>,
    /// `None` where no plugins run in real time.
    pub(super) plugins: Option<PluginSource>,
    pub(super) time: SongTime,
    pub(super) seed: ChainSeed,
    /// The latency that the client was told last, in frames.
    pub(super) told_frames: usize,
    /// Whether the client waits for the end of a flush.
    is_flushing: bool,
    client_frames: Option<u32>,
    pub(super) statistics: Statistics,
    pub(super) memory: FairBytes,
    pub(super) owner_id: String,
    /// Memory of the effects.
    pub(super) reserved_bytes: ReservedBytes,
    /// Memory of the effects that fade out, which those of the last chain may do.
    pub(super) fading_bytes: Option<ReservedBytes>,
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
            seed: ChainSeed::default(),
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
            Ok(Command::Midi(command)) => vec![self.play(&command).unwrap_or_else(|answer| answer)],
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

    /// Passes MIDI events to a plugin. Returns the answer.
    fn play(&mut self, command: &MidiCommand) -> Result<Answer, Answer> {
        let events = command.events()?;
        let id = match &command.effect {
            Some(name) => name.id(),
            None => {
                let instrument = self.running_plugins().find(|plugin| plugin.plays_notes());
                instrument.map(|plugin| plugin.id().to_owned()).ok_or_else(|| {
                    Answer::error("no_instrument", "no plugin of the chain is open and receives notes")
                })?
            }
        };
        let frame = self.chain.frame();
        let is_known = self.chain.effect_mut(&id).is_some();
        let (waiting, queue_frames) = match self.plugin_mut(&id) {
            Some(plugin) => plugin.play(frame, &events)?,
            None if is_known => {
                let detail = format!("the effect `{}` is no plugin, so it plays no notes", shown(&id));
                return Err(Answer::error("no_notes", detail));
            }
            None => return Err(unknown_effect(&id)),
        };
        let latency = self.chain.latency_from_frames(&id);
        Ok(Answer::MidiQueued { effect: id, waiting, queue_frames, latency })
    }

    /// Returns the plugins of the chain.
    pub(super) fn running_plugins(&mut self) -> impl Iterator<Item = &mut LivePlugin> {
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

    pub(super) fn latency(&self) -> Answer {
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

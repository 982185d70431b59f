//! One stream: its chain of effects, and what the messages of its client do.

use std::time::Duration;

use dsp_core::mixer::{LIVE_BLOCK_FRAMES, LiveChain, LiveSource};

use super::built_in::{BuiltIn, SongTime};
use super::chain_request::{RequestedChain, read_effects};
use super::message::{Answer, ChainCommand, Command};
use super::statistics::Statistics;
use crate::fair_bytes::{FairBytes, ReservedBytes};

/// Size of a binary message in bytes: 512 values, which are 256 frames of left and right.
pub(super) const BLOCK_BYTES: usize = 4 * 2 * LIVE_BLOCK_FRAMES;

/// Sample rates of chains, in hertz.
const RATES_HZ: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// Tempi of chains, in quarter notes per minute.
const TEMPI_BPM: std::ops::RangeInclusive<f64> = 1.0..=1_000.0;

/// A stream of blocks. Until the first chain, blocks pass unchanged.
pub(super) struct Stream {
    chain: LiveChain<BuiltIn>,
    time: SongTime,
    seed: u64,
    /// The latency that the client was told last, in frames.
    told_frames: usize,
    client_frames: Option<u32>,
    pub(super) statistics: Statistics,
    memory: FairBytes,
    owner_id: String,
    /// Memory of the effects.
    reserved_bytes: ReservedBytes,
    /// Memory of the effects that fade out, which those of the last chain may do.
    fading_bytes: Option<ReservedBytes>,
}

impl Stream {
    /// Starts a stream of an account at 48 kHz, whose effects share the budget `memory`.
    pub(super) fn new(memory: &FairBytes, owner_id: &str) -> Self {
        let time = SongTime { sample_rate_hz: 48_000, bpm: 120.0 };
        Self {
            chain: LiveChain::new(time.sample_rate_hz),
            time,
            seed: 0,
            told_frames: 0,
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

    /// Processes a binary message in place. Returns the new latency if it has changed.
    ///
    /// # Errors
    /// The answer for a message of another size, which is not processed.
    pub(super) fn process(&mut self, block: &mut [u8]) -> Result<Option<Answer>, Answer> {
        if block.len() != BLOCK_BYTES {
            let detail = format!("the block has {} bytes; expected {BLOCK_BYTES}", block.len());
            return Err(Answer::error("wrong_block_size", detail));
        }
        let (mut left, mut right) = ([0.0; LIVE_BLOCK_FRAMES], [0.0; LIVE_BLOCK_FRAMES]);
        let frames = block.as_chunks_mut::<4>().0.as_chunks_mut::<2>().0;
        for (frame, (left, right)) in frames.iter().zip(left.iter_mut().zip(&mut right)) {
            [*left, *right] = frame.map(f32::from_le_bytes);
        }
        self.chain.process(&mut left, &mut right);
        if !self.chain.is_changing() {
            self.fading_bytes = None;
        }
        for (frame, (left, right)) in frames.iter_mut().zip(left.iter().zip(&right)) {
            *frame = [left.to_le_bytes(), right.to_le_bytes()];
        }
        Ok(self.tell_changed_latency())
    }

    /// Carries out a text message. Returns the answers.
    pub(super) fn obey(&mut self, text: &str) -> Vec<Answer> {
        match Command::parse(text) {
            Ok(Command::Chain(command)) => self.set_chain(command).unwrap_or_else(|answer| vec![answer]),
            Ok(Command::SetParameter(command)) => {
                let id = command.effect.id();
                let result = match self.chain.effect_mut(&id) {
                    Some(effect) => effect.set(&command.param, &command.value, false),
                    None => Err(unknown_effect(&id)),
                };
                result.err().into_iter().collect()
            }
            Ok(Command::Bypass(command)) => {
                let id = command.effect.id();
                let is_known = self.chain.set_bypass(&id, command.bypass);
                (!is_known).then(|| unknown_effect(&id)).into_iter().collect()
            }
            Ok(Command::ReportLatency(command)) => {
                self.client_frames = command.client_frames.or(self.client_frames);
                vec![self.latency()]
            }
            Ok(Command::Flush(command)) => {
                self.chain.reset(command.frame);
                [Some(Answer::FlushDone), self.tell_changed_latency()].into_iter().flatten().collect()
            }
            Ok(Command::Stats) => {
                vec![Answer::Stats { statistics: self.statistics, client_frames: self.client_frames }]
            }
            Err(answer) => vec![answer],
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
        // Effects cannot change their sample rate, tempo or seed, so all of them are new then. They
        // go on at the same frame of the song.
        let frame = self.chain.frame();
        let needs_new_effects = (time, seed) != (self.time, self.seed)
            || (self.chain.latencies_frames().is_empty() && !self.chain.is_changing());
        if needs_new_effects {
            self.chain = LiveChain::new(sample_rate_hz);
            (self.time, self.seed) = (time, seed);
        }
        let mut sources = Vec::with_capacity(requested_effects.len());
        for requested in &requested_effects {
            let kept =
                self.chain.effect_mut(&requested.id).filter(|effect| effect.kind().id == requested.kind.id);
            let is_new = kept.is_none();
            let mut new_effect = None;
            let effect = match kept {
                Some(effect) => effect,
                None => new_effect.insert(BuiltIn::new(&requested.id, requested.kind, time, seed)),
            };
            answers.extend(effect.set_all(&requested.params, is_new));
            sources.push(match new_effect {
                Some(effect) => LiveSource::New(requested.id.clone(), effect),
                None => LiveSource::Kept(requested.id.clone()),
            });
        }
        self.chain.change(sources);
        for requested in &requested_effects {
            self.chain.set_bypass(&requested.id, requested.is_bypassed);
        }
        if needs_new_effects {
            self.chain.reset(frame);
        }
        self.told_frames = self.chain.latencies_frames().iter().sum();
        self.fading_bytes = Some(std::mem::replace(&mut self.reserved_bytes, reserved_bytes));
        answers.push(self.latency());
        Ok(answers)
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
}

fn unknown_effect(id: &str) -> Answer {
    Answer::error("unknown_effect", format!("the chain has no effect with the id `{id}`"))
}

//! A plugin in a chain that processes in real time. Its process may be late, crash or hang: then
//! its input passes, and the process is started again with the last settings.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dsp_core::mixer::{LIVE_BLOCK_FRAMES, LiveEffect};
use serde_json::Value;
use songfoundry_bridge_protocol::host::{EventKind, PARAMETERS_MAX, ParameterValue, TEXT_BYTES_MAX};
use songfoundry_bridge_protocol::live::{
    LIVE_BLOCKS, LIVE_CHANGES_MAX, LIVE_CHANNELS, LiveAudio, LiveControl,
};
use tokio::time::Instant;

use super::incident::Incident;
use super::message::{Answer, shown};
use super::midi_queue::{MidiQueue, QUEUE_MAX};
use super::open_plugins::OpenPlugin;
use super::plugin_mix::{PluginMix, PluginRole};
use super::plugin_request::RequestedPlugin;
use super::plugin_thread::{
    OpenedPlugin, PluginEnd, PluginEvent, PluginRequest, PluginSource, PluginStart, PluginThread,
};
use super::song_time::SongTime;
use super::statistics::PluginStatistics;
use super::time_histogram::TimeHistogram;
use crate::metrics::OpenLivePlugin;

/// A process that has answered no block for this long, and for twice the time limit of a block, is
/// ended.
const SILENCE_MAX: Duration = Duration::from_millis(500);

/// Maximum number of starts after failures without [`STABLE_SECS`] of sound between them.
const RESTARTS_MAX: u32 = 5;
const STABLE_SECS: u64 = 10;

/// Longest latency in seconds, as in the helper.
const LATENCY_MAX_SECS: u32 = 10;

/// Maximum number of keys of parameters that a message names.
const LISTED_MAX: usize = 4;

/// A plugin of a chain.
pub(super) struct LivePlugin {
    id: String,
    requested: RequestedPlugin,
    source: PluginSource,
    sample_rate_hz: u32,
    /// The state with which the plugin starts again.
    state: Option<Vec<u8>>,
    /// Values that were set since, by the ids of parameters; by ids or names before the plugin is
    /// open.
    values: BTreeMap<String, f64>,
    thread: Option<PluginThread>,
    running: Option<Running>,
    mix: PluginMix,
    latency_frames: usize,
    /// Answers for the client.
    notices: Vec<Answer>,
    /// Number of starts after failures since the plugin was last stable.
    restarts_in_row: u32,
    /// Frames of sound since the last incident of each kind, which end it.
    late_incident: Incident,
    non_finite_incident: Incident,
    statistics: PluginStatistics,
    round_trips: TimeHistogram,
    metrics: OpenLivePlugin,
    /// `None` for a plugin that does not count any more.
    count: Option<OpenPlugin>,
}

/// An open process.
struct Running {
    opened: OpenedPlugin,
    /// Changes of parameters that were not sent yet.
    changes: BTreeMap<u32, f64>,
    midi: MidiQueue,
    is_resetting: bool,
    is_reading_state: bool,
    /// Number of states that the plugin has not taken over yet. Values wait for them.
    new_states: u32,
    /// The last state that the plugin has taken over.
    accepted_state: Option<Vec<u8>>,
    /// Number of the last answered block, and since when it has not changed although a block waits.
    answered_number: u32,
    silent_since: Option<Instant>,
    /// Frames that were processed; 0 for a process that needs no reset.
    frames: u64,
}

/// When a block is due, and its position in the song.
#[derive(Clone, Copy)]
pub(super) struct BlockTime {
    pub(super) time: SongTime,
    pub(super) frame: u64,
    pub(super) deadline: Instant,
}

impl LivePlugin {
    /// Starts a plugin, which can enter the chain when it is open.
    pub(super) fn start(
        id: &str,
        requested: &RequestedPlugin,
        sample_rate_hz: u32,
        source: &PluginSource,
        count: OpenPlugin,
    ) -> Self {
        let mut plugin = Self {
            id: id.to_owned(),
            requested: requested.clone(),
            source: source.clone(),
            sample_rate_hz,
            state: requested.state.clone(),
            values: requested.values.clone(),
            thread: None,
            running: None,
            mix: PluginMix::new(PluginRole::Effect, sample_rate_hz, 0),
            latency_frames: 0,
            notices: Vec::new(),
            restarts_in_row: 0,
            late_incident: Incident::default(),
            non_finite_incident: Incident::default(),
            statistics: PluginStatistics { effect: id.to_owned(), ..PluginStatistics::default() },
            round_trips: TimeHistogram::default(),
            metrics: source.state.metrics.open_live_plugin(),
            count: Some(count),
        };
        plugin.start_thread();
        plugin
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn is_bypassed(&self) -> bool {
        self.requested.is_bypassed
    }

    pub(super) fn set_bypass(&mut self, is_bypassed: bool) {
        self.requested.is_bypassed = is_bypassed;
    }

    /// Frees the place of the plugin for another one. The plugin is leaving the chain: it is
    /// audible for 10 ms more.
    pub(super) fn leave(&mut self) {
        self.count = None;
    }

    /// Whether the plugin can enter the chain.
    pub(super) fn is_ready(&self) -> bool {
        self.running.is_some()
    }

    /// Whether the plugin is open, or is being opened.
    pub(super) fn is_usable(&self) -> bool {
        self.thread.is_some()
    }

    /// Sets the state, the values and the bypass of a chain that requests this plugin. All notes end.
    /// Returns the answer if the plugin does not have all of the parameters.
    pub(super) fn request(&mut self, requested: &RequestedPlugin) -> Option<Answer> {
        self.requested.is_bypassed = requested.is_bypassed;
        if let Some(running) = &mut self.running {
            running.midi.release_all();
        }
        if self.requested.state != requested.state {
            self.take_over(requested);
        }
        let is_refused =
            |(key, value): &(&String, &f64)| self.set(key.as_str(), &Value::from(**value)).is_err();
        let refused: Vec<_> = requested.values.iter().filter(is_refused).map(|(key, _)| key).collect();
        (!refused.is_empty()).then(|| unknown_parameters(refused.into_iter()))
    }

    /// Whether this plugin can stay when a chain requests one, with other values and bypass. An open
    /// plugin can also take over another state.
    pub(super) fn is_as_requested(&self, requested: &RequestedPlugin, sample_rate_hz: u32) -> bool {
        let is_same = self.requested.plugin_id == requested.plugin_id
            && self.requested.format == requested.format
            && (self.requested.state == requested.state
                || (self.running.is_some() && requested.state.is_some()));
        is_same && self.sample_rate_hz == sample_rate_hz && self.thread.is_some()
    }

    /// Sends the state of a chain to the open plugin. Values that were set before do not apply to it.
    fn take_over(&mut self, requested: &RequestedPlugin) {
        let (Some(running), Some(thread), Some(state)) = (&mut self.running, &self.thread, &requested.state)
        else {
            return;
        };
        thread.send(PluginRequest::SetState(state.clone()));
        if running.new_states == 0 {
            running.accepted_state = self.state.take();
        }
        running.new_states += 1;
        running.changes.clear();
        self.values.clear();
        self.state = Some(state.clone());
        self.requested.state = Some(state.clone());
    }

    /// Whether this thread is the one of the plugin.
    pub(super) fn has_thread(&self, thread_id: u64) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.id == thread_id)
    }

    /// Whether a reset is in progress.
    pub(super) fn is_resetting(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.is_resetting)
    }

    pub(super) fn take_notices(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.notices)
    }

    pub(super) fn statistics(&self) -> PluginStatistics {
        PluginStatistics {
            is_ready: self.running.is_some(),
            waiting_blocks: self.running.as_ref().map_or(0, |running| running.opened.link.waiting()),
            round_trip_p50_ms: self.round_trips.quantile_ms(0.5),
            round_trip_p99_ms: self.round_trips.quantile_ms(0.99),
            ..self.statistics.clone()
        }
    }

    /// Sets a parameter to a normalized value.
    ///
    /// # Errors
    /// The answer if the plugin has no such parameter, or if the value is out of range.
    pub(super) fn set(&mut self, param: &str, value: &Value) -> Result<(), Answer> {
        let Some(number) = value.as_f64().filter(|number| (0.0..=1.0).contains(number)) else {
            let detail = format!("`{}` must be a number from 0 to 1, as all values of plugins", shown(param));
            return Err(Answer::error("invalid_value", detail));
        };
        if self.thread.is_none() {
            let detail = format!("the plugin of the effect `{}` cannot be used", shown(&self.id));
            return Err(Answer::error("plugin_failed", detail));
        }
        let Some(running) = &mut self.running else {
            // The plugin sets the values that it has when it is open.
            let is_known = self.values.contains_key(param);
            if param.len() > TEXT_BYTES_MAX || (!is_known && self.values.len() >= PARAMETERS_MAX) {
                let detail = format!("the plugin can have no parameter `{}`", shown(param));
                return Err(Answer::error("unknown_parameter", detail));
            }
            self.values.insert(param.to_owned(), number);
            return Ok(());
        };
        let Some(id) = running.opened.parameter_ids.find(param) else {
            let detail = format!("the plugin has no parameter `{}`, or several", shown(param));
            return Err(Answer::error("unknown_parameter", detail));
        };
        running.changes.insert(id, number);
        self.values.insert(id.to_string(), number);
        Ok(())
    }

    /// Whether the plugin is open and receives notes, and stays in the chain.
    pub(super) fn plays_notes(&self) -> bool {
        self.count.is_some() && self.running.as_ref().is_some_and(|running| running.opened.accepts_notes)
    }

    /// Adds MIDI events at offsets from `frame`, the first frame of the next block. Returns the
    /// number of events that wait, and the frames until the last of them.
    ///
    /// # Errors
    /// The answer if the plugin is not open, receives no notes, or has too many waiting events.
    pub(super) fn play(&mut self, frame: u64, events: &[(u32, EventKind)]) -> Result<(usize, u64), Answer> {
        let id = shown(&self.id);
        let Some(running) = &mut self.running else {
            let detail = format!("the plugin of the effect `{id}` is not open, so it plays nothing");
            return Err(Answer::error("plugin_not_ready", detail));
        };
        if !running.opened.accepts_notes {
            let detail = format!("the plugin of the effect `{id}` receives no notes");
            return Err(Answer::error("no_notes", detail));
        }
        running.midi.push(frame, events).map_err(|count| {
            let detail = format!(
                "{count} events would wait for the effect `{id}`; at most {QUEUE_MAX} may; all of them are left out, \
                 and all notes end"
            );
            Answer::error("too_many_events", detail)
        })?;
        Ok((running.midi.len(), running.midi.wait_frames(frame)))
    }

    /// Requests the state.
    ///
    /// # Errors
    /// The answer if the plugin is not open, or if its state is being read already.
    pub(super) fn request_state(&mut self) -> Result<(), Answer> {
        let (Some(running), Some(thread)) = (&mut self.running, &self.thread) else {
            let detail = format!("the plugin of the effect `{}` is not open", shown(&self.id));
            return Err(Answer::error("plugin_not_ready", detail));
        };
        if std::mem::replace(&mut running.is_reading_state, true) {
            let detail = format!("the state of the effect `{}` is being read already", shown(&self.id));
            return Err(Answer::error("busy", detail));
        }
        thread.send(PluginRequest::State);
        Ok(())
    }

    /// Processes an event of the thread of this plugin.
    pub(super) fn handle(&mut self, event: PluginEvent) {
        match event {
            PluginEvent::Opened(opened) => self.open(*opened),
            PluginEvent::Reset => {
                if let Some(running) = &mut self.running {
                    (running.is_resetting, running.frames, running.silent_since) = (false, 0, None);
                }
            }
            PluginEvent::State(state) => {
                if let Some(running) = &mut self.running {
                    (running.is_reading_state, running.silent_since) = (false, None);
                }
                self.notices.push(match state {
                    Ok(state) => {
                        let text = BASE64_STANDARD.encode(&state);
                        self.state = Some(state);
                        Answer::State { effect: self.id.clone(), state: text }
                    }
                    Err(reason) => Answer::error("no_state", format!("the plugin has no state: {reason}")),
                });
            }
            PluginEvent::StateSet(set_state) => {
                let Some(running) = &mut self.running else { return };
                running.new_states = running.new_states.saturating_sub(1);
                running.silent_since = None;
                let refused = set_state.map(|state| running.accepted_state = Some(state)).err();
                if let Some(reason) = refused {
                    if running.new_states == 0 {
                        self.state = running.accepted_state.take();
                    }
                    let id = shown(&self.id);
                    let detail = format!("the plugin of the effect `{id}` refuses the state: {reason}");
                    self.notices.push(Answer::error("bad_state", detail));
                }
            }
            PluginEvent::Ended(end) => self.fail(end),
        }
    }

    fn open(&mut self, opened: OpenedPlugin) {
        let values = self.values.iter().filter_map(|(key, value)| {
            opened.parameter_ids.find(key).map(|id| (id, key.parse() == Ok(id), *value))
        });
        // A value by the id of a parameter replaces one by its name.
        let mut values: Vec<_> = values.collect();
        values.sort_by_key(|(id, is_by_id, _)| (*id, *is_by_id));
        self.values = values.iter().map(|(id, _, value)| (id.to_string(), *value)).collect();
        // Values that were set while the plugin opened are set again.
        let changes = values.into_iter().map(|(id, _, value)| (id, value)).collect();
        self.set_latency(opened.latency_frames);
        match self.statistics.restarts {
            0 => self.mix = PluginMix::new(opened.role, self.sample_rate_hz, self.latency_frames),
            _ => self.mix.restart(),
        }
        let (name, latency) = (opened.name.clone(), self.latency_frames);
        if !opened.unknown_values.is_empty() {
            self.notices.push(unknown_parameters(opened.unknown_values.iter()));
        }
        self.running = Some(Running {
            opened,
            changes,
            midi: MidiQueue::default(),
            is_resetting: false,
            is_reading_state: false,
            new_states: 0,
            accepted_state: None,
            answered_number: 0,
            silent_since: None,
            frames: 0,
        });
        self.notices.push(Answer::PluginReady { effect: self.id.clone(), name, latency });
    }

    /// Ends the process. Starts it again unless that is useless.
    fn fail(&mut self, end: PluginEnd) {
        let was_running = self.running.take().is_some() || self.statistics.restarts > 0;
        self.thread = None;
        let PluginEnd { code, mut detail, may_restart } = end;
        let restarting = may_restart && was_running && self.restarts_in_row < RESTARTS_MAX;
        if restarting {
            self.restarts_in_row += 1;
            self.statistics.restarts += 1;
            self.metrics.count_restart();
            self.start_thread();
        } else if may_restart && was_running {
            detail.push_str(&format!("; it is not started again after {RESTARTS_MAX} failures in a row"));
        }
        if !restarting {
            self.count = None;
        }
        self.notices.push(Answer::PluginFailed { effect: self.id.clone(), code, detail, restarting });
    }

    fn start_thread(&mut self) {
        self.thread = Some(self.source.start(PluginStart {
            format: self.requested.format,
            plugin_id: self.requested.plugin_id.clone(),
            sample_rate_hz: self.sample_rate_hz,
            state: self.state.clone(),
            values: self.values.iter().map(|(key, value)| (key.clone(), *value)).collect(),
        }));
    }

    fn set_latency(&mut self, latency_frames: u32) {
        self.latency_frames = latency_frames.min(LATENCY_MAX_SECS * self.sample_rate_hz) as usize;
        self.mix.set_latency(self.latency_frames);
    }

    /// Processes a block in place. Returns how long it waited for the plugin.
    pub(super) async fn process(&mut self, left: &mut [f32], right: &mut [f32], at: BlockTime) -> Duration {
        // A value that is not a number would stay in the plugin for ever.
        let values = left.iter_mut().chain(&mut *right);
        values.filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
        let mut audio: LiveAudio = [[0.0; LIVE_BLOCK_FRAMES]; LIVE_CHANNELS];
        if let PluginMix::Effect(_) = self.mix {
            audio[0].copy_from_slice(left);
            audio[1].copy_from_slice(right);
        }
        let sent_at = Instant::now();
        let is_answered = self.exchange(&mut audio, sent_at, at).await;
        let output = is_answered.then_some([&audio[0][..], &audio[1]]);
        self.mix.process(left, right, output);
        sent_at.elapsed()
    }

    /// Replaces a block by the output of the plugin. Returns false if there is none in time.
    async fn exchange(&mut self, audio: &mut LiveAudio, sent_at: Instant, at: BlockTime) -> bool {
        let Some(running) = self.running.as_mut().filter(|running| !running.is_resetting) else {
            return false;
        };
        let Running { opened: OpenedPlugin { link, .. }, changes, midi, new_states, .. } = running;
        // A process that is behind catches up meanwhile. It takes no time of other plugins, and if
        // it is far behind, it does not get this block.
        let behind_blocks = link.waiting();
        let deadline = if behind_blocks == 0 { at.deadline } else { sent_at };
        let mut answer = None;
        if behind_blocks < LIVE_BLOCKS {
            let mut sent = Vec::with_capacity(changes.len().min(LIVE_CHANGES_MAX));
            while *new_states == 0
                && sent.len() < LIVE_CHANGES_MAX
                && let Some((id, value)) = changes.pop_first()
            {
                sent.push(ParameterValue { id, value });
            }
            let transport = at.time.transport(at.frame);
            let control = LiveControl { transport, changes: sent, events: midi.take(at.frame) };
            link.post(&control, audio);
            answer = link.answer(deadline, audio).await;
        }
        // A helper replaces samples that are not numbers, but is not trusted to do so.
        let is_finite = audio.as_flattened().iter().fold(true, |finite, sample| finite & sample.is_finite());
        let answer = answer.filter(|_| is_finite);
        let answered_number = link.answered_number();
        if std::mem::replace(&mut running.answered_number, answered_number) != answered_number {
            running.silent_since = None;
        }
        running.frames += LIVE_BLOCK_FRAMES as u64;
        let round_trip = answer.map(|_| sent_at.elapsed());
        self.metrics.count_block(round_trip);
        self.statistics.blocks += 1;
        if let (Some(answer), Some(round_trip)) = (answer, round_trip) {
            self.round_trips.count(round_trip);
            if running.frames > STABLE_SECS * u64::from(self.sample_rate_hz) {
                self.restarts_in_row = 0;
            }
            self.late_incident.count(false, self.sample_rate_hz);
            self.count_non_finite(answer.non_finite_samples);
            if answer.latency_frames as usize != self.latency_frames {
                self.set_latency(answer.latency_frames);
            }
            return true;
        }
        self.statistics.late_blocks += 1;
        self.miss(sent_at, at);
        false
    }

    /// Tells the client that a block is late. Ends a process that has been silent for long.
    fn miss(&mut self, sent_at: Instant, at: BlockTime) {
        let Some(running) = &mut self.running else { return };
        let is_new = self.late_incident.count(true, self.sample_rate_hz);
        let silent_since = *running.silent_since.get_or_insert(sent_at);
        let silence_max = SILENCE_MAX.max(2 * at.deadline.saturating_duration_since(sent_at));
        // A process that reads or takes over a state has a time limit for that.
        let is_busy = running.is_reading_state || running.new_states > 0;
        let is_silent = silent_since.elapsed() > silence_max && !is_busy;
        if is_new {
            let detail = "the plugin did not answer in time; its input passes meanwhile".to_owned();
            self.notices.push(Answer::PluginLate { effect: self.id.clone(), detail });
            // A process that has died is noticed at once.
            if let Some(thread) = &self.thread {
                thread.send(PluginRequest::Check);
            }
        }
        if is_silent {
            let detail = format!("the plugin has answered no block for {} ms", silence_max.as_millis());
            self.fail(PluginEnd { code: "plugin_silent", detail, may_restart: true });
        }
    }

    fn count_non_finite(&mut self, samples: u32) {
        if self.non_finite_incident.count(samples > 0, self.sample_rate_hz) {
            let detail = format!(
                "the plugin of the effect `{}` put out samples that are not numbers; they are replaced by 0",
                shown(&self.id)
            );
            self.notices.push(Answer::error("plugin_not_a_number", detail));
        }
    }
}

impl LiveEffect for LivePlugin {
    fn latency_frames(&self) -> usize {
        self.latency_frames
    }

    /// Starts a reset. Until it has ended, the input passes. All notes end, also those that wait.
    fn reset(&mut self, _frame: u64) {
        self.mix.clear();
        if let Some(running) = &mut self.running {
            running.midi.release_all();
        }
        if let (Some(running), Some(thread)) = (&mut self.running, &self.thread)
            && running.frames > 0
            && !std::mem::replace(&mut running.is_resetting, true)
        {
            thread.send(PluginRequest::Reset);
        }
    }
}

/// Returns the answer for parameters that a plugin does not have.
fn unknown_parameters<'a>(keys: impl ExactSizeIterator<Item = &'a String>) -> Answer {
    let others = if keys.len() > LISTED_MAX { ", and others" } else { "" };
    let listed: Vec<_> = keys.take(LISTED_MAX).map(|key| shown(key)).collect();
    Answer::error("unknown_parameter", format!("the plugin has no parameter {}{others}", listed.join(", ")))
}

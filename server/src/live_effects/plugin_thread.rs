//! The thread of a plugin in a chain: opens the plugin in a process, and carries out what may take
//! long. Blocks do not pass this thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use songfoundry_bridge_protocol::PluginFormat;
use songfoundry_bridge_protocol::host::{Bus, Event, Opened, Process, Transport};
use songfoundry_bridge_protocol::live::{LIVE_CHANNELS, LIVE_FRAMES};
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedSender;

use super::open_plugins::OpenPlugin;
use super::parameter_ids::ParameterIds;
use super::plugin_mix::PluginRole;
use super::priority;
use crate::auth::CurrentUser;
use crate::error::ApiError;
use crate::plugin_hosts::{HostError, LiveLink, OpenOptions, PluginHost, PluginRef};
use crate::rendering::RenderError;
use crate::rendering::plugin_track::{PluginFault, PluginSetup, StartState, UnknownParameters};
use crate::state::AppState;

/// Interval of the checks whether the process still runs.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Maximum length of a state that a stream sends, in bytes. Its message is a third longer.
const STATE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Starts the plugins of one stream.
#[derive(Debug, Clone)]
pub(super) struct PluginSource {
    pub(super) state: AppState,
    pub(super) user: Arc<CurrentUser>,
    events: UnboundedSender<PluginMessage>,
    last_thread_id: Arc<AtomicU64>,
}

/// An event of a thread. The number of events is limited by that of the requests.
#[derive(Debug)]
pub(super) struct PluginMessage {
    pub(super) thread_id: u64,
    pub(super) event: PluginEvent,
}

#[derive(Debug)]
pub(super) enum PluginEvent {
    /// The plugin is open and has its settings.
    Opened(Box<OpenedPlugin>),
    /// The state, or the reason why there is none.
    State(Result<Vec<u8>, String>),
    /// The state of the request, which the plugin has now, or the reason why it refuses it.
    StateSet(Result<Vec<u8>, String>),
    /// The plugin is reset.
    Reset,
    /// The plugin cannot be used any more. The thread has ended.
    Ended(PluginEnd),
}

/// An open plugin.
#[derive(Debug)]
pub(super) struct OpenedPlugin {
    pub(super) link: LiveLink,
    pub(super) name: String,
    pub(super) role: PluginRole,
    /// Whether the plugin receives notes.
    pub(super) accepts_notes: bool,
    pub(super) parameter_ids: ParameterIds,
    /// Latency in frames after the settings were set.
    pub(super) latency_frames: u32,
    /// Keys of values that the plugin does not have.
    pub(super) unknown_values: Vec<String>,
}

/// The reason why a plugin cannot be used any more.
#[derive(Debug, Clone)]
pub(super) struct PluginEnd {
    pub(super) code: &'static str,
    pub(super) detail: String,
    /// Whether another start may succeed.
    pub(super) may_restart: bool,
}

/// A plugin to open, with its settings.
#[derive(Debug)]
pub(super) struct PluginStart {
    pub(super) format: PluginFormat,
    pub(super) plugin_id: String,
    pub(super) sample_rate_hz: u32,
    pub(super) state: Option<Vec<u8>>,
    /// Normalized values by the ids or names of the parameters.
    pub(super) values: Vec<(String, f64)>,
}

#[derive(Debug)]
pub(super) enum PluginRequest {
    State,
    SetState(Vec<u8>),
    Reset,
    /// Checks at once whether the process still runs.
    Check,
}

/// A running thread. Dropping this value ends the process of the plugin, without waiting.
#[derive(Debug)]
pub(super) struct PluginThread {
    pub(super) id: u64,
    requests: mpsc::Sender<PluginRequest>,
    is_cancelled: Arc<AtomicBool>,
}

impl PluginThread {
    pub(super) fn send(&self, request: PluginRequest) {
        // A thread that has ended has sent its reason.
        drop(self.requests.send(request));
    }
}

impl Drop for PluginThread {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl PluginSource {
    pub(super) fn new(
        state: AppState,
        user: Arc<CurrentUser>,
        events: UnboundedSender<PluginMessage>,
    ) -> Self {
        Self { state, user, events, last_thread_id: Arc::default() }
    }

    /// Counts a further plugin of the user.
    ///
    /// # Errors
    /// A text with the limit, if there are too many.
    pub(super) fn count(&self) -> Result<OpenPlugin, String> {
        self.state.live_effects.open_plugins.open(&self.user.id, &self.state.config.plugins)
    }

    /// Returns `SF_LIVE_PLUGIN_BLOCK_MAX_MS`.
    pub(super) fn block_max_ms(&self) -> u64 {
        self.state.config.plugins.live_block_max_ms
    }

    /// Starts a thread, whose first event is [`PluginEvent::Opened`] or [`PluginEvent::Ended`].
    pub(super) fn start(&self, start: PluginStart) -> PluginThread {
        let id = self.last_thread_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, requests) = mpsc::channel();
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let thread = PluginThread { id, requests: sender, is_cancelled: Arc::clone(&is_cancelled) };
        let (source, runtime) = (self.clone(), Handle::current());
        let process = self.state.live_effects.open_plugins.start_process(&self.user.id);
        let work = move || {
            priority::lower_this_thread();
            let send = |event| drop(source.events.send(PluginMessage { thread_id: id, event }));
            let ended = source.host(start, &runtime, &requests, &is_cancelled, &send);
            // The process has ended.
            drop(process);
            if let Err(end) = ended {
                send(PluginEvent::Ended(end));
            }
        };
        if let Err(error) = std::thread::Builder::new().name("live-plugin".to_owned()).spawn(work) {
            let event = PluginEvent::Ended(PluginEnd::from(HostError::from(error)));
            drop(self.events.send(PluginMessage { thread_id: id, event }));
        }
        thread
    }

    /// Opens a plugin and carries out requests until the thread's value is dropped.
    fn host(
        &self,
        start: PluginStart,
        runtime: &Handle,
        requests: &mpsc::Receiver<PluginRequest>,
        is_cancelled: &AtomicBool,
        send: &dyn Fn(PluginEvent),
    ) -> Result<(), PluginEnd> {
        let _entered = runtime.enter();
        let PluginStart { format, plugin_id, sample_rate_hz, state, values } = start;
        let plugin = runtime.block_on(self.find(&plugin_id, format))?;
        let is_cancelled = || is_cancelled.load(Ordering::Relaxed);
        if is_cancelled() {
            return Err(HostError::Cancelled.into());
        }
        let options = OpenOptions {
            sample_rate_hz,
            block_frames_max: LIVE_FRAMES as u32,
            is_real_time: true,
            can_show_window: false,
            is_cancelled: &is_cancelled,
        };
        let mut host = PluginHost::open(&self.state.plugin_hosts, &plugin, options)?;
        let role = role_of(host.opened())?;
        let setup = PluginSetup {
            start: state.map_or(StartState::New, StartState::State),
            values,
            unknown_parameters: UnknownParameters::Ignore,
            ..PluginSetup::default()
        };
        let refused = |error: RenderError| match error {
            RenderError::Plugin(error) => PluginEnd::from(error),
            other => PluginEnd::final_one("plugin_refused", other.to_string()),
        };
        setup.load_start(&mut host).map_err(refused)?;
        let mut faults = Vec::new();
        let events = setup.value_changes(host.opened(), &mut faults).map_err(refused)?;
        let latency_frames = set_values(&mut host, events)?;
        let unknown_values = faults.into_iter().flat_map(|fault| match fault {
            PluginFault::UnknownValues(keys) => keys,
            _ => Vec::new(),
        });
        let parameter_ids = ParameterIds::new(&host.opened().parameters);
        let (name, link) = (host.opened().name.clone(), host.share_blocks()?);
        let unknown_values = unknown_values.collect();
        let accepts_notes = host.opened().accepts_notes;
        let opened =
            OpenedPlugin { link, name, role, accepts_notes, parameter_ids, latency_frames, unknown_values };
        send(PluginEvent::Opened(Box::new(opened)));
        loop {
            match requests.recv_timeout(CHECK_INTERVAL) {
                Ok(PluginRequest::State) => send(PluginEvent::State(state_of(&mut host)?)),
                Ok(PluginRequest::SetState(state)) => {
                    let is_set = match host.set_state(&state) {
                        Ok(_) => Ok(state),
                        Err(HostError::Refused { reason }) => Err(reason),
                        Err(error) => return Err(error.into()),
                    };
                    send(PluginEvent::StateSet(is_set));
                }
                Ok(PluginRequest::Reset) => {
                    host.reset()?;
                    send(PluginEvent::Reset);
                }
                Ok(PluginRequest::Check) | Err(RecvTimeoutError::Timeout) => {
                    if let Some(error) = host.take_end() {
                        return Err(error.into());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Returns the plugin with this id and format that the user may use.
    async fn find(&self, plugin_id: &str, format: PluginFormat) -> Result<PluginRef, PluginEnd> {
        let refused = |error: ApiError| PluginEnd::final_one(error.code(), error.to_string());
        let found = self.state.plugins.find(&self.user, plugin_id).await.map_err(refused)?;
        let plugin = PluginRef::from(found);
        if plugin.format != format {
            let detail = format!("the plugin {plugin_id} is of another format than the `type` of the effect");
            return Err(PluginEnd::final_one("wrong_format", detail));
        }
        self.state.plugin_hosts.check_format(format).await?;
        Ok(plugin)
    }
}

/// Returns what a plugin does in a chain: one without an audio input that receives notes is an
/// instrument.
fn role_of(opened: &Opened) -> Result<PluginRole, PluginEnd> {
    let has_main = |buses: &[Bus]| buses.iter().any(|bus| bus.is_main);
    match (has_main(&opened.inputs), has_main(&opened.outputs)) {
        (true, true) => Ok(PluginRole::Effect),
        (false, true) if opened.accepts_notes => Ok(PluginRole::Instrument),
        (has_input, has_output) => {
            let missing = match (has_input, has_output) {
                (_, false) => "has no audio output",
                _ => "has no audio input and receives no notes",
            };
            let detail = format!("the plugin {:?} {missing}", opened.name);
            Err(PluginEnd::final_one("not_an_effect", detail))
        }
    }
}

/// Sets values while the plugin processes a block of silence. Returns the latency in frames.
fn set_values(host: &mut PluginHost<'_>, events: Vec<Event>) -> Result<u32, HostError> {
    let transport = Transport { is_playing: false, ..Transport::default() };
    let process = Process {
        frames: LIVE_FRAMES as u32,
        output_channels: LIVE_CHANNELS as u16,
        transport,
        events,
        ..Process::default()
    };
    Ok(host.process(process, &[])?.processed.latency_frames)
}

/// Returns the state, or a reason for which the plugin may go on.
fn state_of(host: &mut PluginHost<'_>) -> Result<Result<Vec<u8>, String>, HostError> {
    match host.state() {
        Ok(state) if state.len() > STATE_MAX_BYTES => {
            let bytes = state.len();
            Ok(Err(format!("the state has {bytes} bytes; at most {STATE_MAX_BYTES} are sent")))
        }
        Ok(state) => Ok(Ok(state)),
        Err(HostError::Refused { reason }) => Ok(Err(reason)),
        Err(error) => Err(error),
    }
}

impl PluginEnd {
    fn final_one(code: &'static str, detail: String) -> Self {
        Self { code, detail, may_restart: false }
    }
}

impl From<HostError> for PluginEnd {
    fn from(error: HostError) -> Self {
        let code = match &error {
            HostError::NotStarted { .. } | HostError::UnsupportedFormat(_) => "plugin_host_unavailable",
            HostError::Refused { .. } => "plugin_refused",
            HostError::Crashed { .. } => "plugin_crashed",
            HostError::Ended { .. } => "plugin_ended",
            HostError::Late { .. } => "plugin_timeout",
            HostError::InvalidAnswer { .. } => "plugin_answer_invalid",
            HostError::EndedByAdministrator | HostError::Cancelled => "cancelled",
            HostError::Io(_) => "plugin_host_failed",
        };
        let may_restart =
            error.is_death() || matches!(error, HostError::Late { .. } | HostError::InvalidAnswer { .. });
        Self { code, detail: error.to_string(), may_restart }
    }
}

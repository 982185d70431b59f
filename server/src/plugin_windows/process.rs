//! The thread of a window: opens the plugin and its window in a process of the helper, reads its
//! state, and ends it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::host::{Process, Transport};
use tokio::sync::oneshot;

use super::command::Command;
use super::open_windows::{Window, WindowServer};
use super::plugin_state;
use crate::error::{ApiError, ApiResult};
use crate::plugin_hosts::{HostError, OpenOptions, PluginHost, PluginRef};
use crate::rendering::plugin_track::PluginSetup;
use crate::state::AppState;

/// Sample rate and block size of the plugin. Nobody hears it.
const SAMPLE_RATE_HZ: u32 = 48_000;
const BLOCK_FRAMES: u32 = 512;

/// Interval between checks whether the process runs.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Why a window has ended that a client or the service closed.
const CLOSED: &str = "it was closed";

/// Opens a window on a thread of its own, which runs until the window ends.
///
/// # Errors
/// The plugin fails, refuses the setup, or has no window.
pub(super) async fn start(
    state: AppState,
    window: Arc<Window>,
    plugin: PluginRef,
    setup: PluginSetup,
    commands: Receiver<Command>,
) -> ApiResult<()> {
    let (sender, opened) = oneshot::channel();
    let idle_state = state.clone();
    let idle_window = Arc::clone(&window);
    let thread = std::thread::Builder::new().name("plugin-window".to_owned());
    let entry = Entry { state, window, reason: "its thread could not be started".to_owned() };
    thread.spawn(move || {
        // The thread drops the entry when it ends, also after a panic.
        let mut entry = entry;
        entry.reason = "its thread failed".to_owned();
        entry.reason = run(&entry.state, &entry.window, &plugin, &setup, &commands, sender);
    })?;
    tokio::spawn(close_when_unused(idle_state, idle_window));
    opened.await.map_err(ApiError::internal)?
}

/// The entry of a window among those that are open. Dropping it removes the window.
struct Entry {
    state: AppState,
    window: Arc<Window>,
    /// Why the window has ended, as a sentence without a capital and a full stop.
    reason: String,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.state.plugin_windows.remove(&self.window, std::mem::take(&mut self.reason));
    }
}

/// Ends windows without clients as long as `window` is open.
async fn close_when_unused(state: AppState, window: Arc<Window>) {
    let interval = state.plugin_windows.idle_max() / 4;
    while tokio::time::timeout(interval, window.ended.cancelled()).await.is_err() {
        state.plugin_windows.close_unused(Instant::now());
    }
}

/// Opens the window and serves it. Returns why it has ended, as a sentence without a capital and a
/// full stop.
fn run(
    state: &AppState,
    window: &Window,
    plugin: &PluginRef,
    setup: &PluginSetup,
    commands: &Receiver<Command>,
    opened: oneshot::Sender<ApiResult<()>>,
) -> String {
    let is_cancelled = || window.stop.is_cancelled() || state.stop.is_cancelled();
    let (mut host, server) = match open(state, plugin, setup, &is_cancelled) {
        Ok(opened) => opened,
        Err(error) => {
            let reason = format!("it could not be opened ({error})");
            // A caller who has gone needs no answer.
            let _ = opened.send(Err(error));
            return reason;
        }
    };
    let _ = window.server.set(server);
    let _ = opened.send(Ok(()));
    while !is_cancelled() {
        match commands.recv_timeout(CHECK_INTERVAL) {
            // A caller who has gone needs no answer.
            Ok(Command::ReadState { reply, .. }) if reply.is_closed() => {}
            Ok(Command::ReadState { recipient, reply }) => {
                let read = host.state();
                let failure = read.as_ref().err().and_then(reason_of_end);
                let read = read.map_err(ApiError::from);
                let _ = reply.send(read.and_then(|state| plugin_state::answer(&recipient, &state)));
                if let Some(reason) = failure {
                    return reason;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(reason) = host.end_reason().as_ref().and_then(reason_of_end) {
            return reason;
        }
    }
    host.close();
    CLOSED.to_owned()
}

/// Returns why a window ends after an error of its plugin; `None` if it does not end.
fn reason_of_end(error: &HostError) -> Option<String> {
    match error {
        HostError::Refused { .. } => None,
        // The helper ends without an error when a client has closed the window.
        HostError::Ended { status } if status.ends_with(" 0") => Some(CLOSED.to_owned()),
        HostError::Cancelled => Some(CLOSED.to_owned()),
        error => Some(error.to_string()),
    }
}

fn open<'a>(
    state: &'a AppState,
    plugin: &PluginRef,
    setup: &PluginSetup,
    is_cancelled: &'a dyn Fn() -> bool,
) -> ApiResult<(PluginHost<'a>, WindowServer)> {
    let options = OpenOptions {
        sample_rate_hz: SAMPLE_RATE_HZ,
        block_frames_max: BLOCK_FRAMES,
        is_real_time: false,
        can_show_window: true,
        is_cancelled,
    };
    let mut host = PluginHost::open(&state.plugin_hosts, plugin, options)?;
    if !host.opened().has_editor {
        let detail = format!("{} has no window of its own.", host.opened().name);
        return Err(ApiError::Unprocessable { code: "plugin_has_no_window", detail });
    }
    setup.load_start(&mut host)?;
    let events = setup.value_changes(host.opened(), &mut Vec::new())?;
    let transport = Transport { is_playing: false, ..Transport::default() };
    // Some plugins apply values only when they process.
    host.process(
        Process { frames: BLOCK_FRAMES, output_channels: 2, transport, events, ..Process::default() },
        &[],
    )?;
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(ApiError::internal)?;
    let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let window = host.open_window(secret.clone())?;
    Ok((host, WindowServer { window, secret }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_windows::open_windows::{Reserved, Subject};
    use crate::test_app::TestApp;

    #[tokio::test]
    async fn a_failed_thread_gives_its_place_back() {
        let app = TestApp::start().await;
        let subject = Subject { plugin_id: "p".to_owned(), track_id: None, effect_id: None };
        let reserved = app.state.plugin_windows.reserve("ada", subject, std::sync::mpsc::sync_channel(1).0);
        let Ok(Reserved::New(window)) = reserved else { panic!("not new") };
        let entry =
            Entry { state: app.state.clone(), window: window.clone(), reason: "it failed".to_owned() };
        let thread = std::thread::spawn(move || {
            let _entry = entry;
            std::panic::resume_unwind(Box::new("a failure"));
        });
        assert!(thread.join().is_err() && window.ended.is_cancelled());
        let error = app.state.plugin_windows.find("ada", &window.id).map(|_| ()).expect_err("ended");
        assert!(error.to_string().contains("it failed"), "{error}");
    }

    #[test]
    fn the_first_error_of_a_plugin_is_the_reason() {
        let reason = |error| reason_of_end(&error);
        assert_eq!(reason(HostError::Refused { reason: "no state".to_owned() }), None);
        let late = reason(HostError::Late { limit_secs: 30 }).expect("the helper has ended");
        assert!(late.contains("within 30 seconds"), "{late}");
        let ended = |status: &str| reason(HostError::Ended { status: status.to_owned() });
        assert_eq!(ended("exit status: 0").as_deref(), Some(CLOSED));
        assert!(ended("exit status: 10").expect("a reason").contains("ended its own process"));
        assert_eq!(reason(HostError::Cancelled).as_deref(), Some(CLOSED));
    }
}

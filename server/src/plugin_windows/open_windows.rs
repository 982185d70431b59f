//! The open windows of this process: their limits, and the window of a request.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::host::WindowOpened;
use songfoundry_bridge_protocol::window::X_SERVER;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::command::Command;
use crate::config::PluginsConfig;
use crate::error::{ApiError, ApiResult};

/// Number of ended windows whose reason is remembered.
const ENDED_MAX: usize = 256;

/// The open windows, and their limits.
#[derive(Debug)]
pub struct PluginWindows {
    windows_max: usize,
    windows_per_user: usize,
    idle_max: Duration,
    x_server: PathBuf,
    windows: Mutex<Windows>,
}

#[derive(Debug, Default)]
struct Windows {
    /// Windows that open or are open, by their ids.
    open: HashMap<String, Arc<Window>>,
    /// Windows that have ended, the oldest first: id, owner and reason.
    ended: VecDeque<(String, String, String)>,
}

/// The plugin of a song to which a window belongs. A user has one window for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) plugin_id: String,
    pub(super) track_id: Option<String>,
    pub(super) effect_id: Option<String>,
}

/// A window that opens or is open.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) id: String,
    pub(super) owner_id: String,
    subject: Subject,
    /// The server of the window; unset while it opens.
    pub(super) server: OnceLock<WindowServer>,
    pub(super) commands: SyncSender<Command>,
    /// Cancelled to end the window.
    pub(super) stop: CancellationToken,
    /// Cancelled when the window has ended.
    pub(super) ended: CancellationToken,
    clients: AtomicUsize,
    last_used: Mutex<Instant>,
}

/// The server of a window, on the loopback interface.
#[derive(Debug)]
pub(super) struct WindowServer {
    pub(super) window: WindowOpened,
    pub(super) secret: String,
}

/// The result of a reservation.
pub(super) enum Reserved {
    /// The window is new, and must be opened.
    New(Arc<Window>),
    /// The subject has this window already.
    Existing(Arc<Window>),
}

impl PluginWindows {
    /// Returns the limits of the settings, and no window.
    #[must_use]
    pub fn new(config: &PluginsConfig) -> Self {
        Self {
            windows_max: config.windows_max as usize,
            windows_per_user: config.windows_per_user as usize,
            idle_max: Duration::from_secs(config.window_idle_secs),
            x_server: PathBuf::from(X_SERVER),
            windows: Mutex::default(),
        }
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the X server is installed.
    pub(super) fn check_x_server(&self) -> ApiResult<()> {
        check_x_server(&self.x_server)
    }

    /// Time without a client after which a window is closed.
    pub(super) fn idle_max(&self) -> Duration {
        self.idle_max
    }

    /// Counts a new window of a user, or returns the one that the subject has.
    pub(super) fn reserve(
        &self,
        owner_id: &str,
        subject: Subject,
        commands: SyncSender<Command>,
    ) -> ApiResult<Reserved> {
        let mut windows = self.windows();
        let of_owner = || windows.open.values().filter(|window| window.owner_id == owner_id);
        if let Some(window) = of_owner().find(|window| window.subject == subject) {
            if window.server.get().is_none() || window.stop.is_cancelled() {
                let detail = "The window of this plugin is being opened or closed; try again in a moment.";
                return Err(ApiError::Conflict { code: "window_busy", detail: detail.to_owned() });
            }
            window.touch();
            return Ok(Reserved::Existing(Arc::clone(window)));
        }
        let refused = |detail| ApiError::Conflict { code: "too_many_windows", detail };
        if of_owner().count() >= self.windows_per_user {
            return Err(refused(format!(
                "You have {} open windows of plugins, which is the maximum (SF_PLUGIN_WINDOWS_PER_USER). Close one \
                 of them.",
                self.windows_per_user
            )));
        }
        if windows.open.len() >= self.windows_max {
            return Err(refused(format!(
                "The service shows {} windows of plugins, which is the maximum (SF_PLUGIN_WINDOWS_MAX). Try again \
                 later.",
                self.windows_max
            )));
        }
        let window = Arc::new(Window {
            id: Uuid::new_v4().to_string(),
            owner_id: owner_id.to_owned(),
            subject,
            server: OnceLock::new(),
            commands,
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            clients: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
        });
        windows.open.insert(window.id.clone(), Arc::clone(&window));
        Ok(Reserved::New(window))
    }

    /// Returns an open window of a user.
    ///
    /// # Errors
    /// 404 `no_such_window`, with the reason if the window has ended.
    pub(super) fn find(&self, owner_id: &str, id: &str) -> ApiResult<Arc<Window>> {
        let windows = self.windows();
        let found = windows.open.get(id).filter(|window| window.owner_id == owner_id);
        if let Some(window) = found.filter(|window| window.server.get().is_some()) {
            window.touch();
            return Ok(Arc::clone(window));
        }
        let mut ended = windows.ended.iter();
        let detail = match ended.find(|(ended_id, owner, _)| ended_id == id && owner == owner_id) {
            Some((_, _, reason)) => format!("The window has ended: {reason}."),
            None => {
                "You have no window of a plugin with this id in this process of the service. Other processes \
                     know it only if the one that opened it has an SF_NODE_ADDRESS."
                    .to_owned()
            }
        };
        Err(ApiError::NotFound { code: "no_such_window", detail })
    }

    /// Whether this process shows a window, or has shown it.
    pub(super) fn knows(&self, id: &str) -> bool {
        let windows = self.windows();
        windows.open.contains_key(id) || windows.ended.iter().any(|(ended_id, ..)| ended_id == id)
    }

    /// Removes a window that has ended. `reason` is a sentence without a capital and a full stop.
    pub(super) fn remove(&self, window: &Window, reason: String) {
        let mut windows = self.windows();
        windows.open.remove(&window.id);
        if windows.ended.len() >= ENDED_MAX {
            windows.ended.pop_front();
        }
        windows.ended.push_back((window.id.clone(), window.owner_id.clone(), reason));
        drop(windows);
        window.ended.cancel();
    }

    /// Ends the windows that have had no client for the permitted time.
    pub(super) fn close_unused(&self, now: Instant) {
        for window in self.windows().open.values() {
            if window.server.get().is_some() && window.is_unused_since(now, self.idle_max) {
                window.stop.cancel();
            }
        }
    }
}

fn check_x_server(path: &Path) -> ApiResult<()> {
    match path.exists() {
        true => Ok(()),
        false => Err(ApiError::NotImplemented {
            code: "x_server_missing",
            detail: format!(
                "Windows of plugins need the X server {}, which is missing. It is part of Debian's package xvfb; an \
                 administrator can install it.",
                path.display()
            ),
        }),
    }
}

impl Window {
    fn last_used(&self) -> MutexGuard<'_, Instant> {
        self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        *self.last_used() = Instant::now();
    }

    fn is_unused_since(&self, now: Instant, idle_max: Duration) -> bool {
        self.clients.load(Ordering::Relaxed) == 0
            && now.saturating_duration_since(*self.last_used()) >= idle_max
    }

    /// Counts a client until the result is dropped.
    pub(super) fn add_client(self: &Arc<Self>) -> Client {
        self.clients.fetch_add(1, Ordering::Relaxed);
        Client(Arc::clone(self))
    }
}

/// A client that gets pictures of a window.
pub(super) struct Client(Arc<Window>);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.touch();
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(windows_max: usize, windows_per_user: usize) -> PluginWindows {
        let (idle_max, x_server) = (Duration::from_secs(60), PathBuf::from(X_SERVER));
        PluginWindows { windows_max, windows_per_user, idle_max, x_server, windows: Mutex::default() }
    }

    fn reserve(windows: &PluginWindows, owner: &str, effect: &str) -> ApiResult<Reserved> {
        let effect_id = Some(effect.to_owned());
        let subject = Subject { plugin_id: "p".to_owned(), track_id: None, effect_id };
        windows.reserve(owner, subject, std::sync::mpsc::sync_channel(1).0)
    }

    fn opened(windows: &PluginWindows, owner: &str, effect: &str) -> Arc<Window> {
        let Ok(Reserved::New(window)) = reserve(windows, owner, effect) else { panic!("not new") };
        let opened = WindowOpened { port: 1, width: 2, height: 3 };
        window.server.set(WindowServer { window: opened, secret: String::new() }).expect("unset");
        window
    }

    fn code(result: ApiResult<Reserved>) -> String {
        match result {
            Err(ApiError::Conflict { code, detail }) => format!("{code}: {detail}"),
            _ => "no conflict".to_owned(),
        }
    }

    #[test]
    fn windows_are_limited_for_each_user_and_in_all() {
        let windows = windows(3, 2);
        let first = opened(&windows, "ada", "1");
        opened(&windows, "ada", "2");
        assert!(code(reserve(&windows, "ada", "3")).contains("You have 2 open windows"));
        opened(&windows, "bob", "1");
        assert!(code(reserve(&windows, "eve", "1")).contains("The service shows 3 windows"));
        assert!(
            matches!(reserve(&windows, "ada", "1"), Ok(Reserved::Existing(window)) if window.id == first.id)
        );
        windows.remove(&first, "the plugin crashed (SIGSEGV)".to_owned());
        assert!(first.ended.is_cancelled());
        assert!(matches!(reserve(&windows, "eve", "1"), Ok(Reserved::New(_))));
        assert!(code(reserve(&windows, "eve", "1")).starts_with("window_busy"));
    }

    #[test]
    fn only_the_owner_finds_a_window_and_the_reason_of_its_end() {
        let windows = windows(3, 2);
        let window = opened(&windows, "ada", "1");
        let find = |owner| windows.find(owner, &window.id).map_err(|error| error.to_string());
        assert!(find("ada").is_ok());
        assert!(find("bob").expect_err("hidden").contains("no window"));
        windows.remove(&window, "the plugin crashed (SIGSEGV)".to_owned());
        assert!(find("ada").expect_err("ended").contains("crashed"));
        assert!(!find("bob").expect_err("hidden").contains("crashed"));
    }

    #[test]
    fn windows_without_a_client_are_closed_after_a_time() {
        let windows = windows(3, 3);
        let (unused, used) = (opened(&windows, "ada", "1"), opened(&windows, "ada", "2"));
        let client = used.add_client();
        let now = Instant::now();
        windows.close_unused(now);
        assert!(!unused.stop.is_cancelled());
        windows.close_unused(now + Duration::from_secs(61));
        assert!(unused.stop.is_cancelled() && !used.stop.is_cancelled());
        drop(client);
        windows.close_unused(Instant::now() + Duration::from_secs(61));
        assert!(used.stop.is_cancelled());
    }

    #[test]
    fn a_missing_x_server_is_named_with_its_package() {
        let error = check_x_server(Path::new("/nowhere/Xvfb")).expect_err("missing");
        assert!(
            matches!(&error, ApiError::NotImplemented { code: "x_server_missing", detail } if detail.contains("xvfb"))
        );
    }
}

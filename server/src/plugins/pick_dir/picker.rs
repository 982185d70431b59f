//! Showing a folder dialog: one at a time, and not for ever.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use super::dialogs::{Answer, Dialog, of_system};
use crate::config::PluginsConfig;
use crate::error::{ApiError, ApiResult};
use crate::helper_processes::{Helpers, Registered};

/// How often it is asked whether somebody wants the dialog to end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Most bytes that are read from a dialog.
const OUTPUT_MAX_BYTES: u64 = 64 * 1024;

/// What shows folder dialogs on this machine.
#[derive(Debug)]
pub(crate) struct Picker {
    /// The program of `SF_DIALOG_BRIDGE`.
    bridge: Option<PathBuf>,
    /// The dialogs of the system, the first to try first.
    of_system: &'static [Dialog],
    /// Folders in which their programs are looked for.
    search: OsString,
    /// Whether the environment names a display.
    has_display: bool,
    longest: Duration,
    helpers: Helpers,
    /// Only one dialog is open at a time.
    turn: Semaphore,
}

impl Picker {
    /// As the settings and the environment of this process say.
    pub(crate) fn new(config: &PluginsConfig, helpers: &Helpers) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            bridge: config.dialog_bridge.clone(),
            of_system: of_system(std::env::consts::OS),
            search: std::env::var_os("PATH").unwrap_or_default(),
            has_display: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
            longest: Duration::from_secs(config.dialog_max_secs),
            helpers: helpers.clone(),
            turn: Semaphore::new(1),
        }
    }

    /// Lets the person at this machine choose a folder; `None` if they cancel.
    ///
    /// # Errors
    /// 409 while another dialog is open; 501 where none can be shown; 502 when those that are there
    /// fail; 504 when nobody answers.
    pub(super) async fn pick(&self) -> ApiResult<Option<PathBuf>> {
        let Ok(_turn) = self.turn.try_acquire() else {
            return Err(ApiError::Conflict {
                code: "dialog_open",
                detail: "A folder dialog is open already; answer that one first.".to_owned(),
            });
        };
        let mut failures = Vec::new();
        for (dialog, program) in self.dialogs() {
            let answer = tokio::time::timeout(self.longest, self.show(dialog, &program));
            match answer.await.map_err(|_| self.nobody_answered())? {
                Answer::Chosen(path) => return Ok(Some(path)),
                Answer::Cancelled => return Ok(None),
                Answer::Failed(reason) => {
                    tracing::warn!(program = %program.display(), reason, "a folder dialog could not be shown");
                    failures.push(format!("{}: {reason}", dialog.program()));
                }
            }
        }
        Err(self.no_dialog(&failures))
    }

    /// The dialogs whose programs are there, the first to try first.
    fn dialogs(&self) -> Vec<(Dialog, PathBuf)> {
        let bridge = self.bridge.iter().map(|program| (Dialog::Bridge, program.clone()));
        let of_system = self.of_system.iter().filter(|dialog| self.has_display || !dialog.needs_display());
        let found = |dialog: &Dialog| Some((*dialog, program_in(&self.search, dialog.program())?));
        bridge.chain(of_system.filter_map(found)).collect()
    }

    async fn show(&self, dialog: Dialog, program: &Path) -> Answer {
        match self.run(dialog, program).await {
            Ok(Some(output)) => {
                let answer = tokio::task::spawn_blocking(move || dialog.answer(&output)).await;
                answer.unwrap_or_else(|error| Answer::Failed(error.to_string()))
            }
            Ok(None) => Answer::Cancelled,
            Err(error) => Answer::Failed(error.to_string()),
        }
    }

    /// What a program says until it ends; `None` if somebody ends it.
    async fn run(&self, dialog: Dialog, program: &Path) -> std::io::Result<Option<Output>> {
        let home = dirs::home_dir().unwrap_or_else(|| PathBuf::from("/"));
        let mut command = Command::new(program);
        command
            .args(dialog.arguments(&home))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Nothing of the service's settings, least of all its secrets.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SF_")) {
            command.env_remove(name);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut open = Open::start(command, &self.helpers)?;
        let (mut printed, mut complaint) = (Vec::new(), Vec::new());
        let out = open.child.stdout.take().map(|out| out.take(OUTPUT_MAX_BYTES));
        let err = open.child.stderr.take().map(|err| err.take(OUTPUT_MAX_BYTES));
        let (Some(mut out), Some(mut err)) = (out, err) else { return Ok(None) };
        let reading =
            async { tokio::try_join!(out.read_to_end(&mut printed), err.read_to_end(&mut complaint)) };
        tokio::select! {
            read = reading => drop(read?),
            () = open.is_to_end() => return Ok(None),
        }
        let status = open.child.wait().await?;
        Ok(Some(Output { status, stdout: printed, stderr: complaint }))
    }

    fn nobody_answered(&self) -> ApiError {
        let secs = self.longest.as_secs();
        ApiError::GatewayTimeout {
            code: "dialog_timeout",
            detail: format!(
                "Nobody chose a folder within {secs} seconds (SF_DIALOG_MAX_SECS); the dialog is closed."
            ),
        }
    }

    fn no_dialog(&self, failures: &[String]) -> ApiError {
        if !failures.is_empty() {
            let detail = format!("No folder dialog could be shown: {}.", failures.join("; "));
            return ApiError::BadGateway { code: "dialog_failed", detail };
        }
        if !self.has_display && self.of_system.iter().all(|dialog| dialog.needs_display()) {
            return ApiError::NotImplemented {
                code: "no_display",
                detail: "The service has no display to show a dialog on (neither DISPLAY nor WAYLAND_DISPLAY is set); \
                         type the folder's path."
                    .to_owned(),
            };
        }
        let programs: Vec<&str> = self.of_system.iter().map(|dialog| dialog.program()).collect();
        let programs = programs.join(" or ");
        ApiError::NotImplemented {
            code: "no_dialog",
            detail: format!(
                "There is no program to show a dialog with: install {programs}, or type the folder's path."
            ),
        }
    }
}

/// An open dialog. Dropped, it is closed, with everything that its program has started.
struct Open {
    child: Child,
    registered: Registered,
}

impl Open {
    fn start(mut command: Command, helpers: &Helpers) -> std::io::Result<Self> {
        let child = command.spawn()?;
        let registered = helpers.register("folder dialog", child.id().unwrap_or_default());
        Ok(Self { child, registered })
    }

    async fn is_to_end(&self) {
        while !self.registered.is_to_end() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // Without a number it has ended, and was waited for.
        #[cfg(unix)]
        if let Some(pid) = self.child.id() {
            let group = nix::unistd::Pid::from_raw(pid.cast_signed());
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// The program of this name in the first of these folders that has it.
fn program_in(search: &OsString, name: &str) -> Option<PathBuf> {
    std::env::split_paths(search)
        .map(|dir| dir.join(name))
        .find(|path| path.is_absolute() && is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, target_os = "linux"))]
#[path = "picker_tests.rs"]
mod tests;

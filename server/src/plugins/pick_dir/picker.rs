//! Shows folder dialogs, one at a time and with a timeout.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use super::dialogs::{Answer, Dialog, system_dialogs};
use crate::config::PluginsConfig;
use crate::error::{ApiError, ApiResult};
use crate::helper_processes::{HelperRegistration, Helpers};

/// Interval between checks whether a user has requested the end of the dialog.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of bytes that are read from each output of a dialog.
const OUTPUT_MAX_BYTES: u64 = 64 * 1024;

/// Shows folder dialogs on this machine.
#[derive(Debug)]
pub(crate) struct Picker {
    /// The program of `SF_DIALOG_BRIDGE`.
    bridge: Option<PathBuf>,
    /// Dialogs of this system, in the order of preference.
    system_dialogs: &'static [Dialog],
    /// Folders in which the dialogs' programs are searched, in the format of `PATH`.
    search_path: OsString,
    /// Whether the environment names a display.
    has_display: bool,
    timeout: Duration,
    helpers: Helpers,
    /// Permit for showing a dialog. Only one dialog may be open at a time.
    permit: Semaphore,
}

impl Picker {
    /// Reads the settings and the environment of this process.
    pub(crate) fn new(config: &PluginsConfig, helpers: &Helpers) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            bridge: config.dialog_bridge.clone(),
            system_dialogs: system_dialogs(std::env::consts::OS),
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            has_display: is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
            timeout: Duration::from_secs(config.dialog_max_secs),
            helpers: helpers.clone(),
            permit: Semaphore::new(1),
        }
    }

    /// Shows a folder dialog and waits for the choice. Returns `None` if the user cancels.
    ///
    /// # Errors
    /// 409 if another dialog is open; 501 if no dialog can be shown; 502 if all dialogs fail; 504
    /// after the timeout.
    pub(super) async fn pick(&self) -> ApiResult<Option<PathBuf>> {
        let Ok(_permit) = self.permit.try_acquire() else {
            return Err(ApiError::Conflict {
                code: "dialog_open",
                detail: "A folder dialog is already open; choose a folder in it or close it first."
                    .to_owned(),
            });
        };
        let mut failures = Vec::new();
        for (dialog, program) in self.available_dialogs() {
            let answer = tokio::time::timeout(self.timeout, self.show(dialog, &program));
            match answer.await.map_err(|_| self.timeout_error())? {
                Answer::Chosen(path) => return Ok(Some(path)),
                Answer::Cancelled => return Ok(None),
                Answer::Failed(reason) => {
                    tracing::warn!(program = %program.display(), reason, "cannot show a folder dialog");
                    failures.push(format!("{}: {reason}", dialog.program()));
                }
            }
        }
        Err(self.no_dialog_error(&failures))
    }

    /// Returns the dialogs whose programs exist, in the order of preference.
    fn available_dialogs(&self) -> Vec<(Dialog, PathBuf)> {
        let bridge = self.bridge.iter().map(|program| (Dialog::Bridge, program.clone()));
        let system_dialogs =
            self.system_dialogs.iter().filter(|dialog| self.has_display || !dialog.needs_display());
        let with_program =
            |dialog: &Dialog| Some((*dialog, find_program(&self.search_path, dialog.program())?));
        bridge.chain(system_dialogs.filter_map(with_program)).collect()
    }

    async fn show(&self, dialog: Dialog, program: &Path) -> Answer {
        match self.run_program(dialog, program).await {
            Ok(Some(output)) => {
                let answer = tokio::task::spawn_blocking(move || dialog.answer(&output)).await;
                answer.unwrap_or_else(|error| Answer::Failed(error.to_string()))
            }
            Ok(None) => Answer::Cancelled,
            Err(error) => Answer::Failed(error.to_string()),
        }
    }

    /// Runs the program of a dialog and returns its output. Returns `None` if a user ends the
    /// program.
    async fn run_program(&self, dialog: Dialog, program: &Path) -> std::io::Result<Option<Output>> {
        let home = dirs::home_dir().unwrap_or_else(|| PathBuf::from("/"));
        let mut command = Command::new(program);
        command
            .args(dialog.arguments(&home))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Hides the service's settings and secrets from the program.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SF_")) {
            command.env_remove(name);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut open_dialog = OpenDialog::start(command, &self.helpers)?;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let standard_output =
            open_dialog.child.stdout.take().map(|standard_output| standard_output.take(OUTPUT_MAX_BYTES));
        let err = open_dialog.child.stderr.take().map(|err| err.take(OUTPUT_MAX_BYTES));
        let (Some(mut standard_output), Some(mut err)) = (standard_output, err) else { return Ok(None) };
        let read_output = async {
            tokio::try_join!(standard_output.read_to_end(&mut stdout), err.read_to_end(&mut stderr))
        };
        tokio::select! {
            read = read_output => drop(read?),
            () = open_dialog.end_requested() => return Ok(None),
        }
        let status = open_dialog.child.wait().await?;
        Ok(Some(Output { status, stdout, stderr }))
    }

    fn timeout_error(&self) -> ApiError {
        let secs = self.timeout.as_secs();
        ApiError::GatewayTimeout {
            code: "dialog_timeout",
            detail: format!(
                "Nobody chose a folder within {secs} seconds (SF_DIALOG_MAX_SECS); the dialog is closed."
            ),
        }
    }

    fn no_dialog_error(&self, failures: &[String]) -> ApiError {
        if !failures.is_empty() {
            let detail = format!("No folder dialog could be shown: {}.", failures.join("; "));
            return ApiError::BadGateway { code: "dialog_failed", detail };
        }
        if !self.has_display && self.system_dialogs.iter().all(|dialog| dialog.needs_display()) {
            return ApiError::NotImplemented {
                code: "no_display",
                detail: "The service has no display to show a dialog on (neither DISPLAY nor WAYLAND_DISPLAY is set); \
                         type the folder's path."
                    .to_owned(),
            };
        }
        let programs: Vec<&str> = self.system_dialogs.iter().map(|dialog| dialog.program()).collect();
        let programs = programs.join(" or ");
        ApiError::NotImplemented {
            code: "no_dialog",
            detail: format!(
                "No program can show a folder dialog: install {programs}, or type the folder's path."
            ),
        }
    }
}

/// An open dialog. Dropping this value kills the dialog's process group.
struct OpenDialog {
    child: Child,
    registered: HelperRegistration,
}

impl OpenDialog {
    fn start(mut command: Command, helpers: &Helpers) -> std::io::Result<Self> {
        let child = command.spawn()?;
        let registered = helpers.register("folder dialog", child.id().unwrap_or_default());
        Ok(Self { child, registered })
    }

    async fn end_requested(&self) {
        while !self.registered.is_to_end() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Drop for OpenDialog {
    fn drop(&mut self) {
        // If the process id is missing, the dialog has ended and was reaped.
        #[cfg(unix)]
        if let Some(pid) = self.child.id() {
            let group = nix::unistd::Pid::from_raw(pid.cast_signed());
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// Finds an executable program in the folders of a search path.
fn find_program(search_path: &OsString, name: &str) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        .map(|dir| dir.join(name))
        .find(|path| path.is_absolute() && is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, target_os = "linux"))]
#[path = "picker_tests.rs"]
mod tests;

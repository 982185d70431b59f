//! Programs that show folder dialogs, and the interpretation of their output.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Title of the dialogs.
const TITLE: &str = "Songfoundry: choose a folder";

/// AppleScript of the dialog on macOS. It prints the POSIX path of the folder.
const APPLE_SCRIPT: &str = "POSIX path of (choose folder with prompt \"Songfoundry: choose a folder\")";

/// AppleScript's error number for a cancelled dialog.
const APPLE_CANCELLED: &str = "-128";

/// PowerShell script of the dialog on Windows. It prints the path of the folder.
const POWERSHELL: &str = "[Console]::OutputEncoding = [System.Text.Encoding]::UTF8; Add-Type -AssemblyName System.Windows.Forms; \
    $dialog = New-Object System.Windows.Forms.FolderBrowserDialog; $dialog.Description = 'Songfoundry: choose a folder'; \
    if ($dialog.ShowDialog() -ne 'OK') { exit 1 }; Write-Output $dialog.SelectedPath";

/// A program that shows a folder dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialog {
    /// The program of `SF_DIALOG_BRIDGE`. Called with the argument `pick-dir`, it prints the path
    /// of the folder. Its exit status is 0 for a chosen folder, 1 if the user cancelled, and any
    /// other if it cannot show a dialog.
    Bridge,
    /// The dialog of GNOME.
    Zenity,
    /// The dialog of KDE.
    Kdialog,
    /// The dialog of macOS.
    Osascript,
    /// The dialog of Windows.
    PowerShell,
}

/// Returns the dialogs of a system in the order of preference. `system` is a value of
/// `std::env::consts::OS`.
pub(super) fn system_dialogs(system: &str) -> &'static [Dialog] {
    match system {
        "macos" => &[Dialog::Osascript],
        "windows" => &[Dialog::PowerShell],
        _ => &[Dialog::Zenity, Dialog::Kdialog],
    }
}

/// Outcome of a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// A folder was chosen.
    Chosen(PathBuf),
    /// The user closed the dialog without a choice.
    Cancelled,
    /// The dialog failed, with the reason.
    Failed(String),
}

impl Dialog {
    /// Returns the name of the program. For the bridge, this is the name of the bridge's setting.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Bridge => "SF_DIALOG_BRIDGE",
            Self::Zenity => "zenity",
            Self::Kdialog => "kdialog",
            Self::Osascript => "osascript",
            Self::PowerShell => "powershell.exe",
        }
    }

    /// Whether the program needs a display, which the environment must name.
    pub(super) fn needs_display(self) -> bool {
        matches!(self, Self::Zenity | Self::Kdialog)
    }

    /// Returns the arguments of the program. KDialog gets `home` as the folder to show first.
    pub(super) fn arguments(self, home: &Path) -> Vec<OsString> {
        match self {
            Self::Bridge => vec!["pick-dir".into()],
            Self::Zenity => {
                vec!["--file-selection".into(), "--directory".into(), format!("--title={TITLE}").into()]
            }
            Self::Kdialog => {
                vec!["--title".into(), TITLE.into(), "--getexistingdirectory".into(), home.into()]
            }
            Self::Osascript => vec!["-e".into(), APPLE_SCRIPT.into()],
            Self::PowerShell => {
                vec!["-NoProfile".into(), "-STA".into(), "-Command".into(), POWERSHELL.into()]
            }
        }
    }

    /// Interprets the exit status and output of the program. Blocks.
    pub(super) fn answer(self, output: &Output) -> Answer {
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => chosen(&output.stdout),
            // Zenity and KDialog end with the same exit status for a cancelled dialog and for a
            // missing display.
            Some(1) if self.needs_display() && stderr.contains("display") => failed(output, &stderr),
            Some(1) if self == Self::Osascript && !stderr.contains(APPLE_CANCELLED) => {
                failed(output, &stderr)
            }
            Some(1) => Answer::Cancelled,
            _ => failed(output, &stderr),
        }
    }
}

/// Reads the folder that a program printed.
fn chosen(stdout: &[u8]) -> Answer {
    let Ok(text) = std::str::from_utf8(stdout) else {
        return Answer::Failed("the folder's path is not valid Unicode".to_owned());
    };
    let path = Path::new(text.trim_end_matches(['\r', '\n']));
    if path.as_os_str().is_empty() {
        Answer::Cancelled
    } else if path.is_absolute() && path.is_dir() {
        Answer::Chosen(path.to_owned())
    } else {
        let displayed_path = path.display();
        Answer::Failed(format!(
            "the program printed `{displayed_path}`, which is not the absolute path of a folder"
        ))
    }
}

fn failed(output: &Output, stderr: &str) -> Answer {
    let last_line = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let last_line: String = last_line.chars().filter(|character| !character.is_control()).take(200).collect();
    Answer::Failed(format!("{}{}{last_line}", output.status, if last_line.is_empty() { "" } else { ": " }))
}

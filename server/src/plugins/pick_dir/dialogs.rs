//! The programs that can show a folder dialog, and what their answers mean.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Output;

/// What people read above the dialog.
const TITLE: &str = "Songfoundry: choose a folder";

/// macOS's dialog, which gives back the path as the shell knows it.
const APPLE_SCRIPT: &str = "POSIX path of (choose folder with prompt \"Songfoundry: choose a folder\")";

/// AppleScript's number for what people cancel.
const APPLE_CANCELLED: &str = "-128";

/// Windows's dialog.
const POWERSHELL: &str = "[Console]::OutputEncoding = [System.Text.Encoding]::UTF8; Add-Type -AssemblyName System.Windows.Forms; \
    $dialog = New-Object System.Windows.Forms.FolderBrowserDialog; $dialog.Description = 'Songfoundry: choose a folder'; \
    if ($dialog.ShowDialog() -ne 'OK') { exit 1 }; Write-Output $dialog.SelectedPath";

/// A program that shows a folder dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialog {
    /// The one of `SF_DIALOG_BRIDGE`: called with `pick-dir`, it prints the path of the folder. It
    /// ends with 0, or with 1 when people cancel; with anything else it says that it cannot show a
    /// dialog now.
    Bridge,
    /// GNOME's.
    Zenity,
    /// KDE's.
    Kdialog,
    /// macOS's.
    Osascript,
    /// Windows's.
    PowerShell,
}

/// The own dialogs of a system, as the compiler names it, the fitting one first.
pub(super) fn of_system(system: &str) -> &'static [Dialog] {
    match system {
        "macos" => &[Dialog::Osascript],
        "windows" => &[Dialog::PowerShell],
        _ => &[Dialog::Zenity, Dialog::Kdialog],
    }
}

/// What came of a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Somebody chose a folder.
    Chosen(PathBuf),
    /// Somebody closed the dialog.
    Cancelled,
    /// There was no dialog, and why.
    Failed(String),
}

impl Dialog {
    /// The program's name; the bridge's is in the settings.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Bridge => "SF_DIALOG_BRIDGE",
            Self::Zenity => "zenity",
            Self::Kdialog => "kdialog",
            Self::Osascript => "osascript",
            Self::PowerShell => "powershell.exe",
        }
    }

    /// Whether it draws on a display that the environment names.
    pub(super) fn needs_display(self) -> bool {
        matches!(self, Self::Zenity | Self::Kdialog)
    }

    /// What it is called with. `home` is where a dialog begins that wants to be told.
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

    /// What the end of the program means. Blocks.
    pub(super) fn answer(self, output: &Output) -> Answer {
        let complaint = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => chosen(&output.stdout),
            // GTK and Qt end alike when people cancel and when they find no display.
            Some(1) if self.needs_display() && complaint.contains("display") => failed(output, &complaint),
            Some(1) if self == Self::Osascript && !complaint.contains(APPLE_CANCELLED) => {
                failed(output, &complaint)
            }
            Some(1) => Answer::Cancelled,
            _ => failed(output, &complaint),
        }
    }
}

/// The folder that a program has printed.
fn chosen(printed: &[u8]) -> Answer {
    let Ok(text) = std::str::from_utf8(printed) else {
        return Answer::Failed("the folder's name is no Unicode text".to_owned());
    };
    let path = Path::new(text.trim_end_matches(['\r', '\n']));
    if path.as_os_str().is_empty() {
        Answer::Cancelled
    } else if path.is_absolute() && path.is_dir() {
        Answer::Chosen(path.to_owned())
    } else {
        Answer::Failed(format!("`{}` is no folder", path.display()))
    }
}

fn failed(output: &Output, complaint: &str) -> Answer {
    let last = complaint.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let last: String = last.chars().filter(|letter| !letter.is_control()).take(200).collect();
    Answer::Failed(format!("{}{}{last}", output.status, if last.is_empty() { "" } else { ": " }))
}

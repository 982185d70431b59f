//! Tests the folder dialogs with shell scripts in place of the desktop's programs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use super::*;

/// A desktop whose dialogs are shell scripts.
struct FakeDesktop {
    folder: tempfile::TempDir,
    picker: Picker,
}

impl FakeDesktop {
    fn new(has_display: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let picker = Picker {
            bridge: None,
            system_dialogs: system_dialogs("linux"),
            search_path: std::env::join_paths([folder.path(), Path::new("relative")]).expect("folders"),
            has_display,
            timeout: Duration::from_secs(20),
            helpers: Helpers::default(),
            permit: Semaphore::new(1),
        };
        Self { folder, picker }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Installs a shell script as the program `name`.
    fn install(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writes");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("makes the file executable");
        path
    }

    #[track_caller]
    fn refusal(result: ApiResult<Option<PathBuf>>, status: u16, code: &str) -> String {
        let error = result.expect_err("a refusal");
        assert_eq!((error.status().as_u16(), error.code()), (status, code), "{error}");
        error.to_string()
    }
}

#[tokio::test]
async fn the_bridge_is_preferred_to_system_dialogs() {
    let mut desktop = FakeDesktop::new(true);
    let chosen = desktop.path("My Plug-ins Ü");
    fs::create_dir(&chosen).expect("makes");
    desktop.install("zenity", "echo /");
    desktop.picker.bridge =
        Some(desktop.install("shell", "[ \"$*\" = pick-dir ] && echo \"${0%/*}/My Plug-ins Ü\""));
    assert_eq!(desktop.picker.pick().await.expect("an answer"), Some(chosen));
    desktop.picker.bridge = Some(desktop.install("shell", "exit 1"));
    assert_eq!(
        desktop.picker.pick().await.expect("an answer"),
        None,
        "exit status 1 of the bridge means cancelled"
    );
    desktop.picker.bridge = Some(desktop.install("shell", "exit 0"));
    assert_eq!(
        desktop.picker.pick().await.expect("an answer"),
        None,
        "empty output means that nothing was chosen"
    );
}

#[tokio::test]
async fn system_dialogs_are_used_if_the_bridge_fails() {
    let mut desktop = FakeDesktop::new(true);
    desktop.install("zenity", "[ \"$1 $2\" = \"--file-selection --directory\" ] && echo /usr");
    for bridge in ["exit 3", "echo /not/there", "echo relative", "printf '/\\377'", "kill -9 $$"] {
        desktop.picker.bridge = Some(desktop.install("shell", bridge));
        assert_eq!(desktop.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")), "{bridge}");
    }
    desktop.picker.bridge = Some(desktop.path("none"));
    assert_eq!(desktop.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
}

#[tokio::test]
async fn kdialog_is_used_if_zenity_cannot_open_the_display() {
    let desktop = FakeDesktop::new(true);
    desktop.install("zenity", "echo 'cannot open display: :0' >&2; exit 1");
    desktop.install("kdialog", "[ \"$3\" = --getexistingdirectory ] && [ -d \"$4\" ] && echo /etc");
    assert_eq!(desktop.picker.pick().await.expect("an answer"), Some(PathBuf::from("/etc")));
    desktop.install("zenity", "echo 'Gtk-WARNING: a theme is missing' >&2; exit 1");
    assert_eq!(
        desktop.picker.pick().await.expect("an answer"),
        None,
        "exit status 1 of zenity means cancelled"
    );
}

#[tokio::test]
async fn macos_and_windows_use_their_own_dialogs() {
    let mut desktop = FakeDesktop::new(false);
    desktop.picker.system_dialogs = system_dialogs("macos");
    desktop.install("osascript", "[ \"$1\" = -e ] && echo /usr/");
    assert_eq!(desktop.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
    desktop.install("osascript", "echo 'execution error: User canceled. (-128)' >&2; exit 1");
    assert_eq!(
        desktop.picker.pick().await.expect("an answer"),
        None,
        "error -128 of osascript means cancelled"
    );
    desktop.install("osascript", "echo 'execution error: no window server (-1713)' >&2; exit 1");
    let detail = FakeDesktop::refusal(desktop.picker.pick().await, 502, "dialog_failed");
    assert!(detail.contains("no window server"), "{detail}");
    desktop.picker.system_dialogs = system_dialogs("windows");
    desktop.install("powershell.exe", "[ \"$2\" = -STA ] && printf '/usr\\r\\n'");
    assert_eq!(desktop.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
    desktop.install("powershell.exe", "exit 1");
    assert_eq!(
        desktop.picker.pick().await.expect("an answer"),
        None,
        "exit status 1 of PowerShell means cancelled"
    );
}

#[tokio::test]
async fn if_no_dialog_can_be_shown_the_error_says_why() {
    let desktop = FakeDesktop::new(true);
    let detail = FakeDesktop::refusal(desktop.picker.pick().await, 501, "no_dialog");
    assert!(detail.contains("zenity or kdialog"), "{detail}");
    desktop.install("zenity", "echo Broken >&2; exit 7");
    fs::write(desktop.path("kdialog"), "not to be run").expect("writes");
    let detail = FakeDesktop::refusal(desktop.picker.pick().await, 502, "dialog_failed");
    assert!(detail.contains("zenity: exit status: 7: Broken"), "{detail}");
    let mut without_display = FakeDesktop::new(false);
    without_display.install("zenity", "echo /usr");
    let detail = FakeDesktop::refusal(without_display.picker.pick().await, 501, "no_display");
    assert!(detail.contains("DISPLAY"), "{detail}");
    // The bridge is used even if the service has no display.
    without_display.picker.bridge = Some(without_display.install("shell", "echo /usr"));
    assert_eq!(without_display.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
}

#[tokio::test]
async fn a_second_dialog_is_refused_while_one_is_open() {
    let desktop = FakeDesktop::new(true);
    desktop.install(
        "zenity",
        "touch \"${0%/*}/open\"; while [ ! -e \"${0%/*}/chosen\" ]; do sleep 0.05; done; echo /usr",
    );
    let (first, second) = tokio::join!(desktop.picker.pick(), async {
        while !desktop.path("open").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let second = desktop.picker.pick().await;
        fs::write(desktop.path("chosen"), "").expect("writes");
        second
    });
    assert_eq!(first.expect("an answer"), Some(PathBuf::from("/usr")));
    FakeDesktop::refusal(second, 409, "dialog_open");
    assert_eq!(desktop.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
}

#[tokio::test]
async fn a_dialog_is_closed_after_the_timeout_or_when_its_caller_disconnects() {
    let mut desktop = FakeDesktop::new(true);
    desktop.install("zenity", "echo $$ >\"${0%/*}/pid\"; sleep 300");
    desktop.picker.timeout = Duration::from_secs(1);
    let started_at = Instant::now();
    let detail = FakeDesktop::refusal(desktop.picker.pick().await, 504, "dialog_timeout");
    assert!(
        detail.contains("SF_DIALOG_MAX_SECS") && started_at.elapsed() < Duration::from_secs(10),
        "{detail}"
    );
    wait_for_end(&desktop).await;
    // The dialog is also closed if its caller disconnects, or if a user ends its process.
    desktop.picker.timeout = Duration::from_secs(60);
    let pick_result = tokio::time::timeout(Duration::from_millis(500), desktop.picker.pick()).await;
    assert!(pick_result.is_err());
    wait_for_end(&desktop).await;
    let (answer, ()) = tokio::join!(desktop.picker.pick(), async {
        while desktop.picker.helpers.list().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let dialog = &desktop.picker.helpers.list()[0];
        assert_eq!(dialog.kind, "folder dialog");
        desktop.picker.helpers.end(dialog.id);
    });
    assert_eq!(answer.expect("an answer"), None);
}

/// Waits until the dialog's program, which wrote its process id to a file, has ended.
async fn wait_for_end(desktop: &FakeDesktop) {
    let pid = fs::read_to_string(desktop.path("pid")).expect("a number").trim().to_owned();
    let deadline = Instant::now() + Duration::from_secs(10);
    let is_running = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("(zombie)")
    };
    while is_running() {
        assert!(Instant::now() < deadline, "the dialog is still open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

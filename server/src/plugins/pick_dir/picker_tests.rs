//! Dialogs by small programs in a folder that is searched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use super::*;

/// A machine with programs of its own.
struct Desk {
    folder: tempfile::TempDir,
    picker: Picker,
}

impl Desk {
    fn new(has_display: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let picker = Picker {
            bridge: None,
            of_system: of_system("linux"),
            search: std::env::join_paths([folder.path(), Path::new("relative")]).expect("folders"),
            has_display,
            longest: Duration::from_secs(20),
            helpers: Helpers::default(),
            turn: Semaphore::new(1),
        };
        Self { folder, picker }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a shell script there.
    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writes");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("may be run");
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
async fn the_bridge_is_asked_first() {
    let mut desk = Desk::new(true);
    let chosen = desk.path("My Plug-ins Ü");
    fs::create_dir(&chosen).expect("makes");
    desk.program("zenity", "echo /");
    desk.picker.bridge =
        Some(desk.program("shell", "[ \"$*\" = pick-dir ] && echo \"${0%/*}/My Plug-ins Ü\""));
    assert_eq!(desk.picker.pick().await.expect("an answer"), Some(chosen));
    desk.picker.bridge = Some(desk.program("shell", "exit 1"));
    assert_eq!(desk.picker.pick().await.expect("an answer"), None, "cancelled");
    desk.picker.bridge = Some(desk.program("shell", "exit 0"));
    assert_eq!(desk.picker.pick().await.expect("an answer"), None, "nothing was chosen");
}

#[tokio::test]
async fn the_systems_dialogs_stand_in_for_it() {
    let mut desk = Desk::new(true);
    desk.program("zenity", "[ \"$1 $2\" = \"--file-selection --directory\" ] && echo /usr");
    for bridge in ["exit 3", "echo /not/there", "echo relative", "printf '/\\377'", "kill -9 $$"] {
        desk.picker.bridge = Some(desk.program("shell", bridge));
        assert_eq!(desk.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")), "{bridge}");
    }
    desk.picker.bridge = Some(desk.path("none"));
    assert_eq!(desk.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
}

#[tokio::test]
async fn kdialog_stands_in_for_a_zenity_that_sees_no_display() {
    let desk = Desk::new(true);
    desk.program("zenity", "echo 'cannot open display: :0' >&2; exit 1");
    desk.program("kdialog", "[ \"$3\" = --getexistingdirectory ] && [ -d \"$4\" ] && echo /etc");
    assert_eq!(desk.picker.pick().await.expect("an answer"), Some(PathBuf::from("/etc")));
    desk.program("zenity", "echo 'Gtk-WARNING: a theme is missing' >&2; exit 1");
    assert_eq!(desk.picker.pick().await.expect("an answer"), None, "cancelled");
}

#[tokio::test]
async fn other_systems_have_dialogs_of_their_own() {
    let mut desk = Desk::new(false);
    desk.picker.of_system = of_system("macos");
    desk.program("osascript", "[ \"$1\" = -e ] && echo /usr/");
    assert_eq!(desk.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
    desk.program("osascript", "echo 'execution error: User canceled. (-128)' >&2; exit 1");
    assert_eq!(desk.picker.pick().await.expect("an answer"), None, "cancelled");
    desk.program("osascript", "echo 'execution error: no window server (-1713)' >&2; exit 1");
    let detail = Desk::refusal(desk.picker.pick().await, 502, "dialog_failed");
    assert!(detail.contains("no window server"), "{detail}");
    desk.picker.of_system = of_system("windows");
    desk.program("powershell.exe", "[ \"$2\" = -STA ] && printf '/usr\\r\\n'");
    assert_eq!(desk.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
    desk.program("powershell.exe", "exit 1");
    assert_eq!(desk.picker.pick().await.expect("an answer"), None, "cancelled");
}

#[tokio::test]
async fn where_no_dialog_can_be_shown_the_reason_is_named() {
    let desk = Desk::new(true);
    let detail = Desk::refusal(desk.picker.pick().await, 501, "no_dialog");
    assert!(detail.contains("zenity or kdialog"), "{detail}");
    desk.program("zenity", "echo Broken >&2; exit 7");
    fs::write(desk.path("kdialog"), "not to be run").expect("writes");
    let detail = Desk::refusal(desk.picker.pick().await, 502, "dialog_failed");
    assert!(detail.contains("zenity: exit status: 7: Broken"), "{detail}");
    let mut blind = Desk::new(false);
    blind.program("zenity", "echo /usr");
    let detail = Desk::refusal(blind.picker.pick().await, 501, "no_display");
    assert!(detail.contains("DISPLAY"), "{detail}");
    // A desktop's own bridge has a display of its own.
    blind.picker.bridge = Some(blind.program("shell", "echo /usr"));
    assert_eq!(blind.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
}

#[tokio::test]
async fn one_dialog_is_open_at_a_time() {
    let desk = Desk::new(true);
    desk.program(
        "zenity",
        "touch \"${0%/*}/open\"; while [ ! -e \"${0%/*}/chosen\" ]; do sleep 0.05; done; echo /usr",
    );
    let (first, second) = tokio::join!(desk.picker.pick(), async {
        while !desk.path("open").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let second = desk.picker.pick().await;
        fs::write(desk.path("chosen"), "").expect("writes");
        second
    });
    assert_eq!(first.expect("an answer"), Some(PathBuf::from("/usr")));
    Desk::refusal(second, 409, "dialog_open");
    assert_eq!(desk.picker.pick().await.expect("an answer"), Some(PathBuf::from("/usr")));
}

#[tokio::test]
async fn a_dialog_that_nobody_answers_is_closed() {
    let mut desk = Desk::new(true);
    desk.program("zenity", "echo $$ >\"${0%/*}/pid\"; sleep 300");
    desk.picker.longest = Duration::from_secs(1);
    let begun = Instant::now();
    let detail = Desk::refusal(desk.picker.pick().await, 504, "dialog_timeout");
    assert!(detail.contains("SF_DIALOG_MAX_SECS") && begun.elapsed() < Duration::from_secs(10), "{detail}");
    has_ended(&desk).await;
    // The same when whoever asked has gone, and when somebody ends the helper.
    desk.picker.longest = Duration::from_secs(60);
    let gone = tokio::time::timeout(Duration::from_millis(500), desk.picker.pick()).await;
    assert!(gone.is_err());
    has_ended(&desk).await;
    let (answer, ()) = tokio::join!(desk.picker.pick(), async {
        while desk.picker.helpers.list().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let dialog = &desk.picker.helpers.list()[0];
        assert_eq!(dialog.kind, "folder dialog");
        desk.picker.helpers.end(dialog.id);
    });
    assert_eq!(answer.expect("an answer"), None);
}

/// Waits until the program that wrote its number does not run any more.
async fn has_ended(desk: &Desk) {
    let pid = fs::read_to_string(desk.path("pid")).expect("a number").trim().to_owned();
    let deadline = Instant::now() + Duration::from_secs(10);
    let runs = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("(zombie)")
    };
    while runs() {
        assert!(Instant::now() < deadline, "the dialog is still open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

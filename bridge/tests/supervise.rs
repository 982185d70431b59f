//! Runs `songfoundry-bridge supervise` on test modules, and checks that no process is left.
#![cfg(target_os = "linux")]

mod modules;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use modules::install;

/// A supervised scan of a module in a folder, which all of its processes have in their environment.
struct Supervised {
    folder: tempfile::TempDir,
    child: Child,
    /// Taken from the child, which would close it when it is waited for.
    input: Option<ChildStdin>,
}

impl Supervised {
    fn scan(module: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = install(&folder, module, "Module.vst3");
        let mut child = Command::new(env!("CARGO_BIN_EXE_songfoundry-bridge"))
            .args(["supervise", "scan"])
            .arg(file)
            .env("HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the supervisor runs");
        let input = child.stdin.take();
        Self { folder, child, input }
    }

    fn processes(&self) -> usize {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
        environments.filter(|text| String::from_utf8_lossy(text).contains(&folder)).count()
    }

    fn wait_for_processes(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.processes() != count {
            assert!(Instant::now() < deadline, "{} processes instead of {count}", self.processes());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn the_supervisor_ends_as_the_command_does() {
    let mut whole_scan = Supervised::scan("instrument");
    assert_eq!(whole_scan.child.wait().expect("ends").code(), Some(0));
    let mut exiting_scan = Supervised::scan("leave");
    assert_eq!(exiting_scan.child.wait().expect("ends").code(), Some(0));
    for (module, signal) in [("crash", nix::libc::SIGSEGV), ("clinging", nix::libc::SIGABRT)] {
        let mut supervised = Supervised::scan(module);
        assert_eq!(supervised.child.wait().expect("ends").signal(), Some(signal), "{module}");
        assert_eq!(supervised.processes(), 0, "{module}");
    }
}

#[test]
fn all_processes_end_when_the_input_closes() {
    let mut supervised = Supervised::scan("stray");
    // The supervisor, the scan, and the process that the module started in a new session.
    supervised.wait_for_processes(3);
    drop(supervised.input.take());
    assert_eq!(supervised.child.wait().expect("ends").signal(), Some(nix::libc::SIGKILL));
    assert_eq!(supervised.processes(), 0);
}

/// Another program may kill a supervisor, such as the system when memory is short.
#[test]
fn all_processes_end_when_the_supervisor_is_killed() {
    let mut supervised = Supervised::scan("stray");
    supervised.wait_for_processes(3);
    supervised.child.kill().expect("runs");
    supervised.child.wait().expect("ends");
    supervised.wait_for_processes(0);
}

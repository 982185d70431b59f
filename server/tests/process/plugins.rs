//! Plugins leave no process, descriptor or file behind, even if the service is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Service;

/// How long processes of plugins may live after the service was killed.
const GONE_WITHIN: Duration = Duration::from_secs(2);

/// How long a service may take to stop.
const STOPPED_WITHIN: Duration = Duration::from_secs(10);

/// Returns the folder with the helper, and the folder with the modules of `tests/plugins`. Both are
/// built once.
fn built() -> &'static (PathBuf, PathBuf) {
    static BUILT: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    BUILT.get_or_init(|| {
        let packages = ["--package", "songfoundry-bridge", "--package", "songfoundry-test-plugins"];
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--bins", "--examples"])
            .args(packages)
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .status();
        assert!(status.expect("cargo runs").success(), "the helper and the modules cannot be built");
        let program = Path::new(env!("CARGO_BIN_EXE_songfoundry"));
        let folder = program.parent().expect("a folder");
        (folder.to_owned(), folder.join("examples"))
    })
}

/// A service with one module in its only plugin folder.
struct PluginService {
    service: Service,
    folder: tempfile::TempDir,
}

impl PluginService {
    fn start(module: &str, name: &str) -> Self {
        let (programs, modules) = built();
        let folder = tempfile::tempdir().expect("a folder");
        let plugins = folder.path().join("plugins");
        fs::create_dir(&plugins).expect("makes");
        fs::copy(modules.join(format!("lib{module}.so")), plugins.join(name)).expect("copies");
        let helper = programs.join("songfoundry-bridge").to_string_lossy().into_owned();
        // Scanned modules get a home folder in the folder for temporary files.
        let temporary = folder.path().to_string_lossy().into_owned();
        let settings = [
            ("SF_BRIDGE", helper.as_str()),
            ("TMPDIR", temporary.as_str()),
            ("SF_PLUGIN_ANSWER_MAX_SECS", "20"),
        ];
        let service = Service::start(&folder.path().join("storage"), &settings);
        let body = json!({ "path": plugins });
        service.expect(200, "POST", "/api/v1/plugins/dirs", &[], &body);
        Self { service, folder }
    }

    /// Returns the id of an instrument.
    fn id_of(&self, name: &str) -> String {
        let available = self.service.expect(200, "GET", "/api/v1/plugins/available", &[], &Value::Null);
        let instruments = available["vst_instruments"].as_array().expect("a list");
        let found = instruments.iter().find(|plugin| plugin["name"] == name);
        let found = found.unwrap_or_else(|| panic!("{name} is not in {available}"));
        found["plugin_id"].as_str().expect("an id").to_owned()
    }

    fn render(&self, plugin_id: &str) -> Option<u16> {
        let note = json!({"tick": 0, "length_ticks": 480, "pitch": 60, "velocity": 1});
        let body = json!({"plugin_id": plugin_id, "notes": [note], "tail_secs": 0}).to_string();
        let answer = self.service.call("POST", "/api/v1/plugins/midi-render", &[], &body);
        answer.map(|answer| answer.status)
    }

    /// Counts the processes of plugins, by their environment.
    fn processes(&self) -> usize {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let service = self.service.id().to_string();
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let others = processes.filter(|entry| entry.file_name() != service.as_str());
        let environments = others.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
        environments.filter(|text| String::from_utf8_lossy(text).contains(&folder)).count()
    }

    fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.service.id())).expect("it runs").count()
    }
}

/// Waits until a condition holds. Returns whether it does within `limit`.
fn holds_within(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !condition() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Sends a signal to the service while `call` waits for a plugin that has started `processes`
/// processes. They must end within `limit`.
fn signal_during(
    plugins: &PluginService,
    processes: usize,
    call: impl Fn() + Sync,
    signal: &str,
    limit: Duration,
) {
    std::thread::scope(|scope| {
        scope.spawn(&call);
        let has_started = holds_within(Duration::from_secs(20), || plugins.processes() >= processes);
        assert!(has_started, "{} processes", plugins.processes());
        plugins.service.signal(signal);
        let are_gone = holds_within(limit, || plugins.processes() == 0);
        assert!(are_gone, "{} processes are left", plugins.processes());
    });
}

#[test]
fn a_killed_service_leaves_no_process_of_a_scan() {
    let plugins = PluginService::start("stray", "Stray.vst3");
    // The supervisor, the scan, and the process that the module started in a new session.
    let scan = || {
        plugins.service.call("POST", "/api/v1/plugins/scan", &[], "");
    };
    signal_during(&plugins, 3, scan, "KILL", GONE_WITHIN);
}

#[test]
fn a_killed_service_leaves_no_process_of_a_hosted_plugin() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so");
    let id = plugins.id_of("Hangs");
    let render = || {
        plugins.render(&id);
    };
    signal_during(&plugins, 2, render, "KILL", GONE_WITHIN);
    // The next start deletes the home folder of the killed plugin.
    let homes = plugins.folder.path().join("storage/plugin-homes");
    assert_eq!(fs::read_dir(&homes).expect("a folder").count(), 1);
    let next = Service::start(&plugins.folder.path().join("storage"), &[]);
    assert!(!homes.exists());
    drop(next);
}

#[test]
fn a_stopped_service_ends_a_plugin_that_hangs() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so");
    let id = plugins.id_of("Hangs");
    let render = || {
        plugins.render(&id);
    };
    signal_during(&plugins, 2, render, "TERM", STOPPED_WITHIN);
}

#[test]
fn fifty_renders_with_faulty_plugins_leave_no_descriptor() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so");
    let ids = ["Crashes", "Exits", "Forks", "Starts Daemon", "Aborts"].map(|name| plugins.id_of(name));
    for id in &ids {
        plugins.render(id).expect("an answer");
    }
    let before = plugins.descriptors();
    for id in ids.iter().cycle().take(50) {
        plugins.render(id).expect("an answer");
    }
    // Connections of the database and of HTTP may differ by a few.
    let is_steady = holds_within(Duration::from_secs(10), || plugins.descriptors() <= before + 5);
    assert!(is_steady, "{before} descriptors became {}", plugins.descriptors());
    assert!(holds_within(GONE_WITHIN, || plugins.processes() == 0), "{} are left", plugins.processes());
}

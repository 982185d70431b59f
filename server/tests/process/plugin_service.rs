//! A service with plugin folders that contain modules of `tests/plugins`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Answer, Service};

/// Returns the folder with the helper, and the folder with the modules of `tests/plugins`. Both are
/// built once.
pub(crate) fn built() -> &'static (PathBuf, PathBuf) {
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

/// A service with one plugin folder.
pub(crate) struct PluginService {
    pub(crate) service: Service,
    pub(crate) folder: tempfile::TempDir,
}

impl PluginService {
    /// Starts a service whose plugin folder contains `module` under the name `name`.
    pub(crate) fn start(module: &str, name: &str, settings: &[(&str, &str)]) -> Self {
        Self::start_with(settings, |service| service.install(module, name))
    }

    /// Starts a service whose plugin folder `fill` fills.
    pub(crate) fn start_with(settings: &[(&str, &str)], fill: impl FnOnce(&Self)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (plugins, temporary_folder) = (folder.path().join("plugins"), folder.path().join("temporary"));
        for folder in [&plugins, &temporary_folder] {
            fs::create_dir(folder).expect("makes");
        }
        let helper = built().0.join("songfoundry-bridge").to_string_lossy().into_owned();
        // Scanned modules get a home folder in the folder for temporary files.
        let temporary_folder = temporary_folder.to_string_lossy().into_owned();
        let mut all_settings = vec![("SF_BRIDGE", helper.as_str()), ("TMPDIR", temporary_folder.as_str())];
        all_settings.extend(settings);
        let service = Service::start(&folder.path().join("storage"), &all_settings);
        let plugin_service = Self { service, folder };
        fill(&plugin_service);
        let body = json!({ "path": plugins });
        plugin_service.service.expect(200, "POST", "/api/v1/plugins/dirs", &[], &body);
        plugin_service
    }

    /// Copies a module to `name` in the plugin folder. Replaces an earlier module of that name.
    pub(crate) fn install(&self, module: &str, name: &str) {
        let path = self.folder.path().join("plugins").join(name);
        // A new file has a new time, so the module counts as changed.
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
        fs::copy(built().1.join(format!("lib{module}.so")), path).expect("copies");
    }

    /// Returns the id of an instrument.
    pub(crate) fn id_of(&self, name: &str) -> String {
        let available_sounds =
            self.service.expect(200, "GET", "/api/v1/plugins/available", &[], &Value::Null);
        let instruments = available_sounds["vst_instruments"].as_array().expect("a list");
        let listed_plugin = instruments.iter().find(|plugin| plugin["name"] == name);
        let listed_plugin = listed_plugin.unwrap_or_else(|| panic!("{name} is not in {available_sounds}"));
        listed_plugin["plugin_id"].as_str().expect("an id").to_owned()
    }

    /// Renders a note with an instrument; `None` if the service ended before it answered.
    pub(crate) fn render(&self, plugin_id: &str) -> Option<Answer> {
        let note = json!({"tick": 0, "length_ticks": 480, "pitch": 60, "velocity": 1});
        let body = json!({"plugin_id": plugin_id, "notes": [note], "tail_secs": 0}).to_string();
        self.service.call("POST", "/api/v1/plugins/midi-render", &[], &body)
    }

    /// Counts the processes of plugins, by their environment.
    pub(crate) fn processes(&self) -> usize {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let service = self.service.id().to_string();
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let other_processes = processes.filter(|entry| entry.file_name() != service.as_str());
        let environments = other_processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
        environments.filter(|text| String::from_utf8_lossy(text).contains(&folder)).count()
    }

    /// Counts the open descriptors of the service.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.service.id())).expect("it runs").count()
    }
}

/// Waits until a condition holds. Returns whether it does within `limit`.
pub(crate) fn holds_within(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !condition() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

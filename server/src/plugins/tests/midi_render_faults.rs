//! Tests `POST /plugins/midi-render` with plugins that crash, hang, end their process, start other
//! processes or send invalid audio. Each request is answered within the time limit, and no process
//! or folder remains.

use std::fs;
use std::time::{Duration, Instant};

use axum::http::Method;
use serde_json::{Value, json};

use super::midi_render::{PATH, note, send};
use super::vst::PluginService;
use crate::test_app::Answer;
use crate::test_studio::{float_samples, peak};

/// Time limit for an answer of a plugin in these tests, in seconds.
const ANSWER_MAX_SECS: &str = "2";

/// A service with the misbehaving instruments.
struct FaultyService {
    service: PluginService,
    /// Names and ids of the instruments.
    instruments: Vec<(String, String)>,
}

impl FaultyService {
    async fn start() -> Self {
        Self::with(&[("SF_PLUGIN_ANSWER_MAX_SECS", ANSWER_MAX_SECS)]).await
    }

    async fn with(settings: &[(&str, &str)]) -> Self {
        let service = PluginService::with(settings).await;
        service.install("vst2_misbehaving_synth", "faults.so");
        let available_sounds = service.get("/available").await.expect(200);
        let text = |plugin: &Value, field: &str| plugin[field].as_str().expect("text").to_owned();
        let instruments = available_sounds["vst_instruments"].as_array().expect("a list");
        let instruments =
            instruments.iter().map(|plugin| (text(plugin, "name"), text(plugin, "plugin_id"))).collect();
        Self { service, instruments }
    }

    fn body(&self, name: &str) -> Value {
        let listed_instrument = self.instruments.iter().find(|(plugin_name, _)| plugin_name == name);
        let (_, id) = listed_instrument.unwrap_or_else(|| panic!("{name} is not in {:?}", self.instruments));
        json!({"plugin_id": id, "notes": [note(480.0, 480.0)], "tail_secs": 0.1})
    }

    async fn send(&self, name: &str) -> Answer {
        send(&self.service, &self.body(name)).await
    }

    /// Waits until no process and no folder of a plugin remains.
    async fn assert_clean(&self, name: &str) {
        let storage = &self.service.app.state.config.storage.dir;
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let homes = fs::read_dir(storage.join("plugin-homes")).map_or(0, Iterator::count);
            let process_count = self.service.app.state.helpers.list().len();
            let processes = processes_in(&storage.to_string_lossy());
            if (homes, process_count, processes) == (0, 0, 0) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{name}: {homes} folders, {process_count} helpers and {processes} processes are left"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Counts the processes whose environment contains this path.
fn processes_in(path: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments.filter(|text| String::from_utf8_lossy(text).contains(path)).count()
}

#[tokio::test]
async fn faults_of_plugins_give_typed_errors_within_the_time_limit() {
    let faulty_service = FaultyService::start().await;
    for (name, status, code, part) in [
        ("Crashes", 502, "plugin_crashed", "SIGSEGV"),
        ("Aborts", 502, "plugin_crashed", "SIGABRT"),
        ("Exits", 502, "plugin_ended", "exit status: 0"),
        ("Hangs", 504, "plugin_timeout", "within 2 seconds (SF_PLUGIN_ANSWER_MAX_SECS)"),
        ("Starts Daemon and Hangs", 504, "plugin_timeout", "within 2 seconds (SF_PLUGIN_ANSWER_MAX_SECS)"),
        ("Thousand Channels", 422, "plugin_refused", "states 1000 output channels; the maximum is 128"),
        ("Negative Channels", 422, "not_an_instrument", "has no audio output"),
        ("No Channels", 422, "not_an_instrument", "has no audio output"),
    ] {
        let started_at = Instant::now();
        let detail = faulty_service.send(name).await.problem(status, code);
        assert!(detail.contains(part), "{name}: {detail}");
        assert!(started_at.elapsed() < Duration::from_secs(20), "{name}: {:?}", started_at.elapsed());
        faulty_service.assert_clean(name).await;
    }
}

#[tokio::test]
async fn plugins_that_start_processes_or_print_can_render_and_nothing_remains() {
    let faulty_service = FaultyService::start().await;
    for name in ["Forks", "Starts Daemon", "Prints", "Slow", "Late Latency", "More Channels", "Late Sound"] {
        let answer = faulty_service.send(name).await;
        assert_eq!(answer.status, 200, "{name}: {}", String::from_utf8_lossy(&answer.bytes));
        assert!(peak(&float_samples(&answer.bytes)) > 0.05, "{name}");
        faulty_service.assert_clean(name).await;
    }
}

#[tokio::test]
async fn a_plugin_that_leaks_ends_at_the_limit_of_its_memory() {
    // Each start and end of a note leaks 256 MiB.
    let faulty_service = FaultyService::with(&[("SF_PLUGIN_MEMORY_MAX_BYTES", "1073741824")]).await;
    let mut body = faulty_service.body("Leaks");
    body["notes"] = (0..8).map(|index| note(f64::from(index) * 960.0, 480.0)).collect();
    let detail = send(&faulty_service.service, &body).await.problem(502, "plugin_crashed");
    assert!(detail.contains("SIGABRT"), "{detail}");
    faulty_service.assert_clean("Leaks").await;
}

#[tokio::test]
async fn samples_that_are_not_numbers_become_silence_with_a_warning() {
    let faulty_service = FaultyService::start().await;
    let answer = faulty_service.send("Not a Number").await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
    let warnings = answer.header("x-plugin-warnings").to_owned();
    assert!(warnings.contains("non_finite_samples="), "{warnings}");
    assert!(peak(&float_samples(&answer.bytes)).is_finite());
    faulty_service.assert_clean("Not a Number").await;
}

#[tokio::test]
async fn other_requests_are_answered_while_a_plugin_hangs() {
    let faulty_service = FaultyService::start().await;
    let (hanging, other_render) = tokio::join!(faulty_service.send("Hangs"), async {
        while faulty_service.service.app.state.helpers.list().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let helpers = faulty_service.service.app.local(Method::GET, "/api/v1/files/processes").send().await;
        assert_eq!(helpers.expect(200)["items"][0]["kind"], "plugin");
        faulty_service.send("Prints").await
    });
    hanging.problem(504, "plugin_timeout");
    assert_eq!(other_render.status, 200, "{}", String::from_utf8_lossy(&other_render.bytes));
    faulty_service.assert_clean("Hangs").await;
}

#[tokio::test]
async fn a_client_that_disconnects_ends_the_plugin() {
    let faulty_service = FaultyService::start().await;
    let app = &faulty_service.service.app;
    let request = app.local(Method::POST, PATH).json(&faulty_service.body("Hangs")).send();
    let has_started = async {
        while app.state.helpers.list().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        answer = request => panic!("the plugin hangs, but the answer is {}", answer.status),
        () = has_started => {}
    }
    faulty_service.assert_clean("Hangs").await;
}

#[tokio::test]
async fn after_fifty_faults_no_process_or_folder_remains() {
    let faulty_service = FaultyService::start().await;
    let names = ["Crashes", "Aborts", "Exits", "Forks", "Starts Daemon"];
    for name in names.iter().cycle().take(50) {
        faulty_service.send(name).await;
    }
    faulty_service.assert_clean("fifty faults").await;
}

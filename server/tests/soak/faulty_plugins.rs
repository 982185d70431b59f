//! Scans and renders with plugins that crash, hang, exit, start processes, exhaust memory or lie
//! about their buses.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::plugin_service::{PluginService, holds_within};
use crate::support::{Answer, Service};

/// Time limit of a scan of one module, and of one answer of a hosted plugin.
const LIMIT_SECS: &str = "3";

/// Memory of a hosted plugin, in bytes. It is less than one note of the instrument "Leaks" keeps:
/// 256 MiB in the block where the note starts, and as much where it ends.
const MEMORY_MAX_BYTES: &str = "536870912";

/// Longest time of a use: the limit twice, because a crashed plugin gets a second try, and the time
/// that a busy machine needs to start and end processes.
const USE_MAX: Duration = Duration::from_secs(30);

/// Longest time of another request during these uses, on a busy machine.
const OTHER_REQUEST_MAX: Duration = Duration::from_secs(5);

/// Maximum time for which processes and files of a plugin remain after a use.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// Number of uses between checks that nothing is left.
const CHECK_INTERVAL: usize = 25;

/// Number of descriptors by which connections of the database and of HTTP may differ.
const DESCRIPTORS_TOLERANCE: usize = 5;

/// Path of the module that is scanned, in the plugin folder. Each scan replaces the module. It has
/// a folder of its own, because a VST2 module beside it would be ignored.
const SCANNED: &str = "scanned/Scanned.vst3";

/// Path of the module with VST3 effects that lie about their buses, in the plugin folder.
const LIES: &str = "lies/Lies.vst3";

/// An instrument that works, whose sound the effects process.
const WORKING_INSTRUMENT: &str = "Late Latency";

/// A use of a faulty plugin.
enum Use {
    /// Scans a module of `tests/plugins`. The reason why it fails contains this text.
    Scan(&'static str, &'static str),
    /// Renders a note with an instrument of `vst2_misbehaving_synth`.
    Render(&'static str, Outcome),
    /// Renders a song with an effect of `bus_lies`.
    Effect(&'static str, Outcome),
}

/// The answer to a render.
#[derive(Clone, Copy)]
enum Outcome {
    /// The plugin works in spite of its fault.
    Sound,
    /// A problem with this status and code.
    Problem(u16, &'static str),
}

const CRASHED: Outcome = Outcome::Problem(502, "plugin_crashed");
const ENDED: Outcome = Outcome::Problem(502, "plugin_ended");
const TIMEOUT: Outcome = Outcome::Problem(504, "plugin_timeout");
const REFUSED: Outcome = Outcome::Problem(422, "plugin_refused");
const NO_OUTPUT: Outcome = Outcome::Problem(422, "not_an_instrument");
const NO_INPUT: Outcome = Outcome::Problem(422, "not_an_effect");

/// The uses, which are repeated in this order. They have every plugin of both modules.
const USES: &[Use] = &[
    Use::Scan("crash", "SIGSEGV"),
    Use::Render("Crashes", CRASHED),
    Use::Effect("Negative Count", NO_INPUT),
    Use::Scan("hang", "within 3 seconds"),
    Use::Render("Aborts", CRASHED),
    Use::Effect("No Buses", NO_INPUT),
    Use::Scan("leave", "exit status: 0"),
    Use::Render("Exits", ENDED),
    Use::Effect("Unknown Bus", NO_INPUT),
    Use::Scan("clinging", "SIGABRT"),
    Use::Render("Forks", Outcome::Sound),
    Use::Effect("Negative Channels", NO_INPUT),
    Use::Scan("hungry", "SIGABRT"),
    Use::Render("Starts Daemon", Outcome::Sound),
    Use::Effect("Many Buses", REFUSED),
    Use::Scan("stray", "within 3 seconds"),
    Use::Render("Hangs", TIMEOUT),
    Use::Effect("Many Channels", REFUSED),
    Use::Render("Starts Daemon and Hangs", TIMEOUT),
    Use::Render("Kills Its Supervisor", Outcome::Sound),
    Use::Effect("Other Arrangement", Outcome::Sound),
    Use::Render("Leaks", CRASHED),
    Use::Effect("More Channels", Outcome::Sound),
    Use::Render("Prints", Outcome::Sound),
    Use::Render("Not a Number", Outcome::Sound),
    Use::Render("Thousand Channels", REFUSED),
    Use::Render("Negative Channels", NO_OUTPUT),
    Use::Render("No Channels", NO_OUTPUT),
    Use::Render("More Channels", Outcome::Sound),
    Use::Render("Slow", Outcome::Sound),
    Use::Render("Late Latency", Outcome::Sound),
    Use::Render("Late Sound", Outcome::Sound),
];

/// Uses faulty plugins `count` times in a row, while another client sends requests. Checks that no
/// process, descriptor, shared memory or file is left.
pub(crate) fn use_faulty_plugins(count: usize) {
    let settings = [
        ("SF_PLUGIN_ANSWER_MAX_SECS", LIMIT_SECS),
        ("SF_PLUGIN_SCAN_MAX_SECS", LIMIT_SECS),
        ("SF_PLUGIN_MEMORY_MAX_BYTES", MEMORY_MAX_BYTES),
    ];
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so", &settings);
    plugins.install("bus_lies", LIES);
    let has_finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let other_client = scope.spawn(|| send_others(&plugins.service, &has_finished));
        // The scope joins the other client even if an assertion fails.
        let _stop = StopOnDrop(&has_finished);
        let slowest = repeat_uses(&plugins, count);
        has_finished.store(true, Ordering::Relaxed);
        let (requests, slowest_other) = other_client.join().expect("sends requests");
        println!(
            "{count} uses of faulty plugins left nothing; the slowest took {slowest:.1?}. The slowest of {requests} \
             other requests took {slowest_other:.1?}"
        );
    });
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends requests until `has_finished`. Returns their number and the time of the slowest.
fn send_others(service: &Service, has_finished: &AtomicBool) -> (usize, Duration) {
    let (mut requests, mut slowest) = (0, Duration::ZERO);
    while !has_finished.load(Ordering::Relaxed) {
        let sent_at = Instant::now();
        service.expect(200, "GET", "/api/v1/projects", &[], &Value::Null);
        let elapsed = sent_at.elapsed();
        assert!(elapsed < OTHER_REQUEST_MAX, "another request took {elapsed:?}");
        slowest = slowest.max(elapsed);
        requests += 1;
        thread::sleep(Duration::from_millis(50));
    }
    (requests, slowest)
}

/// Uses plugins `count` times. Returns the time of the slowest use.
fn repeat_uses(plugins: &PluginService, count: usize) -> Duration {
    let (mut slowest, mut descriptors) = (Duration::ZERO, None);
    plugins.service.expect(200, "POST", "/api/v1/plugins/scan", &[], &Value::Null);
    let ids = Ids::of(plugins);
    ids.check_uses();
    for (number, each) in USES.iter().cycle().take(count).enumerate() {
        let started_at = Instant::now();
        let name = each.carry_out(plugins, &ids, number);
        let elapsed = started_at.elapsed();
        assert!(elapsed < USE_MAX, "use {number}, {name}: {elapsed:?}");
        slowest = slowest.max(elapsed);
        if (number + 1) % CHECK_INTERVAL == 0 || number + 1 == count {
            // The first uses open the connections of the database, which stay open.
            let descriptors_before = *descriptors.get_or_insert_with(|| {
                holds_within(GONE_WITHIN, || plugins.processes() == 0);
                plugins.descriptors()
            });
            check_nothing_left(plugins, descriptors_before, &format!("after {} uses", number + 1));
        }
    }
    slowest
}

/// Ids of the plugins, by their names.
struct Ids {
    instruments: HashMap<String, String>,
    effects: HashMap<String, String>,
}

impl Ids {
    fn of(plugins: &PluginService) -> Self {
        let ids = |path: &str, field: &str| {
            let list = plugins.service.expect(200, "GET", path, &[], &Value::Null);
            let list = list[field].as_array().expect("a list").clone();
            let text = |plugin: &Value, field: &str| plugin[field].as_str().expect("text").to_owned();
            list.iter().map(|plugin| (text(plugin, "name"), text(plugin, "plugin_id"))).collect()
        };
        Self {
            instruments: ids("/api/v1/plugins/available", "vst_instruments"),
            effects: ids("/api/v1/plugins/effects", "vst_effects"),
        }
    }

    /// Checks that the uses have every plugin.
    fn check_uses(&self) {
        let used = |name: fn(&Use) -> Option<&'static str>| -> BTreeSet<&str> {
            USES.iter().filter_map(name).collect()
        };
        let instruments = used(|each| if let Use::Render(name, _) = each { Some(name) } else { None });
        let effects = used(|each| if let Use::Effect(name, _) = each { Some(name) } else { None });
        assert_eq!(instruments, self.instruments.keys().map(String::as_str).collect());
        assert_eq!(effects, self.effects.keys().map(String::as_str).collect());
    }
}

impl Outcome {
    fn check(&self, name: &str, answer: &Answer) {
        let problem = || serde_json::from_str::<Value>(&answer.body).unwrap_or_default();
        let listed_plugin =
            if answer.status == 200 { None } else { Some((answer.status, problem()["code"].clone())) };
        let expected = match *self {
            Self::Sound => None,
            Self::Problem(status, code) => Some((status, Value::from(code))),
        };
        assert_eq!(listed_plugin, expected, "{name}: {}", answer.head);
    }
}

/// Renders a song of one track with an effect. Songs with different numbers have different sounds,
/// so that no plugin plays a stored sound.
fn render_with_effect(plugins: &PluginService, ids: &Ids, effect: &str, number: usize) -> Answer {
    let velocity = 0.5 + number as f64 / 10_000.0;
    let note = json!({"tick": 0, "length_ticks": 480, "pitch": 60, "velocity": velocity});
    let track = json!({
        "id": "t", "name": "t", "kind": "instrument",
        "synth_engine": {"type": "vst2", "plugin_id": ids.instruments[WORKING_INSTRUMENT]},
        "items": [{"type": "midi", "id": "m", "start_tick": 0, "length_ticks": 480, "notes": [note]}],
        "effects": [{"id": "e", "type": "vst3", "plugin_id": ids.effects[effect]}],
    });
    let song = json!({"schema_version": 1, "project_id": "p", "name": "Lies", "tracks": [track]});
    let body = json!({"project": song, "tail_secs": 0}).to_string();
    plugins.service.call("POST", "/api/v1/plugins/render", &[], &body).expect("an answer")
}

impl Use {
    /// Uses the plugin, and checks the answer. Returns the name of the plugin.
    fn carry_out(&self, plugins: &PluginService, ids: &Ids, number: usize) -> &'static str {
        match *self {
            Self::Scan(module, expected) => {
                plugins.install(module, SCANNED);
                let scan = plugins.service.expect(200, "POST", "/api/v1/plugins/scan", &[], &Value::Null);
                let failed_module = &scan["unclassified"][0];
                assert_eq!(failed_module["name"], "Scanned", "{module}: {scan}");
                let reason = failed_module["reason"].as_str().expect("a reason");
                assert!(reason.contains(expected), "{module}: {reason}");
                module
            }
            Self::Render(name, expected) => {
                expected.check(name, &plugins.render(&ids.instruments[name]).expect("an answer"));
                name
            }
            Self::Effect(name, expected) => {
                expected.check(name, &render_with_effect(plugins, ids, name, number));
                name
            }
        }
    }
}

fn check_nothing_left(plugins: &PluginService, descriptors: usize, when: &str) {
    let folder = plugins.folder.path();
    let entries = |name: &str| fs::read_dir(folder.join(name)).map_or(0, Iterator::count);
    let left = || {
        [
            ("processes", plugins.processes()),
            ("descriptors", plugins.descriptors().saturating_sub(descriptors + DESCRIPTORS_TOLERANCE)),
            ("mappings of shared memory", shared_memory_mappings(&plugins.service)),
            ("temporary files", entries("temporary")),
            ("home folders", entries("storage/plugin-homes")),
        ]
    };
    let is_clean = holds_within(GONE_WITHIN, || left().iter().all(|(_, count)| *count == 0));
    assert!(is_clean, "{when}: {:?}", left());
}

/// Counts the mappings of shared memory in the service.
fn shared_memory_mappings(service: &Service) -> usize {
    let maps = fs::read_to_string(format!("/proc/{}/maps", service.id())).expect("it runs");
    maps.lines().filter(|line| line.contains("/memfd:") || line.contains("/dev/shm/")).count()
}

//! Scans and renders with plugins that crash, hang, exit, start processes or exhaust memory.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::plugin_service::{PluginService, holds_within};
use crate::support::Service;

/// Time limit of a scan of one module, and of one answer of a hosted plugin.
const LIMIT_SECS: &str = "3";

/// Longest time of a use: the limit twice, because a crashed plugin gets a second try, and the time
/// that a busy machine needs to start and end processes.
const USE_MAX: Duration = Duration::from_secs(30);

/// Longest time of another request during these uses, on a busy machine.
const OTHER_REQUEST_MAX: Duration = Duration::from_secs(5);

/// How long the last processes and files of a plugin may remain after a use.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// Number of uses between checks that nothing is left.
const CHECK_INTERVAL: usize = 25;

/// Number of descriptors by which connections of the database and of HTTP may differ.
const DESCRIPTORS_TOLERANCE: usize = 5;

/// Path of the module that is scanned, in the plugin folder. Each scan replaces the module. It has
/// a folder of its own, because a VST2 module beside it would be ignored.
const SCANNED: &str = "scanned/Scanned.vst3";

/// A use of a faulty plugin.
enum Use {
    /// Scans a module of `tests/plugins`. The reason why it fails contains this text.
    Scan(&'static str, &'static str),
    /// Renders with an instrument of `vst2_misbehaving_synth`. The answer has one of these
    /// statuses.
    Render(&'static str, &'static [u16]),
}

/// The plugin works in spite of its fault, or its output or memory exceeds a limit.
const MAY_WORK: &[u16] = &[200, 422, 502];

/// The uses, which are repeated in this order.
const USES: &[Use] = &[
    Use::Scan("crash", "SIGSEGV"),
    Use::Render("Crashes", &[502]),
    Use::Scan("hang", "within 3 seconds"),
    Use::Render("Aborts", &[502]),
    Use::Scan("leave", "exit status: 0"),
    Use::Render("Exits", &[502]),
    Use::Scan("clinging", "SIGABRT"),
    Use::Render("Forks", MAY_WORK),
    Use::Scan("hungry", "SIGABRT"),
    Use::Render("Starts Daemon", MAY_WORK),
    Use::Scan("stray", "within 3 seconds"),
    Use::Render("Hangs", &[504]),
    Use::Render("Kills Its Supervisor", MAY_WORK),
    Use::Render("Leaks", MAY_WORK),
    Use::Render("Prints", MAY_WORK),
    Use::Render("Not a Number", MAY_WORK),
    Use::Render("Thousand Channels", MAY_WORK),
    Use::Render("Slow", MAY_WORK),
    Use::Render("Late Latency", MAY_WORK),
];

/// Uses faulty plugins `count` times in a row, while another client sends requests. Checks that no
/// process, descriptor, shared memory or file is left.
pub(crate) fn use_faulty_plugins(count: usize) {
    let settings = [("SF_PLUGIN_ANSWER_MAX_SECS", LIMIT_SECS), ("SF_PLUGIN_SCAN_MAX_SECS", LIMIT_SECS)];
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so", &settings);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let other_client = scope.spawn(|| send_others(&plugins.service, &done));
        // The scope joins the other client even if an assertion fails.
        let _stop = StopOnDrop(&done);
        let slowest = repeat_uses(&plugins, count);
        done.store(true, Ordering::Relaxed);
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

/// Sends requests until `done`. Returns their number and the time of the slowest.
fn send_others(service: &Service, done: &AtomicBool) -> (usize, Duration) {
    let (mut requests, mut slowest) = (0, Duration::ZERO);
    while !done.load(Ordering::Relaxed) {
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
    let ids = USES.iter().filter_map(|each| match each {
        Use::Render(name, _) => Some((*name, plugins.id_of(name))),
        Use::Scan(..) => None,
    });
    let ids: HashMap<_, _> = ids.collect();
    for (number, each) in USES.iter().cycle().take(count).enumerate() {
        let started_at = Instant::now();
        let name = each.carry_out(plugins, &ids);
        let elapsed = started_at.elapsed();
        assert!(elapsed < USE_MAX, "use {number}, {name}: {elapsed:?}");
        slowest = slowest.max(elapsed);
        if (number + 1) % CHECK_INTERVAL == 0 || number + 1 == count {
            // The first uses open the connections of the database, which stay open.
            let before = *descriptors.get_or_insert_with(|| {
                holds_within(GONE_WITHIN, || plugins.processes() == 0);
                plugins.descriptors()
            });
            check_nothing_left(plugins, before, &format!("after {} uses", number + 1));
        }
    }
    slowest
}

impl Use {
    /// Uses the plugin, and checks the answer. Returns the name of the plugin.
    fn carry_out(&self, plugins: &PluginService, ids: &HashMap<&str, String>) -> &'static str {
        match *self {
            Self::Scan(module, expected) => {
                plugins.install(module, SCANNED);
                let scan = plugins.service.expect(200, "POST", "/api/v1/plugins/scan", &[], &Value::Null);
                let failed = &scan["unclassified"][0];
                assert_eq!(failed["name"], "Scanned", "{module}: {scan}");
                let reason = failed["reason"].as_str().expect("a reason");
                assert!(reason.contains(expected), "{module}: {reason}");
                module
            }
            Self::Render(name, expected) => {
                let answer = plugins.render(&ids[name]).expect("an answer");
                assert!(expected.contains(&answer.status), "{name}: {} {}", answer.status, answer.head);
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

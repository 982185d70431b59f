//! Plugins leave no process, descriptor or file behind, even if the service is killed.

use std::fs;
use std::time::Duration;

use crate::plugin_service::{PluginService, holds_within};
use crate::support::Service;

/// Maximum lifetime of plugin processes after the service was killed.
const GONE_WITHIN: Duration = Duration::from_secs(2);

/// Maximum time in which a service stops.
const STOPPED_WITHIN: Duration = Duration::from_secs(10);

/// Settings that keep a plugin that hangs alive until the test ends the service.
const LONG_ANSWER_LIMIT: &[(&str, &str)] = &[("SF_PLUGIN_ANSWER_MAX_SECS", "20")];

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
    let plugins = PluginService::start("stray", "Stray.vst3", LONG_ANSWER_LIMIT);
    // The supervisor, the scan, and the process that the module started in a new session.
    let scan = || {
        plugins.service.call("POST", "/api/v1/plugins/scan", &[], "");
    };
    signal_during(&plugins, 3, scan, "KILL", GONE_WITHIN);
}

#[test]
fn a_killed_service_leaves_no_process_of_a_hosted_plugin() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so", LONG_ANSWER_LIMIT);
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
fn a_killed_service_leaves_no_process_that_a_hosted_plugin_has_started() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so", LONG_ANSWER_LIMIT);
    let id = plugins.id_of("Starts Daemon and Hangs");
    let render = || {
        plugins.render(&id);
    };
    // The supervisor, the host, and the process that the plugin started in a new session.
    signal_during(&plugins, 3, render, "KILL", GONE_WITHIN);
}

#[test]
fn a_plugin_cannot_end_its_supervisor() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so", LONG_ANSWER_LIMIT);
    let id = plugins.id_of("Kills Its Supervisor");
    assert_eq!(plugins.render(&id).expect("an answer").status, 200);
    assert!(holds_within(GONE_WITHIN, || plugins.processes() == 0), "{} are left", plugins.processes());
}

#[test]
fn a_stopped_service_ends_a_plugin_that_hangs() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so", LONG_ANSWER_LIMIT);
    let id = plugins.id_of("Hangs");
    let render = || {
        plugins.render(&id);
    };
    signal_during(&plugins, 2, render, "TERM", STOPPED_WITHIN);
}

#[test]
fn fifty_renders_with_faulty_plugins_leave_no_descriptor() {
    let plugins = PluginService::start("vst2_misbehaving_synth", "faults.so", LONG_ANSWER_LIMIT);
    let ids = ["Crashes", "Exits", "Forks", "Starts Daemon", "Aborts"].map(|name| plugins.id_of(name));
    for id in &ids {
        plugins.render(id).expect("an answer");
    }
    let descriptors_before = plugins.descriptors();
    for id in ids.iter().cycle().take(50) {
        plugins.render(id).expect("an answer");
    }
    // Connections of the database and of HTTP may differ by a few.
    let is_steady = holds_within(Duration::from_secs(10), || plugins.descriptors() <= descriptors_before + 5);
    assert!(is_steady, "{descriptors_before} descriptors became {}", plugins.descriptors());
    assert!(holds_within(GONE_WITHIN, || plugins.processes() == 0), "{} are left", plugins.processes());
}

//! Which crate may use which, checked against what cargo knows.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Which of our crates each crate may use. What is not listed is forbidden.
const LAW: &[(&str, &[&str])] = &[
    ("dsp-core", &[]),
    ("schemas", &["dsp-core"]),
    ("dsp-wasm", &["dsp-core", "schemas"]),
    ("songfoundry-bridge-protocol", &[]),
    ("songfoundry-bridge", &["songfoundry-bridge-protocol"]),
    ("songfoundry-server", &["dsp-core", "schemas", "songfoundry-bridge-protocol"]),
    ("songfoundry-tests", &[]),
    ("songfoundry-test-plugins", &[]),
    ("songfoundry-power-cut", &[]),
    ("songfoundry-bench", &["dsp-core", "schemas", "songfoundry-server"]),
];

/// Crates that the engine must never reach: it knows no JSON, network, clocks or logging.
const FOREIGN_TO_THE_ENGINE: &[&str] = &["serde_json", "tokio", "axum", "tracing", "log", "time", "chrono"];

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(super::ROOT)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// Names of each package's dependencies, development ones left out.
fn dependencies(metadata: &serde_json::Value) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let names = package["dependencies"].as_array().expect("dependencies").iter();
            let names = names.filter(|dependency| dependency["kind"] != "dev");
            let names = names.filter_map(|dependency| dependency["name"].as_str()).map(str::to_owned);
            (package["name"].as_str().expect("a name").to_owned(), names.collect())
        })
        .collect()
}

#[test]
fn crates_know_only_whom_they_may_know() {
    let dependencies = dependencies(&metadata());
    let ours: BTreeSet<&str> = LAW.iter().map(|(name, _)| *name).collect();
    for (name, allowed) in LAW {
        let used = dependencies.get(*name).unwrap_or_else(|| panic!("{name} is not in the workspace"));
        for used in used.iter().filter(|used| ours.contains(used.as_str())) {
            assert!(allowed.contains(&used.as_str()), "{name} must not use {used}");
        }
    }
}

#[test]
fn every_member_is_under_the_law() {
    let metadata = metadata();
    let members = metadata["workspace_members"].as_array().expect("members").len();
    assert_eq!(members, LAW.len(), "a crate of the workspace is missing from the law");
}

#[test]
fn the_engine_reaches_nothing_foreign() {
    let dependencies = dependencies(&metadata());
    for (name, used) in [("dsp-core", &dependencies["dsp-core"])] {
        for foreign in FOREIGN_TO_THE_ENGINE {
            assert!(!used.contains(*foreign), "{name} must not use {foreign}");
        }
    }
}

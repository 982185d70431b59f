//! Checks the allowed dependencies of the crates with `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The crates of the workspace that each crate may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("dsp-core", &[]),
    ("schemas", &["dsp-core"]),
    ("dsp-wasm", &["dsp-core", "schemas"]),
    ("dsp-wasm-bindings", &[]),
    ("songfoundry-bridge-protocol", &[]),
    ("songfoundry-bridge", &["songfoundry-bridge-protocol"]),
    ("songfoundry-server", &["dsp-core", "schemas", "songfoundry-bridge-protocol"]),
    ("songfoundry-tests", &[]),
    ("songfoundry-test-plugins", &[]),
    ("songfoundry-power-cut", &[]),
    ("songfoundry-bench", &["dsp-core", "schemas", "songfoundry-bridge-protocol", "songfoundry-server"]),
];

/// Crates that the engine must not use, because it has no JSON, network, clocks or logging.
const FORBIDDEN_IN_THE_ENGINE: &[&str] = &["serde_json", "tokio", "axum", "tracing", "log", "time", "chrono"];

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(super::ROOT)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// Returns the names of each package's dependencies, without development dependencies.
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
fn crates_use_only_allowed_crates() {
    let dependencies = dependencies(&metadata());
    let workspace_crates: BTreeSet<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    for (name, allowed_crates) in ALLOWED {
        let used = dependencies.get(*name).unwrap_or_else(|| panic!("{name} is not in the workspace"));
        for used in used.iter().filter(|used| workspace_crates.contains(used.as_str())) {
            assert!(allowed_crates.contains(&used.as_str()), "{name} must not use {used}");
        }
    }
}

#[test]
fn every_crate_of_the_workspace_has_a_rule() {
    let metadata = metadata();
    let members = metadata["workspace_members"].as_array().expect("members").len();
    assert_eq!(members, ALLOWED.len(), "a crate of the workspace has no rule");
}

#[test]
fn the_engine_uses_no_forbidden_crate() {
    let dependencies = dependencies(&metadata());
    for (name, used) in [("dsp-core", &dependencies["dsp-core"])] {
        for forbidden in FORBIDDEN_IN_THE_ENGINE {
            assert!(!used.contains(*forbidden), "{name} must not use {forbidden}");
        }
    }
}

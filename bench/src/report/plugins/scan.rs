//! Measures scans of all installed plugins by the service.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use super::super::service::Service;
use super::super::{Goal, print_figure};
use super::Args;
use crate::stats::median;

/// The folders of plugins of Debian packages.
const FOLDERS: [&str; 3] = ["/usr/lib/vst", "/usr/lib/vst3", "/usr/lib/lxvst"];

/// Goal for the first scan, per plugin: the user waits 5 seconds for 100 plugins.
const PLUGIN_MS_MAX: f64 = 50.0;

/// Goal for a later scan: shorter than what users notice as an interruption (J. Nielsen, "Usability
/// Engineering", 1993, section 5.5).
const CACHED_SECS_MAX: f64 = 1.0;

/// The result of a scan of all folders.
struct Scanned {
    secs: f64,
    plugins: u64,
    unclassified: usize,
}

fn scan(agent: &Agent, url: &str, bearer: &str) -> anyhow::Result<Scanned> {
    let request = agent.post(format!("{url}/api/v1/plugins/scan")).header("Authorization", bearer);
    let start = Instant::now();
    let answer: Value = request.send_empty()?.body_mut().read_json()?;
    Ok(Scanned {
        secs: start.elapsed().as_secs_f64(),
        plugins: answer["vst_found"].as_u64().context("the scan was answered without `vst_found`")?,
        unclassified: answer["unclassified"].as_array().map_or(0, Vec::len),
    })
}

/// Scans all folders with a new service, and then again.
fn scans(args: &Args, storage: &Path) -> anyhow::Result<[Scanned; 2]> {
    let mut command = Command::new(&args.songfoundry);
    let service = Service::start(command.env("SF_BRIDGE", &args.bridge), storage)?;
    let (agent, url) = (Agent::new_with_defaults(), &service.url);
    let answer: Value =
        agent.post(format!("{url}/api/v1/auth/local")).send_empty()?.body_mut().read_json()?;
    let token = answer["access_token"].as_str().context("the log-in was answered without a token")?;
    let bearer = format!("Bearer {token}");
    for folder in FOLDERS {
        let request = agent.post(format!("{url}/api/v1/plugins/dirs")).header("Authorization", &bearer);
        request.send_json(json!({ "path": folder })).with_context(|| format!("cannot add {folder}"))?;
    }
    Ok([scan(&agent, url, &bearer)?, scan(&agent, url, &bearer)?])
}

/// Prints the times of a first and of a second scan.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let (mut cold_secs, mut cached_secs) = (Vec::new(), Vec::new());
    let (mut plugins, mut unclassified) = (0, 0);
    for run_number in 0..args.runs {
        let [cold, cached] = scans(args, &folder.join(format!("scan-{run_number}")))?;
        ensure!(cold.plugins > 0 && cold.plugins == cached.plugins, "the scans found different plugins");
        cold_secs.push(cold.secs);
        cached_secs.push(cached.secs);
        (plugins, unclassified) = (cold.plugins, cold.unclassified);
    }
    let [cold_secs, cached_secs] = [cold_secs, cached_secs].map(|secs| median(secs).unwrap_or(f64::NAN));
    println!(
        "Scans of {} by the service: {plugins} plugins, of which {unclassified} are unclassified.",
        FOLDERS.join(", ")
    );
    print_figure("first scan", cold_secs, "s", None);
    let plugin_ms = cold_secs * 1e3 / plugins as f64;
    print_figure("  per plugin", plugin_ms, "ms", Some(Goal::AtMost(PLUGIN_MS_MAX)));
    print_figure("later scan without changes", cached_secs, "s", Some(Goal::AtMost(CACHED_SECS_MAX)));
    Ok(())
}

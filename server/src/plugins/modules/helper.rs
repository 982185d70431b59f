//! Runs the plugin helper on a module, reads the helper's records, and ends it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::ChildStdout;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use songfoundry_bridge_protocol::{ScanRecord, ScannedPlugin};

use super::printed::Printed;
use crate::config::PluginsConfig;
use crate::helper_processes::Helpers;
use crate::helper_processes::bridge::{Bridge, BridgeCommand, BridgeProcess, Exit};

/// Interval between checks whether the helper has ended or a user has requested its end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum number of bytes that are read from a helper.
const OUTPUT_MAX_BYTES: u64 = 4 << 20;

/// The plugins of a module, as found by a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ScanResult {
    pub(super) plugins: Vec<ScannedPlugin>,
    /// Reason why the scan failed or is incomplete.
    pub(super) problem: Option<String>,
    /// Time limit of this module's scans, in seconds, if a user has set one.
    #[serde(default)]
    pub(super) max_secs: Option<u64>,
}

/// Result of a scan.
#[derive(Debug)]
pub(super) enum ScanOutcome {
    /// The scan ended. Its result is valid until the module changes.
    Scanned(ScanResult),
    /// The module was not scanned, with the reason: the helper could not be started, or a user
    /// ended the helper.
    NotScanned(String),
}

/// The program that scans modules.
#[derive(Debug)]
pub(super) struct Helper {
    bridge: Bridge,
    /// Default time limit of a scan, in seconds.
    default_max_secs: u64,
}

impl Helper {
    pub(super) fn new(config: &PluginsConfig, helpers: Helpers) -> Self {
        Self { bridge: Bridge::new(config.bridge.clone(), helpers), default_max_secs: config.scan_max_secs }
    }

    /// Scans a module, which gets `home` as its home folder, for at most `max_secs` if it is set.
    /// Blocks until the helper has answered or is ended.
    pub(super) fn scan(&self, module: &Path, home: &Path, max_secs: Option<u64>) -> ScanOutcome {
        match self.run(module, home, max_secs.unwrap_or(self.default_max_secs)) {
            ScanOutcome::Scanned(result) => ScanOutcome::Scanned(ScanResult { max_secs, ..result }),
            not_scanned @ ScanOutcome::NotScanned(_) => not_scanned,
        }
    }

    fn run(&self, module: &Path, home: &Path, max_secs: u64) -> ScanOutcome {
        let started = self.bridge.start("plugin scan", BridgeCommand::Scan(module), home);
        let started = started.and_then(|mut process| {
            let printed_text = Printed::read(process.take_printed())?;
            let records = read_records(process.take_output())?;
            Ok((process, printed_text, records))
        });
        let (mut process, printed_text, records) = match started {
            Ok(started) => started,
            Err(error) => {
                let program = self.bridge.program().display();
                return ScanOutcome::NotScanned(format!(
                    "the plugin helper {program} cannot be started: {error}"
                ));
            }
        };
        let failed = |problem: String| {
            let problem = match printed_text.cause() {
                Some(cause) => format!("{problem}; {cause}"),
                None => problem,
            };
            ScanOutcome::Scanned(ScanResult { problem: Some(problem), ..ScanResult::default() })
        };
        let deadline = Instant::now() + Duration::from_secs(max_secs);
        let mut result = ScanResult::default();
        let mut helper_had_ended = false;
        loop {
            match records.recv_timeout(POLL_INTERVAL) {
                Ok(ScanRecord::Plugin(plugin)) => result.plugins.push(plugin),
                Ok(ScanRecord::Failed { reason }) => result.problem = Some(reason),
                Ok(ScanRecord::End { plugins: 0 })
                    if result.plugins.is_empty() && result.problem.is_some() =>
                {
                    return failed(result.problem.unwrap_or_default());
                }
                Ok(ScanRecord::End { plugins }) if result.plugins.len() == plugins as usize => {
                    return ScanOutcome::Scanned(result);
                }
                Ok(ScanRecord::End { plugins }) => {
                    return failed(format!(
                        "the plugin helper reported {plugins} plugins but described {}; scan again",
                        result.plugins.len()
                    ));
                }
                Err(RecvTimeoutError::Disconnected) => return failed(end_early(&mut process)),
                // The helper has ended, so all of its records have arrived by now. A process that
                // the module started may still keep the pipe open.
                Err(RecvTimeoutError::Timeout) if helper_had_ended => return failed(end_early(&mut process)),
                Err(RecvTimeoutError::Timeout) => helper_had_ended = process.has_ended(),
            }
            if process.is_to_end() {
                return ScanOutcome::NotScanned(
                    "the plugin helper was ended by a user; scan again".to_owned(),
                );
            }
            if Instant::now() > deadline {
                return failed(format!(
                    "the module hung: its scan did not end within {max_secs} seconds; scan it again with a longer \
                     limit (`max_secs`)"
                ));
            }
        }
    }
}

/// Reads the records of a helper in a thread. The returned channel closes when the pipe does. The
/// thread is not joined, because a process that the module started may keep the pipe open.
fn read_records(output: Option<ChildStdout>) -> std::io::Result<Receiver<ScanRecord>> {
    let (sender, records) = mpsc::channel();
    std::thread::Builder::new().name("plugin-scan".to_owned()).spawn(move || {
        let Some(output) = output else { return };
        for line in BufReader::new(output.take(OUTPUT_MAX_BYTES)).split(b'\n') {
            let Ok(line) = line else { break };
            // Lines that are not records, such as output of the module, are ignored.
            if let Ok(record) = serde_json::from_slice(&line)
                && sender.send(record).is_err()
            {
                break;
            }
        }
    })?;
    Ok(records)
}

/// Ends the helper. Returns the reason why its `End` record is missing.
fn end_early(process: &mut BridgeProcess) -> String {
    match process.end_after_output() {
        Some(Exit::Signal(signal)) => format!("the module crashed during the scan ({signal})"),
        Some(Exit::Status(status)) => format!("the module ended the plugin helper ({status})"),
        None => "the module closed the output of the plugin helper and kept running".to_owned(),
    }
}

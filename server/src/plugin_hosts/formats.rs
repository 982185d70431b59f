//! Asks the program that hosts plugins which formats it can host (`songfoundry-bridge
//! capabilities`).

use std::process::Stdio;
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::{Capabilities, PluginFormat};
use tokio::io::AsyncReadExt as _;
use tokio::sync::Mutex;

use super::error::HostError;
use crate::helper_processes::bridge::Bridge;

/// Time for which an answer of the program is cached. An administrator may install the program
/// later.
const VALID_FOR: Duration = Duration::from_secs(60);

/// Time limit for the program's answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum length of the program's answer in bytes.
const ANSWER_MAX_BYTES: u64 = 64 * 1024;

/// The formats that the program can host, or the reason why it cannot be started.
type Answer = Result<Vec<PluginFormat>, String>;

/// The last answer of the program. One caller asks the program; others wait for its answer.
#[derive(Debug, Default)]
pub(super) struct Formats(Mutex<Option<(Instant, Answer)>>);

impl Formats {
    /// Returns the formats.
    ///
    /// # Errors
    /// [`HostError::NotStarted`] if the program cannot be started.
    pub(super) async fn get(&self, bridge: &Bridge) -> Result<Vec<PluginFormat>, HostError> {
        let mut last = self.0.lock().await;
        let answer = match last.as_ref().filter(|(asked_at, _)| asked_at.elapsed() < VALID_FOR) {
            Some((_, answer)) => answer.clone(),
            None => {
                let answer = tokio::time::timeout(TIMEOUT, ask(bridge)).await.unwrap_or_else(|_| {
                    Err(format!(
                        "it did not answer the command `capabilities` within {} seconds",
                        TIMEOUT.as_secs()
                    ))
                });
                last.insert((Instant::now(), answer)).1.clone()
            }
        };
        answer.map_err(|reason| HostError::NotStarted {
            program: bridge.program().display().to_string(),
            reason,
        })
    }
}

async fn ask(bridge: &Bridge) -> Answer {
    let mut command = tokio::process::Command::from(bridge.command());
    command.arg("capabilities").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child =
        command.kill_on_drop(true).spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let mut text = Vec::new();
    if let Some(output) = child.stdout.take() {
        output.take(ANSWER_MAX_BYTES).read_to_end(&mut text).await.map_err(|error| error.to_string())?;
    }
    let capabilities: Capabilities = serde_json::from_slice(&text)
        .map_err(|error| format!("its answer to the command `capabilities` is invalid: {error}"))?;
    Ok(capabilities.formats)
}

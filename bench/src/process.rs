//! What whole processes use.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

/// What a process used from its start to its end, and its children with it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Used {
    /// Seconds of processor time, of the program and of the system for it.
    pub(crate) cpu_secs: f64,
    /// Largest part of its memory that was ever present, in bytes.
    pub(crate) peak_bytes: u64,
}

fn secs(time: TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6
}

fn cpu_secs(usage: &Usage) -> f64 {
    secs(usage.user_time()) + secs(usage.system_time())
}

/// Seconds of processor time that this process has used so far.
pub(crate) fn own_cpu_secs() -> anyhow::Result<f64> {
    Ok(cpu_secs(&getrusage(UsageWho::RUSAGE_SELF)?))
}

/// Runs a command as this process's only child, and prints what it used as JSON.
pub(crate) fn run(command: &[String]) -> anyhow::Result<()> {
    let (program, args) = command.split_first().context("a command")?;
    let status = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("`{program}` does not start"))?;
    if !status.success() {
        bail!("`{}` failed: {status}", command.join(" "));
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    // Linux counts in kibibytes.
    let peak_bytes = u64::try_from(usage.max_rss()).unwrap_or(0) * 1024;
    println!("{}", serde_json::to_string(&Used { cpu_secs: cpu_secs(&usage), peak_bytes })?);
    Ok(())
}

/// Runs a command through a measuring process of its own.
pub(crate) fn measured(command: &[&str]) -> anyhow::Result<Used> {
    let own = std::env::current_exe()?;
    let mut args = vec!["measure", "--"];
    args.extend_from_slice(command);
    json(Command::new(own).args(args))
}

/// Runs one of this program's own commands and reads the JSON that it prints.
pub(crate) fn own<T: for<'de> Deserialize<'de>>(args: &[&str]) -> anyhow::Result<T> {
    json(Command::new(std::env::current_exe()?).args(args))
}

/// Runs a command and reads the JSON of its last line.
pub(crate) fn json<T: for<'de> Deserialize<'de>>(command: &mut Command) -> anyhow::Result<T> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("{command:?} does not start"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = said.lines().rev().take(5).collect();
        bail!("{command:?} failed: {}", last.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().next_back().with_context(|| format!("{command:?} printed nothing"))?;
    serde_json::from_str(line).with_context(|| format!("{command:?} printed `{line}`"))
}

/// A path as text; the paths of a bench are all ordinary ones.
pub(crate) fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{} is not readable text", path.display()))
}

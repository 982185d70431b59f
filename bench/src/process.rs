//! Runs processes and measures the time and memory that they use.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

/// Resources that a finished process and its children used.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ResourceUsage {
    /// Seconds of processor time, user and system.
    pub(crate) cpu_secs: f64,
    /// Seconds from the start to the end.
    pub(crate) wall_secs: f64,
    /// Peak resident memory of the largest process in bytes.
    pub(crate) peak_bytes: u64,
}

fn secs(time: TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6
}

fn cpu_secs(usage: &Usage) -> f64 {
    secs(usage.user_time()) + secs(usage.system_time())
}

/// Returns the processor time of this process so far, in seconds.
pub(crate) fn process_cpu_secs() -> anyhow::Result<f64> {
    Ok(cpu_secs(&getrusage(UsageWho::RUSAGE_SELF)?))
}

/// Runs a command as this process's only child, and prints the resources that it used as JSON.
pub(crate) fn run(command: &[String]) -> anyhow::Result<()> {
    let (program, args) = command.split_first().context("the command is missing")?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot start `{program}`"))?;
    if !status.success() {
        bail!("`{}` failed: {status}", command.join(" "));
    }
    let wall_secs = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    // The unit of Linux is the kibibyte (getrusage(2)).
    let peak_bytes = u64::try_from(usage.max_rss()).unwrap_or(0) * 1024;
    let usage = ResourceUsage { cpu_secs: cpu_secs(&usage), wall_secs, peak_bytes };
    println!("{}", serde_json::to_string(&usage)?);
    Ok(())
}

/// Measures a command. A separate `measure` process runs it as its only child.
pub(crate) fn measure(command: &[&str]) -> anyhow::Result<ResourceUsage> {
    let program = std::env::current_exe()?;
    let mut args = vec!["measure", "--"];
    args.extend_from_slice(command);
    run_json(Command::new(program).args(args))
}

/// Runs a subcommand of this program and reads the JSON that it prints.
pub(crate) fn run_subcommand<T: for<'de> Deserialize<'de>>(args: &[&str]) -> anyhow::Result<T> {
    run_json(Command::new(std::env::current_exe()?).args(args))
}

/// Runs a command and reads the JSON in its last line of output.
pub(crate) fn run_json<T: for<'de> Deserialize<'de>>(command: &mut Command) -> anyhow::Result<T> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last_lines: Vec<&str> = stderr.lines().rev().take(5).collect();
        bail!("{command:?} failed: {}", last_lines.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().next_back().with_context(|| format!("{command:?} printed nothing"))?;
    serde_json::from_str(line).with_context(|| format!("{command:?} printed `{line}`"))
}

/// Returns a path as text.
pub(crate) fn path_text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("the path {} is not UTF-8", path.display()))
}

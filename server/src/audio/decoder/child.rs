//! The process that decodes one file, or looks into some: `songfoundry decode`.
//!
//! Its first line of input is an [`Order`]; its output is lines of JSON, the last of them the
//! outcome. It ends when its input ends, because nobody waits for its result then.

use std::io::{BufRead as _, Read as _, Write as _};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::exit;
use std::time::{Duration, Instant};

use super::{Message, Order};
use crate::audio::decode::{self, Job, Limits, Refusal};

/// Most memory that the process may map, in bytes.
const MEMORY_MAX_BYTES: u64 = 3 << 29;

/// Exit code of a process that ended itself because its time was over.
pub(super) const TIME_IS_OVER: i32 = 75;

/// Processor time after which the system kills a process that SIGXCPU did not end, in seconds.
#[cfg(unix)]
const KILLED_AFTER_SECS: u64 = 5;

/// Longest time that one process looks into files, in seconds.
pub(super) const INSPECTION_SECS: u64 = 20;

/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Reads the job from standard input, does it and prints the outcome.
///
/// # Errors
/// When there is no job, or the limits cannot be set or the threads not be started.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    match serde_json::from_str(&line)? {
        Order::Decode(job) => decode(job),
        Order::Inspect(files) => inspect(&files),
    }
}

fn decode(job: Job) -> anyhow::Result<()> {
    limit(&job.limits)?;
    end_with_parent(job.limits.wall_secs)?;
    let mut reported = Instant::now();
    let outcome = catch_unwind(move || {
        decode::decode(&job, &mut |share| {
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                print(&Message::Progress(share.clamp(0.0, 1.0)));
            }
        })
    });
    let crashed =
        |_| Err(Refusal::Malformed("is damaged in a way that the decoder does not stand".to_owned()));
    print(&match outcome.unwrap_or_else(crashed) {
        Ok(report) => Message::Done(report),
        Err(refusal) => Message::Refused(refusal),
    });
    Ok(())
}

fn inspect(files: &[PathBuf]) -> anyhow::Result<()> {
    let wall_secs = INSPECTION_SECS;
    limit(&Limits { max_secs: 0, max_channels: 0, max_output_bytes: 0, wall_secs })?;
    end_with_parent(wall_secs)?;
    for file in files {
        print(&Message::Inspected(catch_unwind(|| decode::inspect(file)).unwrap_or_default()));
    }
    Ok(())
}

fn print(message: &Message) {
    let Ok(text) = serde_json::to_string(message) else { return };
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        // Nobody listens any more.
        exit(1);
    }
}

/// Ends this process when its input ends, or when its time is over.
fn end_with_parent(wall_secs: u64) -> std::io::Result<()> {
    std::thread::Builder::new().spawn(|| {
        let mut nothing = [0; 16];
        while std::io::stdin().lock().read(&mut nothing).is_ok_and(|count| count > 0) {}
        exit(1);
    })?;
    std::thread::Builder::new().spawn(move || {
        std::thread::sleep(Duration::from_secs(wall_secs));
        exit(TIME_IS_OVER);
    })?;
    Ok(())
}

/// Takes away what decoding does not need.
#[cfg(unix)]
fn limit(limits: &Limits) -> anyhow::Result<()> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let output_bytes = limits.max_output_bytes.saturating_add(1 << 20);
    let cpu_secs = limits.wall_secs;
    for (resource, most, hard) in [
        (Resource::RLIMIT_AS, MEMORY_MAX_BYTES, MEMORY_MAX_BYTES),
        // SIGXCPU at the first limit says why it ended; SIGKILL at the second could come from
        // anybody.
        (Resource::RLIMIT_CPU, cpu_secs, cpu_secs.saturating_add(KILLED_AFTER_SECS)),
        (Resource::RLIMIT_FSIZE, output_bytes, output_bytes),
        (Resource::RLIMIT_NOFILE, 64, 64),
        (Resource::RLIMIT_CORE, 0, 0),
    ] {
        // A service that has lower limits itself cannot raise them.
        let (_, allowed) = getrlimit(resource)?;
        setrlimit(resource, most.min(allowed), hard.min(allowed))?;
    }
    Ok(())
}

/// Elsewhere the time alone is limited.
#[cfg(not(unix))]
fn limit(_: &Limits) -> anyhow::Result<()> {
    Ok(())
}

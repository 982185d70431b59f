//! The process that decodes one file, or reads the headers of several: `songfoundry decode`.
//!
//! The first line of its input is a [`Request`]. Its output is lines of JSON: the progress and the
//! outcome of decoding, or one line for each inspected file. The process exits when its input ends,
//! because its result is no longer needed.

use std::io::{BufRead as _, Write as _};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::exit;
use std::time::{Duration, Instant};

use super::{Message, Request};
use crate::audio::decode::{self, Job, Refusal};
use crate::helper_processes::limits::{ResourceLimits, exit_after, exit_with_parent};
#[cfg(target_os = "linux")]
use crate::low_priority;

/// Maximum address space of the process, in bytes (768 MiB).
pub(super) const MEMORY_MAX_BYTES: u64 = 3 << 28;

/// Time limit of a process that reads headers, in seconds.
pub(super) const INSPECTION_SECS: u64 = 20;

/// Interval between progress messages.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Reads a request from standard input, executes it and prints the outcome.
///
/// # Errors
/// If there is no request, or a limit or thread cannot be set up.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut request_line = String::new();
    std::io::stdin().lock().read_line(&mut request_line)?;
    match serde_json::from_str(&request_line)? {
        Request::Decode(job) => decode(job),
        Request::Inspect(files) => inspect(&files),
    }
}

fn decode(job: Job) -> anyhow::Result<()> {
    limit(job.limits.wall_secs, job.limits.max_output_bytes)?;
    drop_priority_later()?;
    let mut last_report = Instant::now();
    let outcome = catch_unwind(move || {
        decode::decode(&job, &mut |fraction| {
            if last_report.elapsed() >= REPORT_EVERY {
                last_report = Instant::now();
                print(&Message::Progress(fraction.clamp(0.0, 1.0)));
            }
        })
    });
    let crash_result = |_| Err(Refusal::Malformed("is damaged: the decoder crashed".to_owned()));
    print(&match outcome.unwrap_or_else(crash_result) {
        Ok(report) => Message::Done(report),
        Err(refusal) => Message::Refused(refusal),
    });
    Ok(())
}

fn inspect(files: &[PathBuf]) -> anyhow::Result<()> {
    limit(INSPECTION_SECS, 0)?;
    for file in files {
        print(&Message::Inspected(catch_unwind(|| decode::inspect(file)).unwrap_or_default()));
    }
    Ok(())
}

fn print(message: &Message) {
    let Ok(text) = serde_json::to_string(message) else { return };
    let mut output = std::io::stdout().lock();
    if writeln!(output, "{text}").and_then(|()| output.flush()).is_err() {
        // Printing fails because the parent has exited.
        exit(1);
    }
}

/// Processor time after which a decoding process gets a lower priority, so that short files of
/// other users do not wait for it. On a busy machine, a short file needs more wall-clock time than
/// this limit, but not more processor time.
const PRIORITY_DROPS_AFTER: Duration = Duration::from_secs(2);

/// Shortest time after which the processor time is read again.
#[cfg(target_os = "linux")]
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The lower priority (`nice`). When it competes with a process of priority 0, the decoder still
/// gets a tenth of a processor. With the lowest priority (19), a busy machine would hardly decode
/// long files.
#[cfg(target_os = "linux")]
const LOWER_PRIORITY: i32 = 10;

/// Starts a thread that gives the calling thread [`LOWER_PRIORITY`] once this process has used
/// [`PRIORITY_DROPS_AFTER`].
#[cfg(target_os = "linux")]
fn drop_priority_later() -> std::io::Result<()> {
    let decoding_thread = rustix::thread::gettid();
    std::thread::Builder::new().spawn(move || {
        while let Some(left) = PRIORITY_DROPS_AFTER.checked_sub(processor_time()) {
            std::thread::sleep(left.max(CHECK_INTERVAL));
        }
        low_priority::lower(decoding_thread, LOWER_PRIORITY);
    })?;
    Ok(())
}

/// Returns the processor time that this process has used.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Does nothing, because only Linux has priorities of threads.
#[cfg(not(target_os = "linux"))]
fn drop_priority_later() -> std::io::Result<()> {
    Ok(())
}

/// Limits the system resources and the time of this process. It exits when its input ends.
fn limit(wall_secs: u64, output_bytes: u64) -> anyhow::Result<()> {
    let file_bytes = output_bytes.saturating_add(1 << 20);
    ResourceLimits { memory_bytes: MEMORY_MAX_BYTES, cpu_secs: wall_secs, file_bytes }.set()?;
    exit_with_parent()?;
    Ok(exit_after(wall_secs)?)
}

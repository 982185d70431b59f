//! Progress and interruption of a command.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use crate::listen::tls::Hangups;
use crate::serve::stop_signal;

/// Returns a flag that becomes true on Ctrl-C, on SIGTERM, or when the terminal is closed (SIGHUP).
/// These signals no longer end the process, so that it can remove an unfinished file first.
pub(super) fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signal = {
        let _context = runtime.enter();
        let (stop, hung_up) =
            stop_signal().and_then(|stop| Ok((stop, hangup()?))).context("cannot listen for signals")?;
        async move {
            tokio::select! {
                () = stop => {}
                () = hung_up => {}
            }
        }
    };
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let shared_flag = Arc::clone(&is_interrupted);
    std::thread::spawn(move || {
        runtime.block_on(signal);
        shared_flag.store(true, Ordering::Relaxed);
    });
    Ok(is_interrupted)
}

/// Completes when the terminal is closed, unless the process ignores that (`nohup`).
fn hangup() -> io::Result<impl Future<Output = ()>> {
    let mut hangups = if ignores_hangups() { None } else { Some(Hangups::listen()?) };
    Ok(async move {
        match &mut hangups {
            Some(hangups) => hangups.next().await,
            None => std::future::pending().await,
        }
    })
}

/// Whether this process ignores SIGHUP, according to the file `status` (proc_pid_status(5)).
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored_signals = status.lines().find_map(|status_line| status_line.strip_prefix("SigIgn:"));
    // The lowest bit represents signal 1.
    ignored_signals
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

/// Shows the progress on standard error: on a terminal as one line that is updated, otherwise as
/// one line for each quarter.
pub(super) struct Progress<'i> {
    step: &'static str,
    is_interrupted: &'i AtomicBool,
    is_terminal: bool,
    is_quiet: bool,
    shown_percent: u32,
}

impl<'i> Progress<'i> {
    /// Starts a step, such as `rendering`. `is_interrupted` is the flag of [`interruption`]. If
    /// `is_quiet` is true, nothing is shown.
    pub(super) fn new(step: &'static str, is_interrupted: &'i AtomicBool, is_quiet: bool) -> Self {
        Self { step, is_interrupted, is_terminal: io::stderr().is_terminal(), is_quiet, shown_percent: 0 }
    }

    /// Shows the progress, 0 to 1. Returns whether to continue.
    pub(super) fn show(&mut self, fraction: f64) -> bool {
        let percent = (fraction * 100.0) as u32;
        let step = if self.is_terminal { 1 } else { 25 };
        if !self.is_quiet && percent >= self.shown_percent + step {
            self.shown_percent = percent - percent % step;
            let (start, end) = if self.is_terminal { ("\r", "") } else { ("", "\n") };
            eprint!("{start}{} {:3} %{end}", self.step, self.shown_percent);
        }
        !self.is_interrupted.load(Ordering::Relaxed)
    }

    /// Ends the progress line on a terminal.
    pub(super) fn end(&self) {
        if self.is_terminal && self.shown_percent > 0 {
            eprintln!();
        }
    }
}

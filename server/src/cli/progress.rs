//! Progress and interruption of a command.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use crate::serve::stop_signal;

/// Returns a flag that becomes true on Ctrl-C or SIGTERM. These signals no longer end the process,
/// so that it can remove an unfinished file first.
pub(super) fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signal = {
        let _context = runtime.enter();
        stop_signal().context("cannot listen for signals")?
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&interrupted);
    std::thread::spawn(move || {
        runtime.block_on(signal);
        shared.store(true, Ordering::Relaxed);
    });
    Ok(interrupted)
}

/// Shows the progress on standard error: on a terminal as one line that is updated, otherwise as a
/// line for each quarter.
pub(super) struct Progress<'i> {
    step: &'static str,
    interrupted: &'i AtomicBool,
    is_terminal: bool,
    is_quiet: bool,
    shown_percent: u32,
}

impl<'i> Progress<'i> {
    /// Starts a step, such as `rendering`. `interrupted` is the flag of [`interruption`]. If
    /// `is_quiet` is true, nothing is shown.
    pub(super) fn new(step: &'static str, interrupted: &'i AtomicBool, is_quiet: bool) -> Self {
        Self { step, interrupted, is_terminal: io::stderr().is_terminal(), is_quiet, shown_percent: 0 }
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
        !self.interrupted.load(Ordering::Relaxed)
    }

    /// Ends the line on a terminal.
    pub(super) fn end(&self) {
        if self.is_terminal && self.shown_percent > 0 {
            eprintln!();
        }
    }
}

//! The timers and file descriptors that plugins on Linux register with the host.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use vst3::ComPtr;
use vst3::Steinberg::Linux::{IEventHandler, ITimerHandler};

use crate::host::plugin::{Descriptor, IdleWork};

/// Maximum numbers of timers and of descriptors.
const HANDLERS_MAX: usize = 256;

/// Shortest interval of a timer. Shorter intervals would keep a processor fully busy.
const INTERVAL_MIN: Duration = Duration::from_millis(5);

#[derive(Clone)]
struct Timer {
    handler: ComPtr<ITimerHandler>,
    interval: Duration,
    due: Instant,
}

#[derive(Default)]
struct Handlers {
    timers: Vec<Timer>,
    descriptors: Vec<(ComPtr<IEventHandler>, Descriptor)>,
}

/// The registered timers and file descriptors.
#[derive(Default)]
pub(super) struct RunLoop(Mutex<Handlers>);

impl RunLoop {
    fn handlers(&self) -> MutexGuard<'_, Handlers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a timer. Returns whether there was room for it.
    pub(super) fn add_timer(&self, handler: ComPtr<ITimerHandler>, interval: Duration) -> bool {
        let interval = interval.max(INTERVAL_MIN);
        let mut handlers = self.handlers();
        let has_room = handlers.timers.len() < HANDLERS_MAX;
        if has_room {
            handlers.timers.push(Timer { handler, interval, due: Instant::now() + interval });
        }
        has_room
    }

    /// Removes the timers with a handler. Returns whether there were any.
    pub(super) fn remove_timer(&self, handler: *mut ITimerHandler) -> bool {
        let mut handlers = self.handlers();
        let (removed_entries, kept_entries): (Vec<_>, Vec<_>) = std::mem::take(&mut handlers.timers)
            .into_iter()
            .partition(|timer| timer.handler.as_ptr() == handler);
        handlers.timers = kept_entries;
        // The handlers are released after the lock, because they may call the host.
        drop(handlers);
        !removed_entries.is_empty()
    }

    /// Registers a file descriptor. Returns whether there was room for it.
    pub(super) fn add_descriptor(&self, handler: ComPtr<IEventHandler>, descriptor: Descriptor) -> bool {
        let mut handlers = self.handlers();
        let has_room = handlers.descriptors.len() < HANDLERS_MAX;
        if has_room {
            handlers.descriptors.push((handler, descriptor));
        }
        has_room
    }

    /// Removes the descriptors with a handler. Returns whether there were any.
    pub(super) fn remove_descriptor(&self, handler: *mut IEventHandler) -> bool {
        let mut handlers = self.handlers();
        let (removed_entries, kept_entries): (Vec<_>, Vec<_>) = std::mem::take(&mut handlers.descriptors)
            .into_iter()
            .partition(|(registered_handler, _)| registered_handler.as_ptr() == handler);
        handlers.descriptors = kept_entries;
        drop(handlers);
        !removed_entries.is_empty()
    }

    /// Returns the registered descriptors and the time until the next timer.
    pub(super) fn work(&self) -> IdleWork {
        let handlers = self.handlers();
        let now = Instant::now();
        IdleWork {
            descriptors: handlers.descriptors.iter().map(|(_, descriptor)| *descriptor).collect(),
            timeout: handlers.timers.iter().map(|timer| timer.due.saturating_duration_since(now)).min(),
        }
    }

    /// Returns the handlers of timers that are due, and sets their next times.
    pub(super) fn due_timers(&self) -> Vec<ComPtr<ITimerHandler>> {
        let now = Instant::now();
        let mut handlers = self.handlers();
        let due = handlers.timers.iter_mut().filter(|timer| timer.due <= now);
        due.map(|timer| {
            timer.due = now + timer.interval;
            timer.handler.clone()
        })
        .collect()
    }

    /// Returns the handlers of descriptors that can be read.
    pub(super) fn handlers_of(&self, ready: &[Descriptor]) -> Vec<(ComPtr<IEventHandler>, Descriptor)> {
        let handlers = self.handlers();
        handlers.descriptors.iter().filter(|(_, descriptor)| ready.contains(descriptor)).cloned().collect()
    }
}

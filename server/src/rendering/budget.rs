//! Memory that renders reserve before they allocate it.
//!
//! A render that needs more than the whole budget is refused. The others wait for their turn, first
//! come, first served, so that all renders under way never need more than the budget together.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dsp_core::session::{MemoryNeed, Session, Slots};

use super::{Observer, RenderError};

/// Budget where nobody sets another one, in bytes, as in the settings table.
pub const DEFAULT_BYTES: u64 = 1024 * 1024 * 1024;

/// How often a waiting render asks whether it is still wanted.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Memory for renders.
#[derive(Debug)]
pub struct MemoryBudget {
    limit_bytes: u64,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    reserved_bytes: u64,
    next_ticket: u64,
    /// Tickets of the renders that wait.
    waiting: VecDeque<u64>,
}

/// Memory that a render has reserved; dropped, it is free again.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<MemoryBudget>,
    bytes: u64,
}

impl MemoryBudget {
    /// A budget of `limit_bytes`.
    #[must_use]
    pub fn new(limit_bytes: u64) -> Arc<Self> {
        Arc::new(Self { limit_bytes, queue: Mutex::default(), changed: Condvar::new() })
    }

    /// Estimates what a session needs and reserves it. Waits while other renders hold too much of
    /// the budget, as long as `observer` wants to go on.
    ///
    /// # Errors
    /// [`RenderError::TooMuchMemory`], [`RenderError::Cancelled`], or a session that cannot be
    /// played.
    pub fn reserve(
        self: &Arc<Self>,
        session: &Session,
        slots: Slots<'_>,
        observer: Observer<'_>,
    ) -> Result<Reservation, RenderError> {
        let need = session.memory_need(slots)?;
        if need.bytes() > self.limit_bytes {
            return Err(too_much(&need, self.limit_bytes));
        }
        self.reserve_bytes(need.bytes(), observer)
    }

    fn reserve_bytes(
        self: &Arc<Self>,
        bytes: u64,
        observer: Observer<'_>,
    ) -> Result<Reservation, RenderError> {
        let mut queue = self.lock();
        let ticket = queue.next_ticket;
        queue.next_ticket += 1;
        queue.waiting.push_back(ticket);
        loop {
            let is_next = queue.waiting.front() == Some(&ticket);
            if is_next && queue.reserved_bytes.saturating_add(bytes) <= self.limit_bytes {
                queue.waiting.pop_front();
                queue.reserved_bytes += bytes;
                self.changed.notify_all();
                return Ok(Reservation { budget: Arc::clone(self), bytes });
            }
            queue = self.changed.wait_timeout(queue, ASK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
            if !observer(0.0) {
                queue.waiting.retain(|waiting| *waiting != ticket);
                self.changed.notify_all();
                return Err(RenderError::Cancelled);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.lock().reserved_bytes -= self.bytes;
        self.budget.changed.notify_all();
    }
}

fn too_much(need: &MemoryNeed, limit_bytes: u64) -> RenderError {
    let largest = need.shares().first();
    RenderError::TooMuchMemory {
        needed_mib: mib(need.bytes()),
        limit_mib: mib(limit_bytes),
        largest: largest.map_or_else(String::new, |share| format!("{} {}", share.count, share.what)),
        largest_mib: largest.map_or(0, |share| mib(share.bytes)),
    }
}

fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1024 * 1024)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn renders_take_turns_and_never_hold_more_than_the_budget() {
        const RENDERS: usize = 8;
        let budget = MemoryBudget::new(100);
        let (held, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..RENDERS {
                scope.spawn(|| {
                    let reservation = budget.reserve_bytes(40, &mut |_| true).expect("its turn");
                    most.fetch_max(held.fetch_add(40, Ordering::SeqCst) + 40, Ordering::SeqCst);
                    thread::yield_now();
                    held.fetch_sub(40, Ordering::SeqCst);
                    drop(reservation);
                });
            }
        });
        assert!((40..=80).contains(&most.load(Ordering::SeqCst)));
        assert_eq!(budget.lock().reserved_bytes, 0);
    }

    #[test]
    fn a_small_render_does_not_overtake_a_large_one_that_waits() {
        let budget = MemoryBudget::new(100);
        let first = budget.reserve_bytes(60, &mut |_| true).expect("free");
        let (order, finished) = mpsc::channel();
        thread::scope(|scope| {
            let large = order.clone();
            let large_budget = &budget;
            scope.spawn(move || {
                let _reservation = large_budget.reserve_bytes(90, &mut |_| true).expect("its turn");
                large.send("large").expect("somebody listens");
            });
            while budget.lock().waiting.is_empty() {
                thread::yield_now();
            }
            let small_budget = &budget;
            scope.spawn(move || {
                let _reservation = small_budget.reserve_bytes(20, &mut |_| true).expect("its turn");
                order.send("small").expect("somebody listens");
            });
            while budget.lock().waiting.len() < 2 {
                thread::yield_now();
            }
            drop(first);
        });
        assert_eq!(finished.iter().collect::<Vec<_>>(), ["large", "small"]);
    }

    #[test]
    fn who_is_not_wanted_any_more_leaves_the_queue() {
        let budget = MemoryBudget::new(100);
        let first = budget.reserve_bytes(100, &mut |_| true).expect("free");
        let is_wanted = AtomicBool::new(true);
        thread::scope(|scope| {
            let waiting =
                scope.spawn(|| budget.reserve_bytes(1, &mut |_| is_wanted.load(Ordering::Relaxed)).is_err());
            is_wanted.store(false, Ordering::Relaxed);
            assert!(waiting.join().expect("no panic"));
        });
        assert!(budget.lock().waiting.is_empty());
        drop(first);
        budget.reserve_bytes(100, &mut |_| true).expect("free again");
    }
}

//! Limits the memory and time of renders. Each render reserves its memory before it starts, and has
//! a time limit.
//!
//! A render that needs more memory than one song may use is refused. All other renders wait in a
//! queue, in the order of their arrival, and the running renders together stay within the budget. A
//! user may use at most four times the memory that then remains free. So several users with long
//! renders leave some memory for other users (Choudhury and Hahne, "Dynamic queue length thresholds
//! for shared-memory packet switches", 1998). No single user can use the last fifth of the budget.
//! It is reserved for users without a running render, who may render small songs while larger ones
//! wait.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dsp_core::mixer::{MemoryNeed, Slots};
use dsp_core::session::Session;

use super::banks::mib;
use super::{Observer, RenderError};
use crate::allocator;

/// Default memory for renders in bytes. The settings table has the same value.
pub const DEFAULT_BYTES: u64 = 450 * 1024 * 1024;

/// Interval between checks whether a waiting render was cancelled.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Minimum size in bytes of a reservation that returns free memory to the system when it ends.
const TRIM_MIN_BYTES: u64 = 16 * 1024 * 1024;

/// Memory budget and time limit of all renders of a process.
#[derive(Debug)]
pub struct RenderBudget {
    limit_bytes: u64,
    /// Maximum memory of one user's renders together, and therefore also of one song, in bytes.
    user_limit_bytes: u64,
    max_duration: Option<Duration>,
    queue: Mutex<Queue>,
    queue_changed: Condvar,
}

/// One user's access to the budget.
#[derive(Debug, Clone)]
pub struct BudgetShare {
    budget: Arc<RenderBudget>,
    owner_id: Arc<str>,
}

#[derive(Debug, Default)]
struct Queue {
    next_ticket: u64,
    /// Waiting renders, the oldest first.
    waiting_claims: VecDeque<Claim>,
    /// Running renders.
    running_claims: Vec<Claim>,
}

/// A render's request for memory.
#[derive(Debug, Clone)]
struct Claim {
    ticket: u64,
    owner_id: Arc<str>,
    bytes: u64,
    /// Whether the claim was granted before an earlier claim.
    has_overtaken: bool,
}

/// Memory that is reserved for a render. Dropping this value frees it.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<RenderBudget>,
    ticket: u64,
    bytes: u64,
    granted_at: Instant,
}

impl Queue {
    fn running_bytes(&self, is_counted: impl Fn(&Claim) -> bool) -> u64 {
        self.running_claims.iter().filter(|claim| is_counted(claim)).map(|claim| claim.bytes).sum()
    }

    /// Decides about a claim. Returns `None` if it must wait, or else whether it overtakes an
    /// earlier claim.
    fn grant(&self, claim: &Claim, limit_bytes: u64, user_bytes: u64) -> Option<bool> {
        let bytes_of_owner = |owner_id: &Arc<str>| {
            self.running_bytes(|running_claim| running_claim.owner_id.as_ref() == owner_id.as_ref())
        };
        // A user at the limit does not block other users.
        let is_at_limit =
            |claim: &Claim| bytes_of_owner(&claim.owner_id).saturating_add(claim.bytes) > user_bytes;
        let all_bytes = self.running_bytes(|_| true).saturating_add(claim.bytes);
        let free_bytes = limit_bytes.checked_sub(all_bytes)?;
        // Both products are equal at the maximum memory of a single user.
        let owner_bytes = bytes_of_owner(&claim.owner_id).saturating_add(claim.bytes);
        let [weighted_own_bytes, weighted_free_bytes] =
            [(owner_bytes, limit_bytes - user_bytes), (free_bytes, user_bytes)]
                .map(|(bytes, weight)| u128::from(bytes) * u128::from(weight));
        if weighted_own_bytes > weighted_free_bytes || is_at_limit(claim) {
            return None;
        }
        let mut earlier_claims =
            self.waiting_claims.iter().take_while(|waiting_claim| waiting_claim.ticket != claim.ticket);
        if earlier_claims.clone().all(is_at_limit) {
            return Some(false);
        }
        let is_first_of_owner = earlier_claims.all(|waiting_claim| waiting_claim.owner_id != claim.owner_id);
        let overtaking_bytes =
            self.running_bytes(|running_claim| running_claim.has_overtaken).saturating_add(claim.bytes);
        let may_overtake = is_first_of_owner
            && bytes_of_owner(&claim.owner_id) == 0
            && overtaking_bytes <= limit_bytes - user_bytes;
        may_overtake.then_some(true)
    }
}

impl RenderBudget {
    /// Makes a budget that several users share. One render may take up to `max_duration`.
    #[must_use]
    pub fn shared(limit_bytes: u64, max_duration: Duration) -> Arc<Self> {
        Self::new(limit_bytes, limit_bytes - limit_bytes / 5, Some(max_duration))
    }

    /// Makes a budget for the renders of one user, without a time limit.
    #[must_use]
    pub fn unshared(limit_bytes: u64) -> Arc<Self> {
        Self::new(limit_bytes, limit_bytes, None)
    }

    fn new(limit_bytes: u64, user_bytes: u64, max_duration: Option<Duration>) -> Arc<Self> {
        Arc::new(Self {
            limit_bytes,
            user_limit_bytes: user_bytes,
            max_duration,
            queue: Mutex::default(),
            queue_changed: Condvar::new(),
        })
    }

    /// Returns this user's share of the budget.
    #[must_use]
    pub fn share_of(self: &Arc<Self>, owner_id: &str) -> BudgetShare {
        BudgetShare { budget: Arc::clone(self), owner_id: owner_id.into() }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BudgetShare {
    /// Estimates the memory that a session needs, and reserves it. Waits while other renders use
    /// too much of the budget. Stops waiting when `observer` returns false.
    ///
    /// # Errors
    /// [`RenderError::TooMuchMemory`], [`RenderError::Cancelled`], or the error of a session that
    /// cannot be played.
    pub fn reserve(
        &self,
        session: &Session,
        slots: Slots<'_>,
        observer: Observer<'_>,
    ) -> Result<Reservation, RenderError> {
        let need = session.memory_need(slots)?;
        if need.bytes() > self.budget.user_limit_bytes {
            return Err(too_much(&need, self.budget.user_limit_bytes));
        }
        self.reserve_bytes(need.bytes(), observer)
    }

    fn reserve_bytes(&self, bytes: u64, observer: Observer<'_>) -> Result<Reservation, RenderError> {
        let budget = &self.budget;
        let mut queue = budget.lock();
        let ticket = queue.next_ticket;
        queue.next_ticket += 1;
        let claim = Claim { ticket, owner_id: Arc::clone(&self.owner_id), bytes, has_overtaken: false };
        queue.waiting_claims.push_back(claim.clone());
        loop {
            if let Some(has_overtaken) = queue.grant(&claim, budget.limit_bytes, budget.user_limit_bytes) {
                queue.waiting_claims.retain(|waiting_claim| waiting_claim.ticket != ticket);
                queue.running_claims.push(Claim { has_overtaken, ..claim });
                budget.queue_changed.notify_all();
                return Ok(Reservation {
                    budget: Arc::clone(budget),
                    ticket,
                    bytes,
                    granted_at: Instant::now(),
                });
            }
            queue = budget
                .queue_changed
                .wait_timeout(queue, CANCEL_CHECK_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            if !observer(0.0) {
                queue.waiting_claims.retain(|waiting_claim| waiting_claim.ticket != ticket);
                budget.queue_changed.notify_all();
                return Err(RenderError::Cancelled);
            }
        }
    }
}

impl Reservation {
    /// Returns the time when the memory was granted.
    pub(super) fn granted_at(&self) -> Instant {
        self.granted_at
    }

    /// Returns the maximum duration of the render, counted from [`Self::granted_at`].
    pub(super) fn max_duration(&self) -> Option<Duration> {
        self.budget.max_duration
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes >= TRIM_MIN_BYTES {
            // The allocator returns free memory to the system before the next render allocates
            // memory.
            allocator::return_free_memory();
        }
        self.budget.lock().running_claims.retain(|running_claim| running_claim.ticket != self.ticket);
        self.budget.queue_changed.notify_all();
    }
}

fn too_much(need: &MemoryNeed, limit_bytes: u64) -> RenderError {
    let largest = need.components().first();
    RenderError::TooMuchMemory {
        needed_mib: mib(need.bytes()),
        limit_mib: mib(limit_bytes),
        largest: largest
            .map_or_else(String::new, |component| format!("{} ({})", component.kind, component.count)),
        largest_mib: largest.map_or(0, |component| mib(component.bytes)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn reserve(budget: &Arc<RenderBudget>, owner_id: &str, bytes: u64) -> Reservation {
        budget.share_of(owner_id).reserve_bytes(bytes, &mut |_| true).expect("a reservation")
    }

    #[test]
    fn running_renders_stay_within_the_budget() {
        const RENDERS: usize = 8;
        let budget = RenderBudget::unshared(100);
        let (reserved_bytes, most_bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..RENDERS {
                scope.spawn(|| {
                    let reservation = reserve(&budget, "ada", 40);
                    most_bytes
                        .fetch_max(reserved_bytes.fetch_add(40, Ordering::SeqCst) + 40, Ordering::SeqCst);
                    thread::yield_now();
                    reserved_bytes.fetch_sub(40, Ordering::SeqCst);
                    drop(reservation);
                });
            }
        });
        assert!((40..=80).contains(&most_bytes.load(Ordering::SeqCst)));
        assert!(budget.lock().running_claims.is_empty());
    }

    /// Starts a waiting reservation for each of these owners, with the bytes that each needs, while
    /// `first` is running. Returns the owners in the order in which they got their memory. The
    /// first `beside_first` owners keep their memory until `first` is dropped.
    fn order(
        budget: &Arc<RenderBudget>,
        first: Reservation,
        beside_first: usize,
        waiting: &[(&'static str, u64)],
    ) -> Vec<&'static str> {
        let (sender, receiver) = mpsc::channel();
        let mut order = Vec::new();
        thread::scope(|scope| {
            for &(owner_id, bytes) in waiting {
                let tickets = budget.lock().next_ticket;
                let sender = sender.clone();
                scope.spawn(move || {
                    let reservation = reserve(budget, owner_id, bytes);
                    sender.send((owner_id, reservation)).expect("the receiver is open");
                });
                while budget.lock().next_ticket == tickets {
                    thread::yield_now();
                }
            }
            drop(sender);
            let mut beside: Vec<_> = receiver.iter().take(beside_first).collect();
            drop(first);
            order.extend(beside.iter().map(|(owner_id, _)| *owner_id));
            beside.clear();
            order.extend(receiver.iter().map(|(owner_id, _)| owner_id));
        });
        order
    }

    #[test]
    fn a_small_render_does_not_overtake_a_large_one_of_the_same_user() {
        let budget = RenderBudget::unshared(100);
        let first = reserve(&budget, "ada", 60);
        assert_eq!(order(&budget, first, 0, &[("ada", 90), ("ada", 20)]).len(), 2);
        let first = reserve(&budget, "ada", 60);
        let granted_claims = order(&budget, first, 0, &[("bob", 90), ("bob", 30)]);
        assert_eq!(granted_claims, ["bob", "bob"]);
    }

    #[test]
    fn small_songs_of_other_users_are_rendered_while_large_ones_wait() {
        let budget = RenderBudget::shared(100, Duration::MAX);
        let first = reserve(&budget, "ada", 80);
        // Bob's large render waits for Ada's first render. Eve's small render runs at the same time
        // as Ada's first render. Ada's second render waits for her first.
        let granted_claims = order(&budget, first, 1, &[("ada", 10), ("bob", 80), ("eve", 15)]);
        assert_eq!(granted_claims[0], "eve");
        assert!(budget.lock().running_claims.is_empty());
    }

    #[test]
    fn overtaking_renders_use_at_most_a_fifth_of_the_budget() {
        let budget = RenderBudget::shared(100, Duration::MAX);
        let _first = reserve(&budget, "ada", 60);
        let claim = |ticket, owner_id: &str, bytes, overtook| Claim {
            ticket,
            owner_id: owner_id.into(),
            bytes,
            has_overtaken: overtook,
        };
        let mut queue = budget.lock();
        let (large, small) = (claim(10, "bob", 60, false), claim(11, "eve", 15, false));
        queue.waiting_claims = [large.clone(), small.clone()].into();
        assert_eq!(queue.grant(&large, 100, 80), None, "Ada's render leaves too little memory");
        assert_eq!(queue.grant(&small, 100, 80), Some(true));
        queue.running_claims.push(claim(11, "eve", 15, true));
        let another = claim(12, "fay", 15, false);
        queue.waiting_claims.push_back(another.clone());
        assert_eq!(
            queue.grant(&another, 100, 80),
            None,
            "overtaking renders may use at most a fifth of the budget"
        );
        queue.running_claims.remove(0);
        assert_eq!(queue.grant(&large, 100, 80), Some(false));
    }

    #[test]
    fn users_with_large_renders_leave_memory_for_others() {
        let budget = RenderBudget::shared(1_000, Duration::MAX);
        let mut queue = budget.lock();
        for (owner_id, most_bytes) in [("ada", 800), ("bob", 160), ("eve", 32)] {
            let claim = |bytes| Claim { ticket: 0, owner_id: owner_id.into(), bytes, has_overtaken: false };
            assert_eq!(queue.grant(&claim(most_bytes + 1), 1_000, 800), None, "{owner_id} leaves too little");
            assert_eq!(queue.grant(&claim(most_bytes), 1_000, 800), Some(false), "{owner_id}");
            queue.running_claims.push(claim(most_bytes));
        }
    }

    #[test]
    fn a_cancelled_render_leaves_the_queue() {
        let budget = RenderBudget::unshared(100);
        let first = reserve(&budget, "ada", 100);
        let should_continue = AtomicBool::new(true);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let share = budget.share_of("bob");
                share.reserve_bytes(1, &mut |_| should_continue.load(Ordering::Relaxed)).is_err()
            });
            should_continue.store(false, Ordering::Relaxed);
            assert!(waiting.join().expect("no panic"));
        });
        assert!(budget.lock().waiting_claims.is_empty());
        drop(first);
        reserve(&budget, "ada", 100);
    }
}

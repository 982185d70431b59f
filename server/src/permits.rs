//! Limits on heavy work: how much of a kind runs at a time, and how much may wait.
//!
//! [`Permits::run`] moves the permit into the work, so that the work holds it, not the request. If
//! a caller disconnects, the permit is released when the work has ended. A test below checks that
//! no other code acquires permits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, ApiResult};

/// Seconds after which a refused caller may try again.
const RETRY_AFTER_SECS: u64 = 5;

/// Tells work whether its caller still waits for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller(Arc<AtomicBool>);

impl Caller {
    /// Whether the caller has disconnected.
    pub(crate) fn has_disconnected(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Tells the work that its request was dropped.
struct Request(Caller);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// How much of a kind of work may run and wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Maximum total weight of running work.
    pub(crate) running: u32,
    /// Minimum weight of running work; lighter work counts as this.
    pub(crate) min_weight: u32,
    /// Maximum total weight of one user's running work; a heavier request takes all of it.
    pub(crate) per_user: u32,
    /// Maximum total weight of waiting work.
    pub(crate) waiting: u64,
    /// Maximum number of waiting requests.
    pub(crate) requests: u64,
}

/// A limit on a kind of work.
#[derive(Debug)]
pub(crate) struct Permits {
    /// Name of the work, in the plural, for messages.
    what: &'static str,
    bounds: Bounds,
    free: Arc<Semaphore>,
    waiting: WaitingWork,
    /// Users that have work running or waiting.
    users: Mutex<HashMap<String, Weak<UserPermits>>>,
}

/// The free permits and the waiting work of one user.
#[derive(Debug)]
struct UserPermits {
    free: Arc<Semaphore>,
    waiting: WaitingWork,
}

/// Totals of waiting work.
#[derive(Debug, Default)]
struct WaitingWork {
    weight: AtomicU64,
    requests: AtomicU64,
}

impl WaitingWork {
    /// Adds a request; returns the total weight and number of requests.
    fn add(&self, weight: u64) -> (u64, u64) {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        (self.weight.fetch_add(weight, Ordering::Relaxed) + weight, requests)
    }

    fn remove(&self, weight: u64) {
        self.requests.fetch_sub(1, Ordering::Relaxed);
        self.weight.fetch_sub(weight, Ordering::Relaxed);
    }
}

/// The permits of running work: that of its user, if it has one, and the shared one.
type HeldPermits = (Option<(OwnedSemaphorePermit, Arc<UserPermits>)>, OwnedSemaphorePermit);

impl Permits {
    /// A limit on work of different weights.
    pub(crate) fn weighted(what: &'static str, bounds: Bounds) -> Self {
        Self {
            what,
            bounds,
            free: Arc::new(Semaphore::new(bounds.running as usize)),
            waiting: WaitingWork::default(),
            users: Mutex::default(),
        }
    }

    /// A limit on the numbers of running jobs and of waiting requests. One user may run all jobs
    /// but one.
    pub(crate) fn counted(what: &'static str, running: u32, requests: u64) -> Self {
        let per_user = running.saturating_sub(1).max(1);
        Self::weighted(what, Bounds { running, min_weight: 1, per_user, waiting: u64::MAX, requests })
    }

    /// Runs work of weight 1 on a blocking thread, once a permit is free.
    ///
    /// # Errors
    /// Those of the work; 503 `busy` with `Retry-After` if too much work waits already.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_weighted(1, work).await
    }

    /// Like [`Self::run`], for work of any weight. Work above the limit runs alone.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) async fn run_weighted<T: Send + 'static>(
        &self,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_with_permit(self.acquire(None, weight, weight).await?, work).await
    }

    /// Like [`Self::run_weighted`], within the limit of a user.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) async fn run_for<T: Send + 'static>(
        &self,
        user_id: &str,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let user = self.user(user_id);
        self.run_with_permit(self.acquire(Some(user), weight, weight).await?, work).await
    }

    /// Like [`Self::run_for`], for work that reads its input when it runs: waiting requests have no
    /// weight.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) async fn run_reading<T: Send + 'static>(
        &self,
        user_id: &str,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let user = self.user(user_id);
        self.run_with_permit(self.acquire(Some(user), weight, 0).await?, work).await
    }

    async fn run_with_permit<T: Send + 'static>(
        &self,
        held: HeldPermits,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let request = Request(Caller::default());
        let caller = request.0.clone();
        let running = tokio::task::spawn_blocking(move || {
            // Released when the work ends, also by a panic.
            let _held = held;
            work(&caller)
        });
        running.await?
    }

    /// Acquires permits for work of `weight`. While the request waits, it counts as
    /// `waiting_weight`.
    async fn acquire(
        &self,
        user: Option<Arc<UserPermits>>,
        weight: u64,
        waiting_weight: u64,
    ) -> ApiResult<HeldPermits> {
        let Bounds { running, min_weight, .. } = self.bounds;
        let shared_weight = u32::try_from(weight).unwrap_or(u32::MAX).max(min_weight).min(running);
        let user_weight = shared_weight.min(self.bounds.per_user);
        let free = Arc::clone(&self.free);
        let of_user = user.as_ref().map(|user| Arc::clone(&user.free).try_acquire_many_owned(user_weight));
        let immediate = match of_user {
            None => free.try_acquire_many_owned(shared_weight).ok().map(|shared| (None, shared)),
            Some(Ok(of_user)) => {
                let shared = free.try_acquire_many_owned(shared_weight).ok();
                shared.map(|shared| (user.clone().map(|user| (of_user, user)), shared))
            }
            Some(Err(_)) => None,
        };
        if let Some(held) = immediate {
            return Ok(held);
        }
        let _waiting = self.wait(user.clone(), waiting_weight)?;
        // Waits for the user's permit first, so that a user's excess requests do not queue ahead of
        // those of other users.
        let of_user = match user {
            None => None,
            Some(user) => {
                let permit = Arc::clone(&user.free).acquire_many_owned(user_weight).await;
                Some((permit.map_err(ApiError::internal)?, user))
            }
        };
        let shared = Arc::clone(&self.free).acquire_many_owned(shared_weight).await;
        Ok((of_user, shared.map_err(ApiError::internal)?))
    }

    fn user(&self, user_id: &str) -> Arc<UserPermits> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = users.get(user_id).and_then(Weak::upgrade) {
            return known;
        }
        users.retain(|_, user| user.strong_count() > 0);
        let free = Arc::new(Semaphore::new(self.bounds.per_user as usize));
        let new = Arc::new(UserPermits { free, waiting: WaitingWork::default() });
        users.insert(user_id.to_owned(), Arc::downgrade(&new));
        new
    }

    /// Adds a waiting request. A user may have at most as much waiting work as remains free, as in
    /// [`crate::fair_bytes`].
    fn wait(&self, user: Option<Arc<UserPermits>>, weight: u64) -> ApiResult<WaitingRequest<'_>> {
        let (total, requests) = self.waiting.add(weight);
        let (user_total, user_requests) = user.as_ref().map_or((0, 0), |user| user.waiting.add(weight));
        let waiting = WaitingRequest { permits: self, user, weight };
        // The first waiting request may have any weight.
        if requests > 1
            && (requests + user_requests > self.bounds.requests
                || total.saturating_add(user_total) > self.bounds.waiting)
        {
            return Err(ApiError::Busy {
                detail: format!(
                    "Too many {} are waiting already ({} requests); try again in {RETRY_AFTER_SECS} seconds.",
                    self.what,
                    requests - 1
                ),
                retry_after_secs: RETRY_AFTER_SECS,
            });
        }
        Ok(waiting)
    }
}

/// Counts a waiting request until it is dropped.
struct WaitingRequest<'p> {
    permits: &'p Permits,
    user: Option<Arc<UserPermits>>,
    weight: u64,
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.permits.waiting.remove(self.weight);
        if let Some(user) = &self.user {
            user.waiting.remove(self.weight);
        }
    }
}

/// Number of processors of this machine.
pub(crate) fn processors() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(count).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    /// Work that reports when it runs, and runs until it is told to end.
    fn work(begun: oneshot::Sender<()>, end: mpsc::Receiver<()>) -> impl FnOnce(&Caller) -> ApiResult<bool> {
        move |_| {
            // The test may have ended.
            let _ = begun.send(());
            let _ = end.recv();
            Ok(true)
        }
    }

    /// Files that use a semaphore, and why they may.
    const SEMAPHORES: [(&str, &str); 5] = [
        (
            "turns.rs",
            "log-ins: held by a separate task, which counts the outcome even if its caller disconnects; locks: held \
             by transactions, which end with their request",
        ),
        ("permits.rs", "the limits themselves"),
        (
            "plugins/modules/scan_cache.rs",
            "held by a separate task, which continues if its caller disconnects",
        ),
        ("plugins/pick_dir/picker.rs", "the dialog is closed if its caller disconnects"),
        ("plugins/pick_dir/picker_tests.rs", "tests of the dialog"),
    ];

    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn only_listed_files_use_semaphores() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut all = Vec::new();
        sources(&root, &mut all);
        for path in all {
            let name = path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
            let uses = std::fs::read_to_string(&path).expect("text").contains("Semaphore");
            assert!(
                !uses || SEMAPHORES.iter().any(|(allowed, _)| *allowed == name),
                "{name} uses a semaphore"
            );
        }
    }

    #[tokio::test]
    async fn work_holds_its_permit_after_its_caller_disconnects() {
        let permits = Arc::new(Permits::counted("tests", 1, 9));
        let ((begun, has_begun), (end, ending)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let caller = tokio::spawn(async move { first.run(work(begun, ending)).await });
        has_begun.await.expect("runs");
        caller.abort();
        assert!(caller.await.expect_err("disconnected").is_cancelled());
        assert_eq!(permits.free.available_permits(), 0, "the work continues");
        drop(end);
        // Waits for the work, which ends now.
        assert!(permits.run(|_| Ok(true)).await.expect("runs"));
    }

    #[tokio::test]
    async fn running_work_of_one_user_leaves_room_for_others() {
        let permits = Arc::new(Permits::counted("tests", 2, 9));
        let ((begun, has_begun), (end, ending)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let of_ada = tokio::spawn(async move { first.run_for("ada", 1, work(begun, ending)).await });
        has_begun.await.expect("runs");
        let second = Arc::clone(&permits);
        let waits = tokio::spawn(async move { second.run_for("ada", 1, |_| Ok(true)).await });
        while permits.waiting.requests.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(permits.run_for("bob", 1, |_| Ok(true)).await.expect("runs beside it"));
        assert!(!waits.is_finished());
        drop(end);
        assert!(of_ada.await.expect("ends").expect("ran") && waits.await.expect("ends").expect("ran"));
        assert!(permits.run_for("eve", 1, |_| Ok(true)).await.expect("runs"));
        let known = permits.users.lock().expect("free").len();
        assert_eq!(known, 1, "users with nothing running or waiting are forgotten");
    }

    #[tokio::test]
    async fn work_notices_that_its_caller_has_disconnected() {
        let permits = Arc::new(Permits::counted("tests", 1, 9));
        let (begun, has_begun) = oneshot::channel();
        let (ended, has_ended) = oneshot::channel();
        let first = Arc::clone(&permits);
        let caller = tokio::spawn(async move {
            let work = move |caller: &Caller| {
                let _ = begun.send(());
                while !caller.has_disconnected() {
                    std::thread::yield_now();
                }
                let _ = ended.send(());
                Ok(())
            };
            first.run(work).await
        });
        has_begun.await.expect("runs");
        caller.abort();
        has_ended.await.expect("ends");
    }

    #[tokio::test]
    async fn excess_waiting_requests_are_refused() {
        let bounds = Bounds { running: 10, min_weight: 1, per_user: 10, waiting: 20, requests: 3 };
        let permits = Arc::new(Permits::weighted("tests", bounds));
        let ((begun, has_begun), (end, ending)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let running = tokio::spawn(async move { first.run_weighted(99, work(begun, ending)).await });
        has_begun.await.expect("runs");
        let mut waiting = Vec::new();
        let wait = |weight: u64| {
            let permits = Arc::clone(&permits);
            tokio::spawn(async move { permits.run_weighted(weight, |_| Ok(())).await })
        };
        for weight in [15, 5] {
            waiting.push(wait(weight));
            let count = waiting.len() as u64;
            while permits.waiting.requests.load(Ordering::Relaxed) < count {
                tokio::task::yield_now().await;
            }
        }
        let too_heavy = wait(1).await.expect("ends").expect_err("is refused");
        assert!(matches!(too_heavy, ApiError::Busy { .. }), "{too_heavy}");
        waiting.pop().expect("one").abort();
        while permits.waiting.requests.load(Ordering::Relaxed) > 1 {
            tokio::task::yield_now().await;
        }
        waiting.push(wait(5));
        drop(end);
        for request in waiting {
            request.await.expect("ends").expect("runs");
        }
        assert!(running.await.expect("ends").expect("ran"));
        assert_eq!(permits.waiting.weight.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn waiting_work_of_one_user_leaves_room_for_others() {
        let bounds = Bounds { running: 1, min_weight: 1, per_user: 1, waiting: 40, requests: 100 };
        let permits = Arc::new(Permits::weighted("tests", bounds));
        let ((begun, has_begun), (end, ending)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let running = tokio::spawn(async move { first.run_for("ada", 1, work(begun, ending)).await });
        has_begun.await.expect("runs");
        let mut waiting = Vec::new();
        for (user, weight) in [("ada", 20), ("bob", 10)] {
            let (permits, count) = (Arc::clone(&permits), waiting.len() as u64 + 1);
            let counts = Arc::clone(&permits);
            waiting.push(tokio::spawn(async move { permits.run_for(user, weight, |_| Ok(())).await }));
            while counts.waiting.requests.load(Ordering::Relaxed) < count {
                tokio::task::yield_now().await;
            }
            let more = counts.run_for(user, 1, |_| Ok(())).await.expect_err("is refused");
            assert!(matches!(more, ApiError::Busy { .. }), "{user}: {more}");
        }
        drop(end);
        for request in waiting {
            request.await.expect("ends").expect("runs");
        }
        assert!(running.await.expect("ends").expect("ran"));
        assert_eq!(permits.waiting.requests.load(Ordering::Relaxed), 0);
    }
}

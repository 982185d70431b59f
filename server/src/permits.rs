//! Limits heavy work: how much work of one kind runs at the same time, and how much may wait.
//!
//! [`Permits::run`] moves the permit into the work, so the permit is released when the work ends,
//! even if its caller disconnects earlier. A test below checks that no other code acquires permits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::{ApiError, ApiResult};
use crate::low_priority;

/// Seconds after which a refused client may try again (`Retry-After`).
const RETRY_AFTER_SECS: u64 = 5;

/// Interval at which a waiting part of work checks whether it was cancelled.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Tells running work whether its caller still waits for the result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller {
    has_disconnected: Arc<AtomicBool>,
    /// The user of the work, if it has one.
    user: Option<Arc<UserPermits>>,
}

impl Caller {
    /// Whether the caller has disconnected, or its account has been disabled.
    pub(crate) fn has_disconnected(&self) -> bool {
        self.has_disconnected.load(Ordering::Relaxed) || self.is_disabled()
    }

    fn is_disabled(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.is_disabled.load(Ordering::Relaxed))
    }
}

/// Exists as long as the request. When it is dropped, the work learns that its caller has
/// disconnected.
struct RequestGuard(Caller);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.has_disconnected.store(true, Ordering::Relaxed);
    }
}

/// Limits on the running and the waiting work of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Maximum total weight of running work.
    pub(crate) running: u32,
    /// Minimum weight of a piece of running work. Lighter work counts as this much.
    pub(crate) min_weight: u32,
    /// Maximum total weight of one user's running work. A heavier request takes this whole share.
    pub(crate) per_user: u32,
    /// Maximum total weight of waiting work.
    pub(crate) waiting_weight_max: u64,
    /// Maximum number of waiting requests.
    pub(crate) waiting_requests_max: u64,
    /// Weight beyond `running` that is reserved for users who have no running work. A few users
    /// with long work thus do not make other users wait.
    pub(crate) reserve_for_idle_users: u32,
}

/// Limits on one kind of work, and the permits for it.
#[derive(Debug)]
pub(crate) struct Permits {
    /// Name of the work in messages, after "requests for".
    work_name: &'static str,
    bounds: Bounds,
    /// Whether the work runs with [`low_priority`].
    has_low_priority: bool,
    free_permits: Arc<Semaphore>,
    reserve_for_idle_users: Arc<Semaphore>,
    waiting: WaitingWork,
    /// Users with running or waiting work.
    users: Mutex<HashMap<String, Weak<UserPermits>>>,
}

/// The free permits and the waiting work of one user.
#[derive(Debug)]
struct UserPermits {
    free_permits: Arc<Semaphore>,
    waiting: WaitingWork,
    /// Whether the account has been disabled since its work began.
    is_disabled: AtomicBool,
}

/// Totals of the waiting work.
#[derive(Debug, Default)]
struct WaitingWork {
    weight: AtomicU64,
    requests: AtomicU64,
}

impl WaitingWork {
    /// Adds a request. Returns the new total weight and number of requests.
    fn add(&self, weight: u64) -> (u64, u64) {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        (self.weight.fetch_add(weight, Ordering::Relaxed) + weight, requests)
    }

    fn remove(&self, weight: u64) {
        self.requests.fetch_sub(1, Ordering::Relaxed);
        self.weight.fetch_sub(weight, Ordering::Relaxed);
    }
}

/// The permits of running work: one of its user (if it has one) and one of the shared limit.
type HeldPermits = (Option<(OwnedSemaphorePermit, Arc<UserPermits>)>, OwnedSemaphorePermit);

impl Permits {
    /// Makes a limit on work whose pieces have different weights.
    pub(crate) fn weighted(work_name: &'static str, bounds: Bounds) -> Self {
        Self {
            work_name,
            bounds,
            has_low_priority: false,
            free_permits: Arc::new(Semaphore::new(bounds.running as usize)),
            reserve_for_idle_users: Arc::new(Semaphore::new(bounds.reserve_for_idle_users as usize)),
            waiting: WaitingWork::default(),
            users: Mutex::default(),
        }
    }

    /// Makes a limit on the number of running jobs and of waiting requests. One user may run all
    /// jobs but one, and at least one.
    pub(crate) fn counted(work_name: &'static str, running: u32, requests: u64) -> Self {
        let per_user = running.saturating_sub(1).max(1);
        let bounds = Bounds {
            running,
            min_weight: 1,
            per_user,
            waiting_weight_max: u64::MAX,
            waiting_requests_max: requests,
            reserve_for_idle_users: 0,
        };
        Self::weighted(work_name, bounds)
    }

    /// Makes the work run with [`low_priority`].
    pub(crate) fn with_low_priority(self) -> Self {
        Self { has_low_priority: true, ..self }
    }

    /// Runs work of weight 1 on a blocking thread, once a permit is free.
    ///
    /// # Errors
    /// Errors of the work itself; 503 `busy` with `Retry-After` if too much work is already
    /// waiting.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_weighted(1, work).await
    }

    /// Like [`Self::run`], but for work of any weight. Work that is heavier than the limit runs
    /// alone.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub(crate) async fn run_weighted<T: Send + 'static>(
        &self,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_with_permit(self.acquire(None, weight, Some(weight)).await?, work).await
    }

    /// Like [`Self::run_weighted`], but also within the limit of one user.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub(crate) async fn run_for<T: Send + 'static>(
        &self,
        user_id: &str,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let user = self.permits_of_user(user_id);
        self.run_with_permit(self.acquire(Some(user), weight, Some(weight)).await?, work).await
    }

    /// Like [`Self::run_for`], but for work that reads its input only when it runs. Its waiting
    /// requests have no weight.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub(crate) async fn run_reading<T: Send + 'static>(
        &self,
        user_id: &str,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let user = self.permits_of_user(user_id);
        self.run_with_permit(self.acquire(Some(user), weight, Some(0)).await?, work).await
    }

    /// Runs a part of other running work of this user on the same thread. It waits for a permit and
    /// is never refused, because the other work already has limits. Blocks.
    ///
    /// # Errors
    /// Those of `part`.
    pub(crate) fn run_part<T>(
        &self,
        runtime: &Handle,
        user_id: &str,
        part: impl FnOnce() -> ApiResult<T>,
    ) -> ApiResult<T> {
        let _held = runtime.block_on(self.acquire(Some(self.permits_of_user(user_id)), 1, None))?;
        part()
    }

    /// Like [`Self::run_part`], but stops waiting when `is_cancelled` returns true. Then returns
    /// `None`. Blocks.
    pub(crate) fn run_part_of<T>(
        &self,
        runtime: &Handle,
        user_id: &str,
        is_cancelled: &dyn Fn() -> bool,
        part: impl FnOnce() -> T,
    ) -> ApiResult<Option<T>> {
        let cancellation = async {
            while !is_cancelled() {
                tokio::time::sleep(CANCEL_CHECK_INTERVAL).await;
            }
        };
        let held = runtime.block_on(async {
            tokio::select! {
                held = self.acquire(Some(self.permits_of_user(user_id)), 1, None) => held.map(Some),
                () = cancellation => Ok(None),
            }
        })?;
        // The permits are held until the part has ended.
        Ok(held.map(|_permits| part()))
    }

    /// Ends the running and the waiting work of a user whose account has been disabled.
    pub(crate) fn end_work_of(&self, user_id: &str) {
        let user_permits = self.users.lock().unwrap_or_else(PoisonError::into_inner).remove(user_id);
        if let Some(user) = user_permits.as_ref().and_then(Weak::upgrade) {
            user.is_disabled.store(true, Ordering::Relaxed);
        }
    }

    async fn run_with_permit<T: Send + 'static>(
        &self,
        permits: HeldPermits,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (sender, result) = oneshot::channel();
        let work = Box::new(|caller: &Caller| {
            // Without a receiver, the caller has disconnected.
            sender.send(work(caller)).ok();
        });
        self.run_on_thread(permits, work).await?;
        result.await.map_err(ApiError::internal)?
    }

    /// Runs work with these permits on a blocking thread. All work has the same boxed type, so that
    /// this function is compiled only once.
    async fn run_on_thread(
        &self,
        permits: HeldPermits,
        work: Box<dyn FnOnce(&Caller) + Send>,
    ) -> ApiResult<()> {
        let user = permits.0.as_ref().map(|(_, user)| Arc::clone(user));
        let request = RequestGuard(Caller { user, ..Caller::default() });
        let caller = request.0.clone();
        let has_low_priority = self.has_low_priority;
        let running = tokio::task::spawn_blocking(move || -> ApiResult<()> {
            // Released when the work ends, even if it panics.
            let _held = permits;
            if has_low_priority {
                low_priority::run(|| work(&caller))?;
            } else {
                work(&caller);
            }
            Ok(())
        });
        running.await??;
        if request.0.is_disabled() {
            return Err(ApiError::account_disabled());
        }
        Ok(())
    }

    /// Acquires permits for work of `weight`. While the request waits, it counts as
    /// `waiting_weight`; with `None` it does not count.
    async fn acquire(
        &self,
        user: Option<Arc<UserPermits>>,
        weight: u64,
        waiting_weight: Option<u64>,
    ) -> ApiResult<HeldPermits> {
        let Bounds { running, min_weight, .. } = self.bounds;
        let shared_weight = u32::try_from(weight).unwrap_or(u32::MAX).max(min_weight).min(running);
        let user_weight = shared_weight.min(self.bounds.per_user);
        let free_permits = Arc::clone(&self.free_permits);
        let user_permit =
            user.as_ref().map(|user| Arc::clone(&user.free_permits).try_acquire_many_owned(user_weight));
        let immediate = match user_permit {
            None => free_permits
                .try_acquire_many_owned(shared_weight)
                .ok()
                .map(|shared_permit| (None, shared_permit)),
            Some(Ok(user_permit)) => {
                let is_idle = user.as_ref().is_some_and(|user| {
                    user.free_permits.available_permits() == (self.bounds.per_user - user_weight) as usize
                });
                let shared_permit = free_permits.try_acquire_many_owned(shared_weight).ok().or_else(|| {
                    let reserve = Arc::clone(&self.reserve_for_idle_users);
                    is_idle.then(|| reserve.try_acquire_many_owned(shared_weight).ok())?
                });
                shared_permit
                    .map(|shared_permit| (user.clone().map(|user| (user_permit, user)), shared_permit))
            }
            Some(Err(_)) => None,
        };
        if let Some(permits) = immediate {
            return Ok(permits);
        }
        let _waiting = waiting_weight.map(|weight| self.wait(user.clone(), weight)).transpose()?;
        // Waits for the user's permit first. Otherwise one user's excess requests would queue ahead
        // of the requests of other users.
        let user_permit = match user {
            None => None,
            Some(user) => {
                let permit = Arc::clone(&user.free_permits).acquire_many_owned(user_weight).await;
                Some((permit.map_err(ApiError::internal)?, user))
            }
        };
        let shared_permit = Arc::clone(&self.free_permits).acquire_many_owned(shared_weight).await;
        Ok((user_permit, shared_permit.map_err(ApiError::internal)?))
    }

    /// Takes all free permits, so that further work waits until the result is dropped.
    #[cfg(test)]
    pub(crate) fn take_all(&self) -> [OwnedSemaphorePermit; 2] {
        [&self.free_permits, &self.reserve_for_idle_users].map(|permits| {
            let free = u32::try_from(permits.available_permits()).expect("a small number");
            Arc::clone(permits).try_acquire_many_owned(free).expect("they are free")
        })
    }

    /// Returns the weight of the running work, without that of the reserve.
    #[cfg(test)]
    pub(crate) fn running(&self) -> usize {
        self.bounds.running as usize - self.free_permits.available_permits()
    }

    /// Returns the number of requests that wait.
    #[cfg(test)]
    pub(crate) fn waiting_requests(&self) -> u64 {
        self.waiting.requests.load(Ordering::Relaxed)
    }

    fn permits_of_user(&self, user_id: &str) -> Arc<UserPermits> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(existing) = users.get(user_id).and_then(Weak::upgrade) {
            return existing;
        }
        users.retain(|_, user| user.strong_count() > 0);
        let free_permits = Arc::new(Semaphore::new(self.bounds.per_user as usize));
        let new = Arc::new(UserPermits {
            free_permits,
            waiting: WaitingWork::default(),
            is_disabled: AtomicBool::new(false),
        });
        users.insert(user_id.to_owned(), Arc::downgrade(&new));
        new
    }

    /// Counts a waiting request. Refuses it if the user's waiting work would exceed the capacity
    /// for waiting work that then remains free, as in [`crate::fair_bytes`].
    fn wait(&self, user: Option<Arc<UserPermits>>, weight: u64) -> ApiResult<WaitingRequest<'_>> {
        let (total, requests) = self.waiting.add(weight);
        let (user_total, user_requests) = user.as_ref().map_or((0, 0), |user| user.waiting.add(weight));
        let waiting = WaitingRequest { permits: self, user, weight };
        // The first waiting request may have any weight.
        if requests > 1
            && (requests + user_requests > self.bounds.waiting_requests_max
                || total.saturating_add(user_total) > self.bounds.waiting_weight_max)
        {
            return Err(ApiError::Busy {
                detail: format!(
                    "Too many requests for {} are already waiting ({}; at most {} may wait, and fewer if they are large or \
                     from one user); try again in {RETRY_AFTER_SECS} seconds.",
                    self.work_name,
                    requests - 1,
                    self.bounds.waiting_requests_max
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

/// Returns the number of processors of this machine.
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

    /// Returns work that reports when it starts, and then runs until the test drops the sender of
    /// `may_end`.
    fn work(
        started: oneshot::Sender<()>,
        may_end: mpsc::Receiver<()>,
    ) -> impl FnOnce(&Caller) -> ApiResult<bool> {
        move |_| {
            // Sending fails if the test has already ended.
            let _ = started.send(());
            let _ = may_end.recv();
            Ok(true)
        }
    }

    /// Files that use a semaphore, each with the reason why it may.
    const SEMAPHORES: [(&str, &str); 5] = [
        (
            "turns.rs",
            "log-ins: the permit is held by a separate task, which counts the outcome even if its caller disconnects; locks: the permits are held \
             by transactions, which end with their request",
        ),
        ("permits.rs", "this file defines the limits"),
        (
            "plugins/modules/scan_cache.rs",
            "the permit is held by a separate task, which continues if its caller disconnects",
        ),
        (
            "plugins/pick_dir/picker.rs",
            "the dialog is closed, and its permit released, if its caller disconnects",
        ),
        ("plugins/pick_dir/picker_tests.rs", "tests of the dialog"),
    ];

    fn sources(folder: &Path, paths: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, paths);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                paths.push(path);
            }
        }
    }

    #[test]
    fn only_listed_files_use_semaphores() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut paths = Vec::new();
        sources(&root, &mut paths);
        for path in paths {
            let name =
                path.strip_prefix(&root).expect("a path below the root").to_string_lossy().into_owned();
            let uses = std::fs::read_to_string(&path).expect("text").contains("Semaphore");
            assert!(
                !uses || SEMAPHORES.iter().any(|(allowed_name, _)| *allowed_name == name),
                "{name} uses a semaphore; use `Permits`, or list the file in SEMAPHORES with the reason"
            );
        }
    }

    #[tokio::test]
    async fn work_holds_its_permit_after_its_caller_disconnects() {
        let permits = Arc::new(Permits::counted("tests", 1, 9));
        let ((started_sender, started), (finish, may_finish)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let caller = tokio::spawn(async move { first.run(work(started_sender, may_finish)).await });
        started.await.expect("runs");
        caller.abort();
        assert!(caller.await.expect_err("the caller was aborted").is_cancelled());
        assert_eq!(permits.free_permits.available_permits(), 0, "the work continues");
        drop(finish);
        // Waits until the first work has ended.
        assert!(permits.run(|_| Ok(true)).await.expect("runs"));
    }

    #[tokio::test]
    async fn running_work_of_one_user_does_not_block_other_users() {
        let permits = Arc::new(Permits::counted("tests", 2, 9));
        let ((started_sender, started), (finish, may_finish)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let ada_work =
            tokio::spawn(async move { first.run_for("ada", 1, work(started_sender, may_finish)).await });
        started.await.expect("runs");
        let second = Arc::clone(&permits);
        let waiting_work = tokio::spawn(async move { second.run_for("ada", 1, |_| Ok(true)).await });
        while permits.waiting_requests() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(permits.run_for("bob", 1, |_| Ok(true)).await.expect("runs at the same time"));
        assert!(!waiting_work.is_finished());
        drop(finish);
        assert!(
            ada_work.await.expect("no panic").expect("the work runs")
                && waiting_work.await.expect("no panic").expect("the work runs")
        );
        assert!(permits.run_for("eve", 1, |_| Ok(true)).await.expect("runs"));
        let existing = permits.users.lock().expect("a lock").len();
        assert_eq!(existing, 1, "users without running or waiting work are forgotten");
    }

    #[tokio::test]
    async fn long_work_of_some_users_does_not_make_an_idle_user_wait() {
        let bounds = Bounds {
            running: 1,
            min_weight: 1,
            per_user: 1,
            waiting_weight_max: u64::MAX,
            waiting_requests_max: 9,
            reserve_for_idle_users: 1,
        };
        let permits = Arc::new(Permits::weighted("tests", bounds));
        let ((started_sender, started), (finish, may_finish)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let ada_work =
            tokio::spawn(async move { first.run_for("ada", 1, work(started_sender, may_finish)).await });
        started.await.expect("runs");
        let second = Arc::clone(&permits);
        let waiting_work = tokio::spawn(async move { second.run_for("ada", 1, |_| Ok(true)).await });
        while permits.waiting_requests() == 0 {
            tokio::task::yield_now().await;
        }
        for user in ["bob", "eve"] {
            assert!(permits.run_for(user, 1, |_| Ok(true)).await.expect("runs beside Ada's work"));
        }
        assert!(!waiting_work.is_finished(), "Ada already has running work");
        drop(finish);
        assert!(ada_work.await.expect("no panic").expect("the work runs"));
        assert!(waiting_work.await.expect("no panic").expect("the work runs"));
    }

    #[tokio::test]
    async fn work_notices_that_its_caller_has_disconnected() {
        let permits = Arc::new(Permits::counted("tests", 1, 9));
        let (started_sender, started) = oneshot::channel();
        let (end_sender, work_ended) = oneshot::channel();
        let first = Arc::clone(&permits);
        let caller = tokio::spawn(async move {
            let work = move |caller: &Caller| {
                let _ = started_sender.send(());
                while !caller.has_disconnected() {
                    std::thread::yield_now();
                }
                let _ = end_sender.send(());
                Ok(())
            };
            first.run(work).await
        });
        started.await.expect("runs");
        caller.abort();
        work_ended.await.expect("ends");
    }

    #[tokio::test]
    async fn work_ends_when_its_account_is_disabled() {
        let permits = Arc::new(Permits::counted("tests", 2, 9));
        let (started_sender, started) = oneshot::channel();
        let (first, second) = (Arc::clone(&permits), Arc::clone(&permits));
        let running = tokio::spawn(async move {
            let work = move |caller: &Caller| {
                let _ = started_sender.send(());
                while !caller.has_disconnected() {
                    std::thread::yield_now();
                }
                Ok(())
            };
            first.run_for("ada", 1, work).await
        });
        started.await.expect("runs");
        let stops = |caller: &Caller| Ok(caller.has_disconnected());
        let waiting = tokio::spawn(async move { second.run_for("ada", 1, stops).await });
        while permits.waiting_requests() == 0 {
            tokio::task::yield_now().await;
        }
        permits.end_work_of("ada");
        for refused_result in [running.await.expect("no panic"), waiting.await.expect("no panic").map(drop)] {
            assert!(matches!(refused_result, Err(ApiError::Unauthorized { code: "account_disabled", .. })));
        }
        // An account that has been enabled again works as before.
        assert!(!permits.run_for("ada", 1, stops).await.expect("runs"));
    }

    #[tokio::test]
    async fn a_part_of_other_work_waits_for_a_permit_and_is_not_refused() {
        let whole_permits = Arc::new(Permits::counted("tests", 9, 9));
        let parts = Arc::new(Permits::counted("tests", 1, 0));
        let all_permits = parts.take_all();
        let mut running = Vec::new();
        for user in ["ada", "bob"] {
            let (whole_permits, parts) = (Arc::clone(&whole_permits), Arc::clone(&parts));
            let work = move |_: &Caller| parts.run_part(&Handle::current(), user, || Ok(user));
            running.push(tokio::spawn(async move { whole_permits.run_for(user, 1, work).await }));
        }
        while whole_permits.running() < 2 {
            tokio::task::yield_now().await;
        }
        assert!(running.iter().all(|work| !work.is_finished()));
        drop(all_permits);
        for (user, work) in ["ada", "bob"].into_iter().zip(running) {
            assert_eq!(work.await.expect("no panic").expect("the part runs"), user);
        }
        assert_eq!(parts.running(), 0);
    }

    #[tokio::test]
    async fn excess_waiting_requests_are_refused() {
        let bounds = Bounds {
            running: 10,
            min_weight: 1,
            per_user: 10,
            waiting_weight_max: 20,
            waiting_requests_max: 3,
            reserve_for_idle_users: 0,
        };
        let permits = Arc::new(Permits::weighted("tests", bounds));
        let ((started_sender, started), (finish, may_finish)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let running =
            tokio::spawn(async move { first.run_weighted(99, work(started_sender, may_finish)).await });
        started.await.expect("runs");
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
        waiting.pop().expect("a waiting request").abort();
        while permits.waiting.requests.load(Ordering::Relaxed) > 1 {
            tokio::task::yield_now().await;
        }
        waiting.push(wait(5));
        drop(finish);
        for request in waiting {
            request.await.expect("no panic").expect("the work runs");
        }
        assert!(running.await.expect("no panic").expect("the work runs"));
        assert_eq!(permits.waiting.weight.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn waiting_work_of_one_user_does_not_block_other_users() {
        let bounds = Bounds {
            running: 1,
            min_weight: 1,
            per_user: 1,
            waiting_weight_max: 40,
            waiting_requests_max: 100,
            reserve_for_idle_users: 0,
        };
        let permits = Arc::new(Permits::weighted("tests", bounds));
        let ((started_sender, started), (finish, may_finish)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let running =
            tokio::spawn(async move { first.run_for("ada", 1, work(started_sender, may_finish)).await });
        started.await.expect("runs");
        let mut waiting = Vec::new();
        for (user, weight) in [("ada", 20), ("bob", 10)] {
            let (permits, count) = (Arc::clone(&permits), waiting.len() as u64 + 1);
            let observer = Arc::clone(&permits);
            waiting.push(tokio::spawn(async move { permits.run_for(user, weight, |_| Ok(())).await }));
            while observer.waiting.requests.load(Ordering::Relaxed) < count {
                tokio::task::yield_now().await;
            }
            let excess = observer.run_for(user, 1, |_| Ok(())).await.expect_err("is refused");
            assert!(matches!(excess, ApiError::Busy { .. }), "{user}: {excess}");
        }
        drop(finish);
        for request in waiting {
            request.await.expect("no panic").expect("the work runs");
        }
        assert!(running.await.expect("no panic").expect("the work runs"));
        assert_eq!(permits.waiting.requests.load(Ordering::Relaxed), 0);
    }
}

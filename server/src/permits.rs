//! Limits on heavy work: how much of a kind runs at once, and how much may wait for its turn.
//!
//! [`Permits::run`] moves the permit into the work. So the limit is held by the work, not by the
//! request: a caller who hangs up gives nothing back before the work has noticed and ended. Nothing
//! else in the service takes a permit; a test below checks that.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, ApiResult};

/// Seconds after which a caller that was turned away may try again.
const RETRY_AFTER_SECS: u64 = 5;

/// Tells work whether its caller still waits for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller(Arc<AtomicBool>);

impl Caller {
    /// Whether the caller has hung up.
    pub(crate) fn has_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Dropped with the request, it tells the work so.
struct Request(Caller);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// How much of a kind of work may run and wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Weight of the work that runs at once.
    pub(crate) running: u32,
    /// Work that is lighter counts as much as this while it runs.
    pub(crate) least: u32,
    /// Weight of the work of one user that runs at once; a request that is heavier takes all of it.
    pub(crate) of_one_user: u32,
    /// Weight of the work that waits.
    pub(crate) waiting: u64,
    /// Requests that wait.
    pub(crate) requests: u64,
}

/// A limit on a kind of work.
#[derive(Debug)]
pub(crate) struct Permits {
    /// Name of the work, in the plural, for messages.
    what: &'static str,
    bounds: Bounds,
    free: Arc<Semaphore>,
    waiting: Waits,
    /// Users that have work running or waiting.
    of_users: Mutex<HashMap<String, Weak<OfUser>>>,
}

/// What is free for one user, and what of this user waits.
#[derive(Debug)]
struct OfUser {
    free: Arc<Semaphore>,
    waiting: Waits,
}

/// Work that waits.
#[derive(Debug, Default)]
struct Waits {
    weight: AtomicU64,
    requests: AtomicU64,
}

impl Waits {
    /// Counts one more, and says the weight and the number of all.
    fn join(&self, weight: u64) -> (u64, u64) {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        (self.weight.fetch_add(weight, Ordering::Relaxed) + weight, requests)
    }

    fn leave(&self, weight: u64) {
        self.requests.fetch_sub(1, Ordering::Relaxed);
        self.weight.fetch_sub(weight, Ordering::Relaxed);
    }
}

/// Held by work as long as it runs: the permit of its user, if it has one, and the permit of all.
type Held = (Option<(OwnedSemaphorePermit, Arc<OfUser>)>, OwnedSemaphorePermit);

impl Permits {
    /// A limit on work of different weights.
    pub(crate) fn weighted(what: &'static str, bounds: Bounds) -> Self {
        Self {
            what,
            bounds,
            free: Arc::new(Semaphore::new(bounds.running as usize)),
            waiting: Waits::default(),
            of_users: Mutex::default(),
        }
    }

    /// A limit by number: of jobs at a time, and of requests that wait. One user's jobs leave one
    /// to others.
    pub(crate) fn counted(what: &'static str, running: u32, requests: u64) -> Self {
        let of_one_user = running.saturating_sub(1).max(1);
        Self::weighted(what, Bounds { running, least: 1, of_one_user, waiting: u64::MAX, requests })
    }

    /// Runs work of weight 1 on a thread that may block, as soon as there is room for it.
    ///
    /// # Errors
    /// Those of the work; 503 `busy` with `Retry-After` where too many wait already.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_weighted(1, work).await
    }

    /// The same for work of any weight. Work above the whole limit runs alone.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) async fn run_weighted<T: Send + 'static>(
        &self,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_held(self.permit(None, weight, weight).await?, work).await
    }

    /// The same for work of one user, whose work together has a limit of its own.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) async fn run_for<T: Send + 'static>(
        &self,
        user_id: &str,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let of_user = self.of_user(user_id);
        self.run_held(self.permit(Some(of_user), weight, weight).await?, work).await
    }

    /// The same for work that reads what it works on once it runs: requests that wait weigh
    /// nothing.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) async fn run_reading<T: Send + 'static>(
        &self,
        user_id: &str,
        weight: u64,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let of_user = self.of_user(user_id);
        self.run_held(self.permit(Some(of_user), weight, 0).await?, work).await
    }

    async fn run_held<T: Send + 'static>(
        &self,
        held: Held,
        work: impl FnOnce(&Caller) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let request = Request(Caller::default());
        let caller = request.0.clone();
        let running = tokio::task::spawn_blocking(move || {
            // Released when the work ends, however it ends.
            let _held = held;
            work(&caller)
        });
        running.await?
    }

    /// A permit for work of `weight`; a request that waits for it counts as `waiting_weight`.
    async fn permit(
        &self,
        of_user: Option<Arc<OfUser>>,
        weight: u64,
        waiting_weight: u64,
    ) -> ApiResult<Held> {
        let Bounds { running, least, .. } = self.bounds;
        let units = u32::try_from(weight).unwrap_or(u32::MAX).max(least).min(running);
        let users_units = units.min(self.bounds.of_one_user);
        let free = Arc::clone(&self.free);
        let own = of_user.as_ref().map(|one| Arc::clone(&one.free).try_acquire_many_owned(users_units));
        let at_once = match own {
            None => free.try_acquire_many_owned(units).ok().map(|all| (None, all)),
            Some(Ok(own)) => {
                let all = free.try_acquire_many_owned(units).ok();
                all.map(|all| (of_user.clone().map(|of_user| (own, of_user)), all))
            }
            Some(Err(_)) => None,
        };
        if let Some(held) = at_once {
            return Ok(held);
        }
        let _waiting = self.wait(of_user.clone(), waiting_weight)?;
        // Requests that wait for others of their user do not yet wait before those of other users.
        let own = match of_user {
            None => None,
            Some(of_user) => {
                let own = Arc::clone(&of_user.free).acquire_many_owned(users_units).await;
                Some((own.map_err(ApiError::internal)?, of_user))
            }
        };
        let all = Arc::clone(&self.free).acquire_many_owned(units).await.map_err(ApiError::internal)?;
        Ok((own, all))
    }

    fn of_user(&self, user_id: &str) -> Arc<OfUser> {
        let mut of_users = self.of_users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = of_users.get(user_id).and_then(Weak::upgrade) {
            return known;
        }
        of_users.retain(|_, one| one.strong_count() > 0);
        let free = Arc::new(Semaphore::new(self.bounds.of_one_user as usize));
        let new = Arc::new(OfUser { free, waiting: Waits::default() });
        of_users.insert(user_id.to_owned(), Arc::downgrade(&new));
        new
    }

    /// Joins those that wait. Of one user as much may wait as then remains free for others, as with
    /// [`crate::fair_bytes`].
    fn wait(&self, of_user: Option<Arc<OfUser>>, weight: u64) -> ApiResult<Waiting<'_>> {
        let (total, requests) = self.waiting.join(weight);
        let (own_total, own_requests) = of_user.as_ref().map_or((0, 0), |one| one.waiting.join(weight));
        let waiting = Waiting { permits: self, of_user, weight };
        // The first may be as heavy as it is.
        if requests > 1
            && (requests + own_requests > self.bounds.requests
                || total.saturating_add(own_total) > self.bounds.waiting)
        {
            return Err(ApiError::Busy {
                detail: format!(
                    "Too many {} wait already ({} requests); try again in {RETRY_AFTER_SECS} seconds.",
                    self.what,
                    requests - 1
                ),
                retry_after_secs: RETRY_AFTER_SECS,
            });
        }
        Ok(waiting)
    }
}

/// A request that waits. Dropped, it does not any more.
struct Waiting<'p> {
    permits: &'p Permits,
    of_user: Option<Arc<OfUser>>,
    weight: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.permits.waiting.leave(self.weight);
        if let Some(of_user) = &self.of_user {
            of_user.waiting.leave(self.weight);
        }
    }
}

/// Processors of this machine.
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

    /// Work that says when it runs, and runs until it is told to end or its caller has gone.
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
            "log-ins: held by a task of their own, which counts the outcome even if its caller leaves; locks: held by \
             transactions, which end with their request",
        ),
        ("permits.rs", "the limits themselves"),
        ("plugins/modules/kept.rs", "held by a task of its own, which goes on when its caller leaves"),
        ("plugins/pick_dir/picker.rs", "the dialog is ended when its caller leaves"),
        ("plugins/pick_dir/picker_tests.rs", "tests of that"),
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
    fn no_request_holds_a_permit_of_work_itself() {
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
    async fn a_permit_is_held_until_the_work_ends_and_not_by_its_caller() {
        let permits = Arc::new(Permits::counted("tests", 1, 9));
        let ((begun, has_begun), (end, ending)) = (oneshot::channel(), mpsc::channel());
        let first = Arc::clone(&permits);
        let caller = tokio::spawn(async move { first.run(work(begun, ending)).await });
        has_begun.await.expect("runs");
        caller.abort();
        assert!(caller.await.expect_err("hung up").is_cancelled());
        assert_eq!(permits.free.available_permits(), 0, "the work goes on");
        drop(end);
        // Waits for the work, which ends now.
        assert!(permits.run(|_| Ok(true)).await.expect("runs"));
    }

    #[tokio::test]
    async fn work_of_one_user_leaves_room_for_that_of_others() {
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
        let known = permits.of_users.lock().expect("free").len();
        assert_eq!(known, 1, "users with nothing running or waiting are forgotten");
    }

    #[tokio::test]
    async fn work_hears_that_its_caller_has_gone() {
        let permits = Arc::new(Permits::counted("tests", 1, 9));
        let (begun, has_begun) = oneshot::channel();
        let (ended, has_ended) = oneshot::channel();
        let first = Arc::clone(&permits);
        let caller = tokio::spawn(async move {
            let work = move |caller: &Caller| {
                let _ = begun.send(());
                while !caller.has_gone() {
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
    async fn too_many_that_wait_are_turned_away() {
        let bounds = Bounds { running: 10, least: 1, of_one_user: 10, waiting: 20, requests: 3 };
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
        let too_heavy = wait(1).await.expect("ends").expect_err("is turned away");
        assert!(matches!(too_heavy, ApiError::Busy { .. }), "{too_heavy}");
        waiting.pop().expect("one").abort();
        while permits.waiting.requests.load(Ordering::Relaxed) > 1 {
            tokio::task::yield_now().await;
        }
        waiting.push(wait(5));
        drop(end);
        for one in waiting {
            one.await.expect("ends").expect("runs");
        }
        assert!(running.await.expect("ends").expect("ran"));
        assert_eq!(permits.waiting.weight.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn one_user_leaves_room_for_others_to_wait() {
        let bounds = Bounds { running: 1, least: 1, of_one_user: 1, waiting: 40, requests: 100 };
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
            let more = counts.run_for(user, 1, |_| Ok(())).await.expect_err("is turned away");
            assert!(matches!(more, ApiError::Busy { .. }), "{user}: {more}");
        }
        drop(end);
        for one in waiting {
            one.await.expect("ends").expect("runs");
        }
        assert!(running.await.expect("ends").expect("ran"));
        assert_eq!(permits.waiting.requests.load(Ordering::Relaxed), 0);
    }
}

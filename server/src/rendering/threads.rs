//! The thread pool that all renders share. The pool and the thread of one render together have one
//! thread per processor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use dsp_core::render::{RenderThreads, SingleThread};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of threads that help the threads of renders.
///
/// A render never waits for a thread that helps another render. If many renders run at the same
/// time, each has its own thread, and the operating system shares the processors among them.
#[derive(Debug)]
pub struct Threads {
    pool: ThreadPool,
    /// Number of threads that currently help no render.
    idle_threads: AtomicUsize,
}

impl Threads {
    /// Starts a pool of `count` helping threads. Returns `None` if the system cannot start them.
    #[must_use]
    pub fn new(count: usize) -> Option<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|n| format!("render-{n}")).build();
        match pool {
            Ok(pool) => Some(Self { pool, idle_threads: AtomicUsize::new(count) }),
            Err(error) => {
                tracing::warn!(%error, count, "cannot start render threads; renders use one thread");
                None
            }
        }
    }
}

/// A thread of the pool that helps a render. Dropping it makes the thread idle again.
struct Helper<'t>(&'t AtomicUsize);

impl<'t> Helper<'t> {
    /// Takes an idle thread; `None` if all are busy.
    fn take(idle_threads: &'t AtomicUsize) -> Option<Self> {
        let previous_idle = idle_threads
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |idle_threads| idle_threads.checked_sub(1));
        previous_idle.is_ok().then(|| Self(idle_threads))
    }
}

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl RenderThreads for Threads {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        let other_jobs = jobs.len().saturating_sub(1);
        let remaining = Mutex::new(jobs.iter_mut());
        // The jobs differ in duration, so each thread takes one job at a time.
        let run_remaining = || {
            let next = || remaining.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(job) = next() {
                job();
            }
        };
        self.pool.in_place_scope(|scope| {
            for helper in std::iter::from_fn(|| Helper::take(&self.idle_threads)).take(other_jobs) {
                let run_remaining = &run_remaining;
                scope.spawn(move |_| {
                    let _helper = helper;
                    run_remaining();
                });
            }
            run_remaining();
        });
    }
}

/// Returns the thread pool of this process. Its threads have the priority of the thread of the
/// first render, which is low in the service ([`crate::low_priority`]).
pub(super) fn shared_threads() -> &'static dyn RenderThreads {
    static THREADS: LazyLock<Option<Threads>> = LazyLock::new(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        if processors > 1 { Threads::new(processors - 1) } else { None }
    });
    match &*THREADS {
        Some(threads) => threads,
        None => &SingleThread,
    }
}

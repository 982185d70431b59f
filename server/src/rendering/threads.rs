//! The thread pool that all renders share. Together with the thread of a render, it has one thread
//! per processor.

use std::sync::{LazyLock, Mutex, PoisonError};

use dsp_core::render::{RenderThreads, SingleThread};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of threads that help the thread of a render.
#[derive(Debug)]
pub struct Threads(ThreadPool);

impl Threads {
    /// Starts a pool of `count` helping threads. Returns `None` if the system cannot start them.
    #[must_use]
    pub fn new(count: usize) -> Option<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|n| format!("render-{n}")).build();
        match pool {
            Ok(pool) => Some(Self(pool)),
            Err(error) => {
                tracing::warn!(%error, count, "cannot start render threads; renders use one thread");
                None
            }
        }
    }
}

impl RenderThreads for Threads {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        let helpers = self.0.current_num_threads().min(jobs.len().saturating_sub(1));
        let remaining = Mutex::new(jobs.iter_mut());
        // Jobs take different times, so each thread takes one job at a time.
        let run_remaining = || {
            let next = || remaining.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(job) = next() {
                job();
            }
        };
        self.0.in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| run_remaining());
            }
            run_remaining();
        });
    }
}

/// Returns the thread pool of this process.
pub(super) fn shared() -> &'static dyn RenderThreads {
    static THREADS: LazyLock<Option<Threads>> = LazyLock::new(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        if processors > 1 { Threads::new(processors - 1) } else { None }
    });
    match &*THREADS {
        Some(threads) => threads,
        None => &SingleThread,
    }
}

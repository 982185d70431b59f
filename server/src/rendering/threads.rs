//! The thread pool that all renders share. It has one thread per processor.

use std::sync::LazyLock;

use dsp_core::render::{RenderThreads, SingleThread};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of render threads.
#[derive(Debug)]
pub struct Threads(ThreadPool);

impl Threads {
    /// Starts a pool of `count` threads. Returns `None` if the system cannot start them.
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
        // Jobs take different times, so each thread takes one job at a time.
        self.0.install(|| jobs.par_iter_mut().with_max_len(1).for_each(|job| job()));
    }
}

/// Returns the thread pool of this process.
pub(super) fn shared() -> &'static dyn RenderThreads {
    static THREADS: LazyLock<Option<Threads>> = LazyLock::new(|| {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        if count > 1 { Threads::new(count) } else { None }
    });
    match &*THREADS {
        Some(threads) => threads,
        None => &SingleThread,
    }
}

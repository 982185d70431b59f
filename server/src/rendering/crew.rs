//! The threads that renders share: as many as there are processors.

use std::sync::LazyLock;

use dsp_core::render::{RenderThreads, SingleThread};
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A crew of threads.
#[derive(Debug)]
pub struct Threads(ThreadPool);

impl Threads {
    /// As many threads as asked for; `None` where the system gives none.
    #[must_use]
    pub fn new(count: usize) -> Option<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|n| format!("render-{n}")).build();
        match pool {
            Ok(pool) => Some(Self(pool)),
            Err(error) => {
                tracing::warn!(%error, count, "no threads to render with; one does all the work");
                None
            }
        }
    }
}

impl RenderThreads for Threads {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        // Tracks differ much in how long they take: whoever is done takes the next.
        self.0.install(|| jobs.par_iter_mut().with_max_len(1).for_each(|job| job()));
    }
}

/// The crew of this process.
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

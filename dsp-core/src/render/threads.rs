//! Runs the jobs of a render, possibly on several threads.

/// Runs jobs on any number of threads. The engine itself starts no threads.
pub trait RenderThreads {
    /// Runs every job once, in any order. Returns after all jobs have ended.
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]);
}

/// Runs all jobs on the calling thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleThread;

impl RenderThreads for SingleThread {
    fn run(&self, jobs: &mut [&mut (dyn FnMut() + Send)]) {
        jobs.iter_mut().for_each(|job| job());
    }
}

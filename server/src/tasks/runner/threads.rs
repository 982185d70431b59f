//! The runner of a desktop: a few threads of this process, which run tasks in the order of their
//! start.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// A fixed number of threads and their queue.
#[derive(Debug, Clone)]
pub(crate) struct Threads {
    queue: mpsc::Sender<Job>,
}

impl Threads {
    /// Starts `workers` threads. They end when the last [`Threads`] is dropped and the queue is
    /// empty.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(crate) fn start(workers: usize) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel::<Job>();
        let jobs = Arc::new(Mutex::new(jobs));
        for number in 0..workers.max(1) {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new().name(format!("task-{number}")).spawn(move || {
                loop {
                    // The lock is held while waiting, not while working.
                    let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    match next {
                        Ok(job) => job(),
                        Err(mpsc::RecvError) => break,
                    }
                }
            })?;
        }
        Ok(Self { queue })
    }

    /// Queues a job. A job must catch its own panics.
    pub(crate) fn push(&self, job: impl FnOnce() + Send + 'static) {
        // The receiver lives as long as the threads, which end only after `self`.
        if self.queue.send(Box::new(job)).is_err() {
            tracing::error!("no thread is left to run a task");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn each_thread_runs_a_job_at_the_same_time() {
        let jobs = Threads::start(3).expect("threads");
        // Opens only if all three jobs and this thread wait at the same time.
        let barrier = Arc::new(Barrier::new(4));
        for _ in 0..3 {
            let barrier = Arc::clone(&barrier);
            jobs.push(move || {
                barrier.wait();
            });
        }
        barrier.wait();
    }
}

//! The runner of a desktop: a few threads of this process, with a low priority. They run tasks in
//! the order in which the tasks were started.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use crate::low_priority;

type Job = Box<dyn FnOnce() + Send>;

/// A fixed number of threads with a queue of jobs.
#[derive(Debug, Clone)]
pub(crate) struct Threads {
    queue: mpsc::Sender<Job>,
}

impl Threads {
    /// Starts `workers` threads, but at least one. They end once the last [`Threads`] is dropped
    /// and the queue is empty.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(crate) fn start(workers: usize) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel::<Job>();
        let jobs = Arc::new(Mutex::new(jobs));
        for number in 0..workers.max(1) {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new().name(format!("task-{number}")).spawn(move || {
                low_priority::lower_this_thread();
                loop {
                    // The lock is only held while a thread waits for a job, not while it runs the
                    // job.
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

    /// Adds a job to the queue. The job must catch its own panics.
    pub(crate) fn push(&self, job: impl FnOnce() + Send + 'static) {
        // The receiver exists as long as the threads do, and these end only after `self` is
        // dropped.
        if self.queue.send(Box::new(job)).is_err() {
            tracing::error!("cannot run a task: all task threads have ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn each_thread_runs_a_job_at_the_same_time() {
        let jobs = Threads::start(3).expect("the threads start");
        // The barrier opens only if all three jobs and this thread wait for it at the same time.
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

//! Runs long work with a lower priority, so that short requests are answered quickly while the work
//! runs.
//!
//! Only Linux has priorities of threads. Other systems run long work with the usual priority. An
//! ordinary user may lower the priority of a thread, but never raise it again, so long work has
//! separate threads.

use std::io;
use std::panic::resume_unwind;
use std::thread;

use tokio::runtime::Handle;

/// The priority (`nice`) of threads with long work. When it competes with a busy thread of priority
/// 0, such a thread gets a quarter of a processor.
#[cfg(target_os = "linux")]
const LONG_WORK: i32 = 5;

/// Runs `work` on a new thread with a lower priority and waits for it. A panic of the work
/// continues in the caller.
///
/// # Errors
/// The system cannot start a thread.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let mut work = Some(work);
    let mut result = None;
    run_on_thread(&mut || result = work.take().map(|work| work()))?;
    result.ok_or_else(|| io::Error::other("the thread did not run its work"))
}

/// Runs `work` on a new thread with a lower priority and waits for it. All work has the same
/// dynamic type, so that this function is compiled only once.
fn run_on_thread(work: &mut (dyn FnMut() + Send)) -> io::Result<()> {
    let runtime = Handle::try_current().ok();
    thread::scope(|scope| {
        let long_work = move || {
            lower_this_thread();
            let _entered = runtime.as_ref().map(Handle::enter);
            work();
        };
        let thread = thread::Builder::new().name("long-work".to_owned()).spawn_scoped(scope, long_work)?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok(())
    })
}

/// Gives the calling thread the priority of long work.
#[cfg(target_os = "linux")]
pub(crate) fn lower_this_thread() {
    lower(rustix::thread::gettid(), LONG_WORK);
}

/// Gives a thread of this process the priority `nice`, unless its priority is lower already.
#[cfg(target_os = "linux")]
pub(crate) fn lower(thread: rustix::thread::Pid, nice: i32) {
    use rustix::process::{getpriority_process, setpriority_process};
    // On Linux, these functions concern a single thread.
    let lowering = getpriority_process(Some(thread)).and_then(|current_nice| {
        if current_nice < nice { setpriority_process(Some(thread), nice) } else { Ok(()) }
    });
    if let Err(error) = lowering {
        tracing::warn!(%error, "cannot lower the priority of a thread");
    }
}

/// Does nothing, because only Linux has priorities of threads.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lower_this_thread() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    fn priority_of_this_thread() -> i32 {
        rustix::process::getpriority_process(Some(rustix::thread::gettid())).expect("a priority")
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn long_work_has_a_lower_priority_than_its_caller() {
        let priority_before = priority_of_this_thread();
        let during = run(priority_of_this_thread).expect("the thread starts");
        assert_eq!(during, LONG_WORK.max(priority_before));
        assert_eq!(priority_of_this_thread(), priority_before);
    }

    #[tokio::test]
    async fn long_work_can_use_the_runtime_of_its_caller() {
        let runs_future = || Handle::current().block_on(async { 7 });
        let result = tokio::task::spawn_blocking(move || run(runs_future)).await;
        assert_eq!(result.expect("no panic").expect("the thread starts"), 7);
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn a_panic_of_long_work_reaches_its_caller() {
        run(|| panic!("panic of the work")).expect("the thread starts");
    }
}

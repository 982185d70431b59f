//! Priorities of threads that process in real time, where the system allows them.

/// Priority (`nice`) of such a thread. Beside a busy thread of priority 0, it gets nine tenths of a
/// processor.
#[cfg(target_os = "linux")]
const REAL_TIME: i32 = -10;

/// Raises the priority of the calling thread. Without the right to do so, the thread keeps its
/// priority.
#[cfg(target_os = "linux")]
pub(super) fn raise_this_thread() {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), REAL_TIME);
}

/// Ends [`raise_this_thread`] in a thread that such a thread has started, so that the processes
/// that it starts have the usual priority.
#[cfg(target_os = "linux")]
pub(super) fn lower_this_thread() {
    use rustix::process::{getpriority_process, setpriority_process};
    let thread = Some(rustix::thread::gettid());
    if getpriority_process(thread) == Ok(REAL_TIME) {
        let _ = setpriority_process(thread, 0);
    }
}

/// Does nothing: only Linux has priorities of threads.
#[cfg(not(target_os = "linux"))]
pub(super) fn raise_this_thread() {}

/// Does nothing: only Linux has priorities of threads.
#[cfg(not(target_os = "linux"))]
pub(super) fn lower_this_thread() {}

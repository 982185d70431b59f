//! Counts the memory that a thread holds, and its allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with counts for each thread.
pub(crate) struct Counting;

fn count(bytes: isize) {
    // A thread that ends has no counts any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is passed unchanged to the system's allocator. Counting does not allocate, as
// the cells are constants without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: `memory` came from `alloc` above with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Memory use of a closure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Largest number of bytes that the thread held, beyond those held before.
    pub(crate) peak_bytes: usize,
    /// Number of allocations.
    pub(crate) requests: usize,
}

/// Runs a closure; returns its result and its memory use.
pub(crate) fn cost<T>(run: impl FnOnce() -> T) -> (T, Cost) {
    let (held, requests) = (HELD.get(), REQUESTS.get());
    PEAK.set(held);
    let result = run();
    (result, Cost { peak_bytes: (PEAK.get() - held) as usize, requests: REQUESTS.get() - requests })
}

#[test]
fn memory_is_counted() {
    let (kept, cost) = cost(|| {
        drop(vec![1_u8; 50_000]);
        vec![1_u8; 10_000]
    });
    assert_eq!((kept.len(), cost), (10_000, Cost { peak_bytes: 50_000, requests: 2 }));
}

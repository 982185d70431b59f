//! Counts the allocations of each thread and the memory that is currently allocated by it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static CURRENT_BYTES: Cell<isize> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which also counts the memory and the allocations of each thread.
pub(crate) struct Counting;

/// Adds `bytes`, which is negative for a deallocation, to the memory of this thread.
fn count(bytes: isize) {
    // `try_with` fails while the thread ends, when its counts are already destroyed.
    let _ = CURRENT_BYTES.try_with(|current_bytes| {
        current_bytes.set(current_bytes.get() + bytes);
        let _ = PEAK_BYTES.try_with(|peak| peak.set(peak.get().max(current_bytes.get())));
    });
}

#[expect(unsafe_code, reason = "`GlobalAlloc` is an unsafe trait")]
// SAFETY: every call is passed unchanged to the system's allocator. Counting does not allocate,
// because the thread-local cells have constant initial values and no destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
        // SAFETY: the caller fulfils the contract of `alloc`.
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
    /// Maximum memory of the thread during the call, minus its memory before the call.
    pub(crate) peak_bytes: usize,
    /// Number of allocations.
    pub(crate) allocations: usize,
}

/// Calls a closure and returns its result and its memory use.
pub(crate) fn cost<T>(action: impl FnOnce() -> T) -> (T, Cost) {
    let (initial_bytes, allocations) = (CURRENT_BYTES.get(), ALLOCATIONS.get());
    PEAK_BYTES.set(initial_bytes);
    let result = action();
    (
        result,
        Cost {
            peak_bytes: (PEAK_BYTES.get() - initial_bytes) as usize,
            allocations: ALLOCATIONS.get() - allocations,
        },
    )
}

#[test]
fn the_peak_includes_memory_that_is_freed_again() {
    let (remaining, cost) = cost(|| {
        drop(vec![1_u8; 50_000]);
        vec![1_u8; 10_000]
    });
    assert_eq!((remaining.len(), cost), (10_000, Cost { peak_bytes: 50_000, allocations: 2 }));
}

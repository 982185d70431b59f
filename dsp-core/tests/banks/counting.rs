//! Counts the memory that a thread holds, and how often it asks for some.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
pub(crate) struct Counting;

fn count(bytes: isize) {
    // A thread that ends has no count any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every request goes to the system's allocator as it came; counting allocates nothing, as
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

/// What something has taken of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The most bytes that the thread held meanwhile, beyond what it held before.
    pub(crate) most_bytes: usize,
    /// How often it asked for memory.
    pub(crate) requests: usize,
}

/// Runs something; returns what it returned, and what it cost.
pub(crate) fn cost<T>(run: impl FnOnce() -> T) -> (T, Cost) {
    let (held, requests) = (HELD.get(), REQUESTS.get());
    MOST.set(held);
    let result = run();
    (result, Cost { most_bytes: (MOST.get() - held) as usize, requests: REQUESTS.get() - requests })
}

#[test]
fn memory_is_counted() {
    let (kept, cost) = cost(|| {
        drop(vec![1_u8; 50_000]);
        vec![1_u8; 10_000]
    });
    assert_eq!((kept.len(), cost), (10_000, Cost { most_bytes: 50_000, requests: 2 }));
}

//! Counts the memory that a thread holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
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
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: `memory` came from `alloc` above with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Runs something; returns what it returned, and the most bytes that this thread held meanwhile
/// beyond what it held before.
pub(crate) fn most_bytes<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    MOST.set(before);
    let result = run();
    (result, (MOST.get() - before) as usize)
}

#[test]
fn memory_is_counted() {
    let (kept, bytes) = most_bytes(|| {
        drop(vec![1_u8; 50_000]);
        vec![1_u8; 10_000]
    });
    assert_eq!((kept.len(), bytes), (10_000, 50_000));
}

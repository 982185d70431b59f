//! Settings of the C library's allocator, so that memory goes back to the system once it is free.
//!
//! The GNU C library raises the size above which a block has pages of its own whenever such a block
//! is freed, up to 32 MiB, and has eight heaps for each processor. After some large requests a
//! service then keeps hundreds of megabytes that nobody uses. Source: mallopt(3).

/// Sets the allocator up. For the start of the program, before other threads allocate.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator of the C library is set through a foreign function")]
pub(crate) fn set_up() {
    const SETTINGS: [(libc::c_int, libc::c_int); 3] = [
        // Blocks of so many bytes have pages of their own, which are freed with them.
        (libc::M_MMAP_THRESHOLD, 256 * 1024),
        // So many free bytes at the end of a heap go back.
        (libc::M_TRIM_THRESHOLD, 1024 * 1024),
        (libc::M_ARENA_MAX, 4),
    ];
    for (name, value) in SETTINGS {
        // SAFETY: `mallopt` takes two numbers and may be called at any time. A setting that it does
        // not know it refuses.
        unsafe { libc::mallopt(name, value) };
    }
}

/// Gives free pages back to the system that lie between used ones, in all heaps. Takes
/// milliseconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator of the C library is asked through a foreign function")]
pub(crate) fn give_back() {
    // SAFETY: `malloc_trim` takes a number, touches free memory only and may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators stay as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn set_up() {}

/// Other allocators decide that themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

//! Settings of the C library's allocator, with which freed memory returns to the operating system.
//!
//! By default, the GNU C library has eight heaps for each processor. It also raises its mmap
//! threshold, up to 32 MiB, whenever it frees a mapped block. So after a few large requests, the
//! service would keep hundreds of megabytes of unused memory. Source: mallopt(3).

/// Applies these settings. Must be called at the start of the program, before other threads
/// allocate memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator of the C library is set through a foreign function")]
pub(crate) fn set_up() {
    const MALLOC_SETTINGS: [(libc::c_int, libc::c_int); 3] = [
        // Minimum size in bytes of blocks that are mapped, and unmapped when they are freed.
        (libc::M_MMAP_THRESHOLD, 256 * 1024),
        // Number of free bytes at the end of a heap above which they return to the system.
        (libc::M_TRIM_THRESHOLD, 1024 * 1024),
        // Maximum number of heaps.
        (libc::M_ARENA_MAX, 4),
    ];
    for (name, value) in MALLOC_SETTINGS {
        // SAFETY: `mallopt` takes two numbers and may be called at any time. It refuses unknown
        // settings.
        unsafe { libc::mallopt(name, value) };
    }
}

/// Returns the unused pages of all heaps to the operating system. This takes milliseconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator of the C library is called through a foreign function")]
pub(crate) fn return_free_memory() {
    // SAFETY: `malloc_trim` takes a number, changes free memory only and may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing, because other allocators need no settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn set_up() {}

/// Does nothing, because other allocators return memory themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_free_memory() {}

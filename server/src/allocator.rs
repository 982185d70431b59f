//! Settings of the C library's allocator, so that free memory returns to the system.
//!
//! By default, the GNU C library has eight heaps for each processor. Whenever it frees a mapped
//! block, it raises its mmap threshold, up to 32 MiB. After a few large requests, the service would
//! keep hundreds of megabytes of unused memory. Source: mallopt(3).

/// Sets the allocator up. Called at the start of the program, before other threads allocate.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator of the C library is set through a foreign function")]
pub(crate) fn set_up() {
    const SETTINGS: [(libc::c_int, libc::c_int); 3] = [
        // Blocks from this size on are mapped, and unmapped when they are freed.
        (libc::M_MMAP_THRESHOLD, 256 * 1024),
        // Free bytes at the end of a heap above which they return to the system.
        (libc::M_TRIM_THRESHOLD, 1024 * 1024),
        (libc::M_ARENA_MAX, 4),
    ];
    for (name, value) in SETTINGS {
        // SAFETY: `mallopt` takes two numbers and may be called at any time. It refuses unknown
        // settings.
        unsafe { libc::mallopt(name, value) };
    }
}

/// Returns free pages between used ones to the system, in all heaps. Takes milliseconds.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator of the C library is asked through a foreign function")]
pub(crate) fn return_free_memory() {
    // SAFETY: `malloc_trim` takes a number, changes free memory only and may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators need no settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn set_up() {}

/// Other allocators return memory by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_free_memory() {}

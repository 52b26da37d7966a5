//! What the allocator keeps. Left alone, the C library's keeps up to sixteen arenas, and of each as much as twice the
//! largest block that ever went through it: tens of mebibytes after a busy hour, with nothing in them.

/// Bounds what is kept free. Nothing to do where the C library is another than GNU's.
pub(super) fn bound() {
    #[cfg(target_env = "gnu")]
    for (what, most) in [
        // Enough that two workers and the threads beside them seldom wait for one another.
        (libc::M_ARENA_MAX, 4),
        // Bytes at the top of an arena. Saying so also keeps the next from growing with use.
        (libc::M_TRIM_THRESHOLD, 1 << 20),
        // Larger blocks go back to the system when they are freed.
        (libc::M_MMAP_THRESHOLD, 4 << 20),
    ] {
        // SAFETY: it sets numbers of the allocator, and no other thread exists yet. What it refuses stays as it was.
        #[expect(unsafe_code, reason = "the C library's allocator has no safe interface")]
        unsafe {
            libc::mallopt(what, most)
        };
    }
}

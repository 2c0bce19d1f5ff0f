//! The heaps of the C library.

/// Lets all threads that start from now on share one heap, where the C library is glibc.
///
/// glibc reserves 64 MiB of address space for each of the first threads, so two of them may leave nothing of a limit of
/// 150 MiB (`ulimit -v`). Then an allocation fails although hardly any memory is used.
pub fn share() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the call changes a setting of the allocator. It takes numbers, and may be made at any time. If it
        // fails, the setting is as before.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

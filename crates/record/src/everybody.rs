//! A fence that every running thread of the process passes: Linux's `membarrier(2)`.
//!
//! With it the fences of two sides can be asymmetric (as in the C++ proposal P1202). The side that acts often only
//! keeps the compiler from reordering. The side that acts seldom calls [`fence`]. At that point a thread of the first
//! side is either before its load, and will see what the caller has stored, or after it, and the caller will see what
//! that thread has stored before.
//!
//! The call takes about 0.4 us, and some 10 us while other threads of the process run.
//!
//! Loom has no such fence. Its models pass an ordinary fence on both sides: of two threads, one on each side, this
//! promises the same. Two threads that only call [`light`] are ordered in a model and not in reality, so no code may
//! rely on such an order.

#[cfg(all(
    target_os = "linux",
    not(portable),
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, shuttle, miri))
))]
mod with {
    use std::ffi::c_long;
    use std::sync::atomic::{AtomicU8, Ordering};

    const MEMBARRIER: c_long = if cfg!(target_arch = "x86_64") { 324 } else { 283 };
    const PRIVATE_EXPEDITED: c_long = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: c_long = 1 << 4;

    // SAFETY: this is the C library's `syscall`, which `std` links on Linux. Its C declaration is `long
    // syscall(long number, ...)` in glibc and in musl, and the types here are the same.
    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
    }

    fn membarrier(command: c_long) -> c_long {
        // SAFETY: `membarrier(command, flags, cpu)` takes three integers, and neither reads nor writes memory
        // of the caller. An unknown command makes it return an error.
        unsafe { syscall(MEMBARRIER, command, 0 as c_long, 0 as c_long) }
    }

    /// Whether [`fence`] may be called. It asks the system, and keeps the answer: old kernels and some sandboxes refuse.
    pub fn can_be_fenced() -> bool {
        const REGISTERED: u8 = 1;
        const REFUSED: u8 = 2;
        // No lock: a process that was forked while another thread asks would wait for that thread for ever.
        static ANSWER: AtomicU8 = AtomicU8::new(0);
        match ANSWER.load(Ordering::Relaxed) {
            0 => {
                let is_registered = membarrier(REGISTER_PRIVATE_EXPEDITED) == 0;
                ANSWER.store(if is_registered { REGISTERED } else { REFUSED }, Ordering::Relaxed);
                is_registered
            }
            answer => answer == REGISTERED,
        }
    }

    /// Returns once every thread of the process has passed a full fence since the call.
    #[cold]
    pub fn fence() {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
        // A process that was forked after the registration is registered too. Only a sandbox that was entered
        // since then can make the call fail.
        assert!(
            membarrier(PRIVATE_EXPEDITED) == 0,
            "the system refuses `membarrier`, which it allowed before: allow this system call in the sandbox"
        );
    }
}

/// In a model, a fence of the calling thread is sufficient, because [`light`] is a fence there too. Shuttle's memory is
/// sequentially consistent.
#[cfg(any(loom, shuttle))]
mod with {
    /// [`fence`] may be called.
    pub fn can_be_fenced() -> bool {
        true
    }

    /// A fence of the calling thread.
    pub fn fence() {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
    }
}

#[cfg(all(
    not(any(loom, shuttle)),
    not(all(
        target_os = "linux",
        not(portable),
        any(target_arch = "x86_64", target_arch = "aarch64"),
        not(miri)
    ))
))]
mod with {
    /// [`fence`] must not be called.
    pub fn can_be_fenced() -> bool {
        false
    }

    /// Never called.
    pub fn fence() {
        unreachable!("`fence` is called only if `can_be_fenced` returns true")
    }
}

pub use with::{can_be_fenced, fence};

/// The other side of [`fence`]: keeps the compiler from moving a load before an earlier store.
#[inline(always)]
pub fn light() {
    #[cfg(loom)]
    crate::sync::fence(crate::sync::Ordering::SeqCst);
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

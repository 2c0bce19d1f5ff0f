//! How one side of a one-to-one record wakes the other, without a fence while items flow.
//!
//! The side that has published an index must learn whether the other sleeps; the side that is about to sleep
//! must see what was published. Each stores, then loads what the other stores, so each needs a fence in
//! between (see [`EventCount`]). The publisher would pay its fence with every burst, for a sleeper that is
//! hardly ever there: about a third of the time that a burst of 64 words takes.
//!
//! Where the system offers it, the fences are asymmetric (as in the C++ proposal P1202, and as Linux's
//! `membarrier(2)` describes): the publisher only keeps the compiler from reordering, and the sleeper makes
//! every running thread of the process pass a full fence at a point of the sleeper's choosing. Now each
//! publisher stands, at that point, either before its store, and will see the sleeper; or after it, and the
//! sleeper will see the store.
//!
//! That costs the sleeper some 10 us. So the bell is *light* only while its listener has not slept for a
//! while; a listener that sleeps often keeps it heavy, where both sides make their own fences.

use crate::{
    EventCount,
    record::wait::Patience,
    sync::{AtomicBool, Ordering, Padded},
};
use std::sync::atomic::compiler_fence;

/// A bell with one listener.
pub(super) struct Bell {
    event: EventCount,
    /// True while those who ring need no fence. Written by the listener only; to go from true to false it makes
    /// every thread pass a fence before it sleeps. Never true where the system cannot do that.
    light: Padded<AtomicBool>,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self { event: EventCount::new(), light: Padded(AtomicBool::new(false)) }
    }

    /// Wakes the listener if it sleeps. What it shall find must have been stored before.
    #[inline]
    pub(super) fn ring(&self) {
        if self.light.load(Ordering::Relaxed) {
            compiler_fence(std::sync::atomic::Ordering::SeqCst);
            if self.event.sleepers() > 0 {
                self.ring_loudly();
            }
        } else {
            self.event.notify();
        }
    }

    #[cold]
    #[inline(never)]
    fn ring_loudly(&self) {
        self.event.notify();
    }

    /// Wakes the listener for the last time.
    pub(super) fn ring_out(&self) {
        self.event.notify_all();
    }
}

/// How many waits without sleep make the bell light.
const CALM: u8 = 16;

/// The listener's side of a bell.
#[derive(Debug, Default)]
pub(super) struct Listener {
    patience: Patience,
    /// Waits without sleep since the last sleep, up to `CALM`. The bell is light only at `CALM`.
    calm: u8,
}

impl Listener {
    /// Calls `look` until it gives something. Whoever makes it succeed must ring `bell` afterwards.
    #[cold]
    pub(super) fn until<R>(&mut self, bell: &Bell, mut look: impl FnMut() -> Option<R>) -> R {
        let found = look().or_else(|| self.patience.poll(&mut look));
        if let Some(found) = found {
            if self.calm < CALM {
                self.calm += 1;
                bell.light.store(self.calm == CALM && everybody::can_be_fenced(), Ordering::Relaxed);
            }
            return found;
        }
        self.calm = 0;
        loop {
            let ticket = bell.event.prepare();
            if bell.light.load(Ordering::Relaxed) {
                bell.light.store(false, Ordering::Relaxed);
                everybody::fence();
            }
            match look() {
                Some(found) => {
                    bell.event.leave();
                    return found;
                }
                None => bell.event.wait(ticket),
            }
        }
    }
}

/// A fence that every running thread of the process passes: Linux's `membarrier`.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, shuttle, miri))
))]
mod everybody {
    use std::{ffi::c_long, sync::OnceLock};

    const MEMBARRIER: c_long = if cfg!(target_arch = "x86_64") { 324 } else { 283 };
    const PRIVATE_EXPEDITED: c_long = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: c_long = 1 << 4;

    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
    }

    fn membarrier(command: c_long) -> c_long {
        // SAFETY: `membarrier(command, flags, cpu)` takes three numbers and touches no memory of ours.
        unsafe { syscall(MEMBARRIER, command, 0 as c_long, 0 as c_long) }
    }

    /// Whether [`fence`] may be called. Asks the system once: old kernels and sandboxes say no.
    pub(super) fn can_be_fenced() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) == 0)
    }

    /// Returns when every thread has passed a full fence since the call.
    #[cold]
    pub(super) fn fence() {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
        // A process forked since has the registration too; a sandbox may have been entered since.
        assert!(membarrier(PRIVATE_EXPEDITED) == 0, "membarrier has stopped working");
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, shuttle, miri))
)))]
mod everybody {
    pub(super) fn can_be_fenced() -> bool {
        false
    }

    pub(super) fn fence() {
        unreachable!("a bell is never light here")
    }
}

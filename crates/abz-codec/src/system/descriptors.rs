//! Which of the standard streams the process was started without.
//!
//! Before `main`, the standard library opens `/dev/null` in the place of standard input, output and error where these are
//! closed, so that no file that is opened later gets their numbers. From then on a program that was started without
//! standard output (`>&-` in a shell) writes to nowhere and is told of no error. What there was can be known only by code
//! that runs earlier: the system's loader calls a function of this module, which looks and notes.

use std::sync::atomic::{AtomicU8, Ordering};

/// One of the standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Standard input, the descriptor 0.
    Input,
    /// Standard output, the descriptor 1.
    Output,
    /// Standard error, the descriptor 2.
    Error,
}

/// True if the process was started without this stream. It is false where the system has no way to find out: it has one
/// on Linux and Apple's systems.
pub fn was_closed(stream: StandardStream) -> bool {
    // A use of the pointer to the function keeps the linker from leaving it out.
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    std::hint::black_box(&LOOK);
    CLOSED.load(Ordering::Relaxed) >> (stream as u8) & 1 == 1
}

/// A bit for each descriptor from 0 to 2 that was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

// SAFETY: the loader of these systems calls the functions whose pointers lie in this section once, before `main`, on the
// only thread that there is, with the convention of C; `look` takes no arguments, and may be called with some.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

/// Notes which descriptors are closed. It runs before the standard library is ready, and uses nothing of it but an atomic
/// number.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
extern "C" fn look() {
    let mut closed = 0;
    for descriptor in 0..3 {
        // SAFETY: this asks for the flags of a descriptor, whether there is one or not, and changes nothing.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            closed |= 1 << descriptor;
        }
    }
    CLOSED.store(closed, Ordering::Relaxed);
}

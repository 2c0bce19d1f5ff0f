//! Descriptors: the error of closing one, and standard streams that were closed when the process started.
//!
//! If standard input, output or error is closed, the standard library opens `/dev/null` in its place before `main`, so
//! that no file that is opened later gets its number. A program that was started without standard output (`>&-` in a
//! shell) then writes to nowhere and gets no error. Only code that runs earlier can tell: the system's loader calls a
//! function of this module, which checks the descriptors.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// Closes a file. Dropping a [`File`](std::fs::File) closes it too, but hides the error.
///
/// # Errors
///
/// If data that was written before cannot be stored. File systems on a network, and some others, only find out about a
/// full disk or an exceeded quota when the file is closed. The file is closed in any case.
pub fn close(file: impl Into<OwnedFd>) -> io::Result<()> {
    let descriptor = file.into().into_raw_fd();
    // SAFETY: the descriptor was owned, so it is open, and nothing else closes or uses it from here on.
    match unsafe { libc::close(descriptor) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

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

/// Returns whether the process was started without this stream. It returns `false` on systems other than Linux and
/// Apple's, where this is unknown.
pub fn was_closed(stream: StandardStream) -> bool {
    // Using the pointer to the function keeps the linker from removing it.
    #[cfg(any(all(target_os = "linux", not(portable)), target_vendor = "apple"))]
    std::hint::black_box(&LOOK);
    CLOSED.load(Ordering::Relaxed) >> (stream as u8) & 1 == 1
}

/// A bit for each descriptor from 0 to 2 that was closed.
static CLOSED: AtomicU8 = AtomicU8::new(0);

// SAFETY: the loader of these systems calls the functions whose pointers lie in this section once, before `main`, on
// the only thread, with the C convention; `look` takes no arguments, and may be called with some.
#[cfg(any(all(target_os = "linux", not(portable)), target_vendor = "apple"))]
#[used]
#[cfg_attr(all(target_os = "linux", not(portable)), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

/// Records which descriptors are closed. It runs before the standard library is ready, and uses only an atomic number
/// of it.
#[cfg(any(all(target_os = "linux", not(portable)), target_vendor = "apple"))]
extern "C" fn look() {
    let mut closed = 0;
    for descriptor in 0..3 {
        // SAFETY: this asks for the flags of a descriptor, whether it is open or not, and changes nothing.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            closed |= 1 << descriptor;
        }
    }
    CLOSED.store(closed, Ordering::Relaxed);
}

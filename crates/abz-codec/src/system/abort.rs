//! What a program does before it is aborted.
//!
//! The standard library aborts the process where a small allocation fails, or where a thread has no memory for its start. No
//! destructor runs then, so a program that makes files would leave them half written.

use std::sync::OnceLock;

/// What is called.
static LAST: OnceLock<fn()> = OnceLock::new();

/// Has `last` called when this process aborts itself, on the thread that does so; the process then ends with status 1. It must
/// not wait for what that thread may hold, and has to do with little memory. Only the first call counts. An abort that another
/// process asks for (`kill -ABRT`) is none of this kind. On other systems than Linux nothing is called.
pub fn before_abort(last: fn()) {
    if LAST.set(last).is_err() {
        return;
    }
    #[cfg(target_os = "linux")]
    linux::handle();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ptr;

    use libc::{c_int, c_void, sigaction, siginfo_t};

    use super::LAST;

    /// Takes over the signal by which a process aborts itself.
    pub(super) fn handle() {
        // SAFETY: all of `action` is set, zeros being an empty mask and no flags, and `run` is a function of the kind that
        // SA_SIGINFO asks for.
        unsafe {
            let mut action: sigaction = std::mem::zeroed();
            action.sa_sigaction = run as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGABRT, &action, ptr::null_mut());
        }
    }

    extern "C" fn run(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system gives what it knows of the signal, which has a sender if it is of one of these kinds.
        let is_ours = unsafe {
            let info = &*info;
            info.si_code == libc::SI_TKILL && info.si_pid() == libc::getpid()
        };
        if !is_ours {
            // SAFETY: this gives the signal its default action, and sends it once more; it comes when this function is left.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
            return;
        }
        // The thread called `abort`, which called this: it is no interruption at any other place, and may do what a function
        // does that `abort` calls.
        if let Some(last) = LAST.get() {
            last();
        }
        // SAFETY: this ends the process, with nothing before.
        unsafe { libc::_exit(1) }
    }
}

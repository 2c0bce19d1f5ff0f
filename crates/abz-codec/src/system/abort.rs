//! What a program does before it is ended by a signal or ends itself by one.
//!
//! The standard library aborts the process where a small allocation fails, or where a thread has no memory for its start. No
//! destructor runs then, nor when a signal ends the process, so a program that makes files would leave them half written.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// Why the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It aborts itself.
    Aborted,
    /// A signal ends it: one that a process has sent, or a fault of its own.
    Signal,
}

/// What is called.
static LAST: OnceLock<fn(Ending)> = OnceLock::new();

/// The signal for which a thread waits that will call [`end_by`]; 0 if there is none.
static AWAITED: AtomicI32 = AtomicI32::new(0);

/// The signal of a fault that another process has sent, for which [`AWAITED`] stands; 0 if there is none.
static SENT: AtomicI32 = AtomicI32::new(0);

/// Has `last` called when this process aborts itself, or when one of the signals of faults ends it, be it sent or not: SIGABRT,
/// SIGBUS, SIGFPE, SIGILL and SIGSEGV. It is called by a thread that may be anywhere, so it must not wait for what that thread
/// may hold, and has to do with little memory. A process that aborted itself then ends with status 1, any other one by the
/// signal. Only the first call counts. On other systems than Linux nothing is called.
pub fn before_end(last: fn(Ending)) {
    if LAST.set(last).is_err() {
        return;
    }
    #[cfg(target_os = "linux")]
    linux::handle(&linux::FAULTS);
}

/// Has what was given to [`before_end`] called before one of `signals` ends the process. It is for those for which no thread
/// waits. On other systems than Linux nothing changes.
pub fn before_end_by(signals: &[i32]) {
    #[cfg(target_os = "linux")]
    linux::handle(signals);
    #[cfg(not(target_os = "linux"))]
    let _ = signals;
}

/// Tells that a thread waits for `signal`, and calls [`end_by`] when it comes. From here on it gets this signal in the place of one
/// of faults that another process has sent: the thread can wait for others, which a handler can not.
pub fn hand_over_to(signal: i32) {
    AWAITED.store(signal, Ordering::Relaxed);
}

/// The signals that end a process if nothing is done about them, and can be caught: without those of faults, and without SIGPIPE
/// and SIGXFSZ, which are told as errors by the calls that cause them, where they are ignored.
#[cfg(unix)]
pub fn ending_signals() -> Vec<i32> {
    use libc::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1, SIGUSR2, SIGVTALRM,
        SIGXCPU,
    };
    #[allow(unused_mut, reason = "Linux has more of them")]
    let mut signals = vec![
        SIGHUP, SIGINT, SIGQUIT, SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGXCPU, SIGVTALRM, SIGPROF,
        SIGSYS,
    ];
    #[cfg(target_os = "linux")]
    {
        signals.extend([libc::SIGSTKFLT, libc::SIGIO, libc::SIGPWR]);
        signals.extend(libc::SIGRTMIN()..=libc::SIGRTMAX());
    }
    signals
}

/// Ends the process by a signal, or by that which was handed over as this one, as if nothing had been done about it.
#[cfg(unix)]
pub fn end_by(signal: i32) -> ! {
    let signal = match SENT.load(Ordering::Relaxed) {
        0 => signal,
        sent => sent,
    };
    // SAFETY: this gives the signal its default action, lets this thread have it, and sends it to this thread. All of `set` is
    // set before it is read.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::signal(signal, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::raise(signal);
    }
    // The signal is one that ends no process.
    std::process::exit(1)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;
    use std::{mem, ptr};

    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, c_int, c_void, sigaction, siginfo_t};

    use super::{AWAITED, Ending, LAST, SENT};

    /// The signals that a fault of the process itself causes.
    pub(super) const FAULTS: [c_int; 5] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV];

    /// What was done about each of them before. The standard library finds out whether a stack was too small.
    static BEFORE: OnceLock<[sigaction; FAULTS.len()]> = OnceLock::new();

    /// Takes over signals by which a process ends.
    pub(super) fn handle(signals: &[c_int]) {
        // SAFETY: zeros are an action; the calls with a null pointer for the new action only fill `before`.
        let before = FAULTS.map(|signal| unsafe {
            let mut before: sigaction = mem::zeroed();
            libc::sigaction(signal, ptr::null(), &mut before);
            before
        });
        let _ = BEFORE.set(before);
        for &signal in signals {
            // SAFETY: all of `action` is set, zeros being an empty mask, and `run` is a function of the kind that SA_SIGINFO
            // asks for. It may run on the stack that a thread has for the case that its own is too small.
            unsafe {
                let mut action: sigaction = mem::zeroed();
                action.sa_sigaction = run as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
    }

    extern "C" fn run(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system gives what it knows of the signal, which has a sender if it is of one of these kinds.
        let (was_sent, is_abort) = unsafe {
            let info = &*info;
            let is_ours = info.si_code == libc::SI_TKILL && info.si_pid() == libc::getpid();
            (info.si_code <= 0, signal == SIGABRT && is_ours)
        };
        let awaited = AWAITED.load(Ordering::Relaxed);
        if was_sent && !is_abort && awaited != 0 && FAULTS.contains(&signal) {
            SENT.store(signal, Ordering::Relaxed);
            // SAFETY: this sends a signal to this process.
            unsafe { libc::kill(libc::getpid(), awaited) };
            return;
        }
        let ending = if is_abort { Ending::Aborted } else { Ending::Signal };
        // A thread that aborts called `abort`, which called this. Any other one is interrupted, so what is called waits for
        // nothing, as it promises.
        if let Some(last) = LAST.get() {
            last(ending);
        }
        if is_abort {
            // SAFETY: this ends the process, with nothing before.
            unsafe { libc::_exit(1) }
        }
        let before = FAULTS.iter().position(|&fault| fault == signal).zip(BEFORE.get());
        match before {
            // The thread does again what was at fault, and comes to where it would have come before.
            Some((at, before)) if !was_sent => {
                // SAFETY: this is an action that the system has told.
                unsafe { libc::sigaction(signal, &before[at], ptr::null_mut()) };
            }
            _ => {
                // SAFETY: this gives the signal its default action, and sends it once more; it comes when this function is
                // left.
                unsafe {
                    libc::signal(signal, libc::SIG_DFL);
                    libc::raise(signal);
                }
            }
        }
    }
}

//! A callback before the process aborts or a signal ends it.
//!
//! The standard library aborts the process if a small allocation fails, or if there is no memory to start a thread.
//! Neither then nor when a signal ends the process do destructors run, so a program that writes files would leave them
//! half written.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// The reason why the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The process aborts itself.
    Aborted,
    /// A signal ends the process: one that a process has sent, or a fault of its own.
    Signal,
}

/// The callback.
static LAST: OnceLock<fn(Ending)> = OnceLock::new();

/// The signal for which a thread waits that will call [`end_by`]; 0 if there is none.
static AWAITED: AtomicI32 = AtomicI32::new(0);

/// The fault signal from another process for which [`AWAITED`] was raised; 0 if there is none.
static SENT: AtomicI32 = AtomicI32::new(0);

/// Sets a callback for the case that this process aborts itself, or that a fault signal ends it, whether it was sent or
/// not: SIGABRT, SIGBUS, SIGFPE, SIGILL and SIGSEGV. The callback runs on the thread that is interrupted, so it must
/// not wait for anything that this thread may hold, and must need little memory. After an abort the process ends with
/// status 1, and otherwise by the signal. Only the first call has an effect. On systems other than Linux the callback
/// is never called.
pub fn before_end(last: fn(Ending)) {
    if LAST.set(last).is_err() {
        return;
    }
    #[cfg(all(target_os = "linux", not(portable)))]
    linux::handle(&linux::FAULTS);
}

/// Makes `signals` call the callback of [`before_end`] before they end the process. This is for signals for which no
/// thread waits. It has no effect on systems other than Linux.
pub fn before_end_by(signals: &[i32]) {
    #[cfg(all(target_os = "linux", not(portable)))]
    linux::handle(signals);
    #[cfg(not(all(target_os = "linux", not(portable))))]
    let _ = signals;
}

/// Announces that a thread waits for `signal`, and calls [`end_by`] when it comes. From then on, a fault signal from
/// another process is replaced by `signal`: the waiting thread can wait for other threads, which a signal handler
/// cannot.
pub fn hand_over_to(signal: i32) {
    AWAITED.store(signal, Ordering::Relaxed);
}

/// Returns the signals that end a process by default and can be caught, without fault signals, and without SIGPIPE and
/// SIGXFSZ: if these are ignored, the calls that cause them return errors.
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
    #[cfg(all(target_os = "linux", not(portable)))]
    {
        signals.extend([libc::SIGSTKFLT, libc::SIGIO, libc::SIGPWR]);
        signals.extend(libc::SIGRTMIN()..=libc::SIGRTMAX());
    }
    signals
}

/// Ends the process by `signal`, or by the signal that it replaced, with the default action of that signal.
#[cfg(unix)]
pub fn end_by(signal: i32) -> ! {
    let signal = match SENT.load(Ordering::Relaxed) {
        0 => signal,
        sent => sent,
    };
    // SAFETY: this sets the signal's default action, unblocks it in this thread, and sends it to this thread. All of
    // `set` is initialised before it is read.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::signal(signal, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::raise(signal);
    }
    // The signal does not end the process by default.
    std::process::exit(1)
}

#[cfg(all(target_os = "linux", not(portable)))]
mod linux {
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;
    use std::{mem, ptr};

    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, c_int, c_void, sigaction, siginfo_t};

    use super::{AWAITED, Ending, LAST, SENT};

    /// The signals that a fault of the process itself causes.
    pub(super) const FAULTS: [c_int; 5] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV];

    /// The previous actions of these signals. The standard library's action detects stack overflows.
    static BEFORE: OnceLock<[sigaction; FAULTS.len()]> = OnceLock::new();

    /// Installs the handler for signals that end the process.
    pub(super) fn handle(signals: &[c_int]) {
        // SAFETY: zeros are an action; the calls with a null pointer for the new action only fill `before`.
        let before = FAULTS.map(|signal| unsafe {
            let mut before: sigaction = mem::zeroed();
            libc::sigaction(signal, ptr::null(), &mut before);
            before
        });
        let _ = BEFORE.set(before);
        for &signal in signals {
            // SAFETY: all of `action` is initialised, zeros being an empty mask, and `run` has the signature that
            // SA_SIGINFO requires. It may run on the alternate stack of a thread.
            unsafe {
                let mut action: sigaction = mem::zeroed();
                action.sa_sigaction = run as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
    }

    extern "C" fn run(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system passes valid information about the signal, which has a sender if its code is one of these.
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
        // A thread that aborts has called `abort`, which has called this. Any other thread is interrupted, and the
        // callback waits for nothing, as `before_end` requires.
        if let Some(last) = LAST.get() {
            last(ending);
        }
        if is_abort {
            // SAFETY: this ends the process at once.
            unsafe { libc::_exit(1) }
        }
        let before = FAULTS.iter().position(|&fault| fault == signal).zip(BEFORE.get());
        match before {
            // The thread repeats the faulting instruction, and the previous action handles it.
            Some((at, before)) if !was_sent => {
                // SAFETY: this is an action that the system returned.
                unsafe { libc::sigaction(signal, &before[at], ptr::null_mut()) };
            }
            _ => {
                // SAFETY: this sets the signal's default action and raises it again; it is delivered when this function
                // returns.
                unsafe {
                    libc::signal(signal, libc::SIG_DFL);
                    libc::raise(signal);
                }
            }
        }
    }
}

//! Signals and broken pipes: no unfinished file is left behind, and whoever waits for this process learns what
//! ended it.

use std::fs;
use std::io::{self, Write};
use std::mem;
use std::panic;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::thread;

use abz::abort::Ending;
use abz::{abort, mapped};
use signal_hook::consts::{SIGBUS, SIGPIPE, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::quote::without_controls;

/// The temporary files that exist now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// More threads than these do not make files at the same moment.
const MOST_AT_ONCE: usize = 256;

/// How often a thread that ends without memory tries to get a lock that another one may hold for a moment.
const TRIES: usize = 100;

/// Whoever makes, renames or removes a temporary file reads this meanwhile, with others who do so. A signal writes it,
/// so that it finds each file either in the list or done with.
static CHANGES: RwLock<()> = RwLock::new(());

/// What SIGBUS means.
const LOST: &str = "a mapped file became shorter while it was read, or cannot be read: the run ends, and the output \
                    that was being made is removed (abz --input-io pread passes over such a file and goes on)";

/// What an abort means.
const EXHAUSTED: &str = "the run was aborted, most likely because the system gives no more memory; the output that was being made \
                         is removed: fewer threads, a lower level or smaller blocks take less; abz --memlimit chooses fewer threads itself";

/// What panics say of which the cause is that there is no memory.
const NO_MEMORY: [&str; 2] = ["out of memory", "Cannot allocate memory"];

/// Leave to change which temporary files there are: while this is held no signal ends the process.
pub(super) struct Change {
    _leave: RwLockReadGuard<'static, ()>,
}

impl Change {
    pub(super) fn begin() -> Self {
        // Nothing is in it that a thread that panicked could have left half done.
        Change { _leave: CHANGES.read().unwrap_or_else(PoisonError::into_inner) }
    }

    /// A file is about to be made. Makes room in the list, so that [`add`](Self::add) needs no memory.
    pub(super) fn prepare(&self) {
        unfinished().reserve(MOST_AT_ONCE);
    }

    /// A file was made.
    pub(super) fn add(&self, path: PathBuf) {
        unfinished().push(path);
    }

    /// A file has got its name, or is removed.
    pub(super) fn forget(&self, path: &Path) {
        unfinished().retain(|unfinished| unfinished != path);
    }
}

/// A list of paths is whole even if a thread that held it panicked.
fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The inputs that are worked on now, as the user is told of them.
static INPUTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// An input is worked on while this is held.
pub(super) struct Work {
    input: String,
}

impl Work {
    pub(super) fn on(input: &str) -> Self {
        let input = without_controls(input.to_owned());
        inputs().push(input.clone());
        Work { input }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut inputs = inputs();
        if let Some(at) = inputs.iter().position(|input| *input == self.input) {
            inputs.swap_remove(at);
        }
    }
}

/// A list of names is whole even if a thread that held it panicked.
fn inputs() -> MutexGuard<'static, Vec<String>> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on, if an allocation fails that cannot be reported as an error, unfinished files are removed, a line says so, and the
/// process ends with status 1. So it is after any other abort of the process by itself. They are removed too if a fault ends it.
pub fn remove_unfinished_files_without_memory() {
    abort::before_end(|ending| match ending {
        Ending::Aborted => clean_up_without_memory(),
        Ending::Signal => remove_unfinished_files(),
    });
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        let payload = panicked.payload();
        let formatted = || payload.downcast_ref::<String>().map(String::as_str);
        let said = payload.downcast_ref::<&str>().copied().or_else(formatted).unwrap_or_default();
        // The standard library and others panic where there is no memory for a thread or a table.
        if NO_MEMORY.iter().any(|words| said.contains(words)) {
            clean_up_without_memory();
            process::exit(1);
        }
        usual(panicked);
    }));
}

/// Removes unfinished files with no memory but that on the stack, unless a path is longer than 383 bytes. It may be called by a
/// thread that holds a lock and does not let go any more. The process ends after it.
fn remove_unfinished_files() {
    // Never let go: no new file is begun.
    mem::forget(soon(|| CHANGES.try_write().ok()));
    if let Some(unfinished) = soon(|| UNFINISHED.try_lock().ok()) {
        for path in unfinished.iter() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Does so, and says why.
fn clean_up_without_memory() {
    remove_unfinished_files();
    // Several threads may be here: each writes its lines at once.
    let mut lines = [0; 1024];
    let mut rest = &mut lines[..];
    let told = match soon(|| INPUTS.try_lock().ok()) {
        Some(inputs) if !inputs.is_empty() => {
            inputs.iter().try_for_each(|input| writeln!(rest, "abz: {input}: {EXHAUSTED}"))
        }
        _ => writeln!(rest, "abz: {EXHAUSTED}"),
    };
    // Of more files than there is room for, the first ones are named.
    let _ = told;
    let left = rest.len();
    let _ = io::stderr().write_all(&lines[..lines.len() - left]);
}

/// What `get` gives, if another thread lets go of it soon.
fn soon<T>(mut get: impl FnMut() -> Option<T>) -> Option<T> {
    (0..TRIES).find_map(|_| {
        let got = get();
        if got.is_none() {
            thread::yield_now();
        }
        got
    })
}

/// From here on each signal that ends the process removes unfinished files first. Those that the parent let us ignore (`nohup`,
/// a shell's background jobs) stay ignored. A file that is larger than a limit allows is an error of the call that writes it.
///
/// Where inputs are mapped (`maps`), SIGBUS does so too: it says that mapped memory is not there, since its file has
/// become shorter or its disk fails. The thread that touched it touches it again as often as the handler returns, so it
/// gets no further until the process has ended.
pub fn remove_unfinished_files_on_signals(maps: bool) {
    let ignored = ignored_signals();
    let mut wanted = abort::ending_signals();
    wanted.retain(|signal| ignored >> (signal - 1) & 1 == 0);
    let _ = flag::register(SIGXFSZ, Arc::default());
    wanted.extend(maps.then_some(SIGBUS));
    if maps {
        mapped::unhandle_loss();
    }
    let waiting = Signals::new(&wanted).and_then(|mut signals| {
        thread::Builder::new().name("abz signals".into()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // Held to the end: no new file is begun.
                let _ending = CHANGES.write();
                for path in unfinished().iter() {
                    let _ = fs::remove_file(path);
                }
                if signal == SIGBUS {
                    eprintln!("abz: {LOST}");
                    process::exit(1);
                }
                abort::end_by(signal);
            }
        })
    });
    match (waiting, wanted.first()) {
        (Ok(_), Some(&signal)) => abort::hand_over_to(signal),
        // There is no descriptor for it, or no thread.
        _ => abort::before_end_by(&wanted),
    }
}

/// The signals that are ignored, signal *n* as bit *n* - 1. Where the system does not tell (it is not Linux), none.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the process as a broken pipe does, silently, if that is what `error` is: whoever reads our output wants no
/// more of it.
pub(super) fn end_if_broken_pipe(error: &io::Error) {
    if error.kind() == io::ErrorKind::BrokenPipe {
        abort::end_by(SIGPIPE);
    }
}

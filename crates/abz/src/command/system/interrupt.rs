//! Signals and broken pipes: unfinished files are removed, and the exit status shows the cause.

use std::fs;
use std::io::{self, Write};
use std::mem;
use std::panic;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::thread;

use abz::program::abort::Ending;
use abz::program::{abort, mapped};
use signal_hook::consts::{SIGBUS, SIGPIPE, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use super::quote::without_controls;

/// The existing temporary files.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The largest number of threads that create files at the same time.
const MOST_AT_ONCE: usize = 256;

/// The number of times that an aborting thread tries to get a lock that another thread may hold briefly.
const TRIES: usize = 100;

/// Held for reading by threads that create, rename or remove a temporary file, and for writing by a signal handler.
/// So the handler finds each file either listed or finished.
static CHANGES: RwLock<()> = RwLock::new(());

/// The message for SIGBUS.
const LOST: &str = "a mapped file became shorter while it was read, or cannot be read: the run ends, and the output \
                    that was being made is removed (abz --input-io pread skips such a file and continues)";

/// The message for an abort.
const EXHAUSTED: &str = "the run was aborted, most likely for lack of memory; the unfinished output \
                         is removed: fewer threads, a lower level or smaller blocks take less; abz --memlimit chooses fewer threads itself";

/// Texts of panics that are caused by a lack of memory.
const NO_MEMORY: [&str; 2] = ["out of memory", "Cannot allocate memory"];

/// A guard for changing the set of temporary files: no signal ends the process while it is held.
pub(crate) struct Change {
    _leave: RwLockReadGuard<'static, ()>,
}

impl Change {
    pub(crate) fn begin() -> Self {
        // The lock protects no data that a panic could leave inconsistent.
        Change { _leave: CHANGES.read().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Prepares for a new file: makes room in the list, so that [`add`](Self::add) does not allocate.
    pub(crate) fn prepare(&self) {
        unfinished().reserve(MOST_AT_ONCE);
    }

    /// Adds a file that has been created.
    pub(crate) fn add(&self, path: PathBuf) {
        unfinished().push(path);
    }

    /// Forgets a file that has got its name, or is removed.
    pub(crate) fn forget(&self, path: &Path) {
        unfinished().retain(|unfinished| unfinished != path);
    }
}

/// Returns the list. A panic of a thread that held it leaves it intact.
fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The names of the inputs being processed, for messages.
static INPUTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A guard that lists an input as being processed.
pub(crate) struct Work {
    input: String,
}

impl Work {
    pub(crate) fn on(input: &str) -> Self {
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

/// Returns the list. A panic of a thread that held it leaves it intact.
fn inputs() -> MutexGuard<'static, Vec<String>> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs handlers for failed allocations and other aborts: they remove unfinished files, print a message, and end
/// the process with status 1. A fatal signal such as a segmentation fault also removes unfinished files.
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
        // The standard library and others panic if there is no memory for a thread or a table.
        if NO_MEMORY.iter().any(|words| said.contains(words)) {
            clean_up_without_memory();
            process::exit(1);
        }
        usual(panicked);
    }));
}

/// Removes unfinished files without allocating, unless a path is longer than 383 bytes. The calling thread may hold a
/// lock that it will never release. The process ends afterwards.
fn remove_unfinished_files() {
    // The lock is never released, so that no new file is created.
    mem::forget(soon(|| CHANGES.try_write().ok()));
    if let Some(unfinished) = soon(|| UNFINISHED.try_lock().ok()) {
        for path in unfinished.iter() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes unfinished files, and prints the reason.
fn clean_up_without_memory() {
    remove_unfinished_files();
    // Several threads may be here. Each writes all its lines at once.
    let mut lines = [0; 1024];
    let mut rest = &mut lines[..];
    let written = match soon(|| INPUTS.try_lock().ok()) {
        Some(inputs) if !inputs.is_empty() => {
            inputs.iter().try_for_each(|input| writeln!(rest, "abz: {input}: {EXHAUSTED}"))
        }
        _ => writeln!(rest, "abz: {EXHAUSTED}"),
    };
    // If there are too many files, only the first ones are named.
    let _ = written;
    let left = rest.len();
    let _ = io::stderr().write_all(&lines[..lines.len() - left]);
}

/// Calls `get` until it succeeds, for a short time.
fn soon<T>(mut get: impl FnMut() -> Option<T>) -> Option<T> {
    (0..TRIES).find_map(|_| {
        let got = get();
        if got.is_none() {
            thread::yield_now();
        }
        got
    })
}

/// Installs a handler that removes unfinished files before a signal ends the process. Signals that the parent has set
/// to be ignored (`nohup`, background jobs of a shell) stay ignored. Exceeding the file size limit becomes an error
/// of the write.
///
/// If inputs are mapped (`maps`), SIGBUS is handled too: mapped memory is unavailable because the file has become
/// shorter or its disk fails. The access is repeated as often as the handler returns, so that the thread waits until
/// the process ends.
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
                // The lock is held to the end, so that no new file is created.
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
        // There is no descriptor or no thread for the handler.
        _ => abort::before_end_by(&wanted),
    }
}

/// Returns the ignored signals, signal *n* as bit *n* - 1. Returns 0 on systems other than Linux.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the process silently with SIGPIPE if `error` is a broken pipe: the reader of the output has gone away.
pub(crate) fn end_if_broken_pipe(error: &io::Error) {
    if error.kind() == io::ErrorKind::BrokenPipe {
        abort::end_by(SIGPIPE);
    }
}

//! Signals and broken pipes: no unfinished file is left behind, and whoever waits for this process learns what
//! ended it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::thread;

use abz::mapped;
use signal_hook::consts::{SIGBUS, SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The temporary files that exist now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whoever makes, renames or removes a temporary file reads this meanwhile, with others who do so. A signal writes it,
/// so that it finds each file either in the list or done with.
static CHANGES: RwLock<()> = RwLock::new(());

/// What SIGBUS means.
const LOST: &str = "a mapped file became shorter while it was read, or cannot be read: the run ends, and the output \
                    that was being made is removed (--input-io pread passes over such a file and goes on)";

/// Leave to change which temporary files there are: while this is held no signal ends the process.
pub(super) struct Change {
    _leave: RwLockReadGuard<'static, ()>,
}

impl Change {
    pub(super) fn begin() -> Self {
        // Nothing is in it that a thread that panicked could have left half done.
        Change { _leave: CHANGES.read().unwrap_or_else(PoisonError::into_inner) }
    }

    /// A file was made.
    pub(super) fn add(&self, path: &Path) {
        unfinished().push(path.to_owned());
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

/// From here on SIGINT, SIGTERM and SIGHUP remove unfinished files, then end the process as they always do.
/// Those that the parent let us ignore (`nohup`, a shell's background jobs) stay ignored.
///
/// Where inputs are mapped (`maps`), SIGBUS does so too: it says that mapped memory is not there, since its file has
/// become shorter or its disk fails. The thread that touched it touches it again as often as the handler returns, so it
/// gets no further until the process has ended.
pub fn remove_unfinished_files_on_signals(maps: bool) {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let wanted = wanted.chain(maps.then_some(SIGBUS));
    if maps {
        mapped::unhandle_loss();
    }
    // Without the handlers an interruption leaves a temporary file, and never a partial one under a right name:
    // not a reason to refuse to work.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = thread::Builder::new().name("abz signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held to the end: no new file is begun.
            let _ending = CHANGES.write();
            for path in unfinished().iter() {
                let _ = fs::remove_file(path);
            }
            if signal == SIGBUS {
                eprintln!("abz: {LOST}");
                std::process::exit(1);
            }
            let _ = emulate_default_handler(signal);
        }
    });
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
        let _ = emulate_default_handler(SIGPIPE);
    }
}

//! Signals and broken pipes: no unfinished file is left behind, and whoever waits for this process learns what
//! ended it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use abz::mapped;
use signal_hook::consts::{SIGBUS, SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The temporary files that exist now. Whoever makes, renames or removes one holds the lock meanwhile, so that a
/// signal finds each of them either here or done with.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What SIGBUS means.
const LOST: &str = "a mapped file became shorter while it was read, or cannot be read: the run ends, and the output \
                    that was being made is removed (--input-io pread passes over such a file and goes on)";

/// The list of temporary files, held.
pub(super) struct Unfinished(MutexGuard<'static, Vec<PathBuf>>);

impl Unfinished {
    pub(super) fn lock() -> Self {
        // A list of paths is whole even if a thread that held it panicked.
        Unfinished(UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn add(&mut self, path: &Path) {
        self.0.push(path.to_owned());
    }

    pub(super) fn forget(&mut self, path: &Path) {
        self.0.retain(|unfinished| unfinished != path);
    }
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
            let unfinished = Unfinished::lock();
            for path in unfinished.0.iter() {
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

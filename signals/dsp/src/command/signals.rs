//! Signals: a program that is interrupted leaves no part of a file.

use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::output::remove_unfinished;

/// From here on, SIGINT and SIGTERM remove unfinished files, and then end the process as they do by default.
///
/// If this is not possible, a signal leaves a file with a temporary name, which is no reason not to work.
pub fn remove_unfinished_files() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            remove_unfinished(|| {
                let _ = emulate_default_handler(signal);
            });
        }
    };
    let _ = thread::Builder::new().name("dsp signals".into()).spawn(wait);
}

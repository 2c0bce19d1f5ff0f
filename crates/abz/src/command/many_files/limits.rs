//! Resource limits of the system for open files, address space and the stack.

use std::fs;

use abz::program::heap;
use rustix::process::{Resource, getrlimit};

use crate::command::messages::console::Console;
use crate::command::messages::problem::Problem;

/// The number of files that any command needs beside the standard streams: a few inputs and outputs, a pipe, and
/// those for signals.
const LEAST: usize = 6;

/// The number of open files that is assumed if the system does not report it.
const USUAL: usize = 8;

/// Files that a thread writes for one input: the output, a checksum or an index, and its folder.
const OUTPUTS: usize = 3;

/// An input that is opened before its turn, and one descriptor for a library.
const SPARE: usize = 2;

/// The parallelism for small files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parallelism {
    pub(crate) workers: usize,
    /// Inputs that are waiting, in process or done.
    pub(crate) window: usize,
}

impl Parallelism {
    /// Returns the largest parallelism within this one that opens at most `free` files.
    pub(crate) fn within(self, free: usize) -> Parallelism {
        let free = free.saturating_sub(SPARE);
        let workers = self.workers.min(free / (OUTPUTS + 1)).max(1);
        let window = self.window.min(free.saturating_sub(OUTPUTS * workers)).max(1);
        Parallelism { workers, window }
    }
}

/// The address space of a thread in bytes: its allocator's reserve, its stack, and its data.
const EACH: u64 = 160 << 20;

/// The address space of the program with its first thread, in bytes.
const FIRST: u64 = 64 << 20;

/// Lets threads share one heap if the address space is limited, because each further heap takes much of it. Call this before
/// threads start.
pub fn share_heap() {
    if getrlimit(Resource::As).current.is_some() {
        heap::share();
    }
}

/// Returns how many of `wanted` threads fit in the limit of the address space; at least one.
pub(crate) fn threads(wanted: usize) -> usize {
    let more = getrlimit(Resource::As).current.map(|limit| limit.saturating_sub(FIRST) / EACH);
    let more = more.and_then(|more| usize::try_from(more).ok()).unwrap_or(usize::MAX);
    wanted.min(more.saturating_add(1))
}

/// Returns the stack limit of the main thread in bytes.
pub fn stack() -> u64 {
    getrlimit(Resource::Stack).current.unwrap_or(u64::MAX)
}

/// Returns the number of files that may still be opened.
pub(crate) fn free() -> usize {
    let Some(limit) = getrlimit(Resource::Nofile).current else { return usize::MAX };
    // One entry is the opened folder itself.
    let open = fs::read_dir("/dev/fd").map_or(USUAL, |open| open.count().saturating_sub(1));
    usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(open)
}

/// Returns `false`, and reports it, if too few files may be opened to process a single one.
pub fn let_begin(console: &mut Console) -> bool {
    let free = free();
    if free < LEAST {
        let message = format_args!(
            "the limit (ulimit -n) leaves {free} for this program, which needs {LEAST}: raise it"
        );
        console.tell_problem(&Problem::error("open files", message));
    }
    free >= LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_are_done_by_few_at_once_and_many_by_all() {
        let most = Parallelism { workers: 8, window: 128 };
        for free in 0..1000 {
            let Parallelism { workers, window } = most.within(free);
            assert!((1..=8).contains(&workers) && (1..=128).contains(&window), "{free}");
            assert!(free < LEAST || window + OUTPUTS * workers + SPARE <= free, "{free}");
        }
        assert_eq!(most.within(usize::MAX), most);
    }
}

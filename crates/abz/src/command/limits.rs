//! What the system allows: how many files may be open at once, how many addresses and how large a stack; and what is made of
//! little.

use std::fs;

use rustix::process::{Resource, getrlimit};

use super::console::Console;
use super::problem::Problem;

/// As many files as any command opens at once beside the standard streams: a few inputs and outputs, a pipe, and what signals need.
const LEAST: usize = 6;

/// How many are taken to be open where the system does not tell.
const USUAL: usize = 8;

/// Outputs that a thread makes of one input, with a checksum or an index, and its folder.
const OUTPUTS: usize = 3;

/// An input that is looked at before its turn, and one descriptor for what a library opens.
const SPARE: usize = 2;

/// How many small files are done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Company {
    pub(super) workers: usize,
    /// Inputs that are open, done or waiting.
    pub(super) window: usize,
}

impl Company {
    /// The largest that opens no more than `free` files, and is no larger than this one.
    pub(super) fn within(self, free: usize) -> Company {
        let free = free.saturating_sub(SPARE);
        let workers = self.workers.min(free / (OUTPUTS + 1)).max(1);
        let window = self.window.min(free.saturating_sub(OUTPUTS * workers)).max(1);
        Company { workers, window }
    }
}

/// What the allocator of a thread sets aside of the addresses, its stack, and what it works with, in bytes.
const EACH: u64 = 160 << 20;

/// The same of the program, with its first thread.
const FIRST: u64 = 64 << 20;

/// How many of so many threads have room in the addresses that a limit allows, one at least.
pub(super) fn threads(wanted: usize) -> usize {
    let more = getrlimit(Resource::As).current.map(|limit| limit.saturating_sub(FIRST) / EACH);
    let more = more.and_then(|more| usize::try_from(more).ok()).unwrap_or(usize::MAX);
    wanted.min(more.saturating_add(1))
}

/// How large the stack of the main thread may become, in bytes.
pub fn stack() -> u64 {
    getrlimit(Resource::Stack).current.unwrap_or(u64::MAX)
}

/// How many more files may be opened now.
pub(super) fn free() -> usize {
    let Some(limit) = getrlimit(Resource::Nofile).current else { return usize::MAX };
    // One of them is the folder itself.
    let open = fs::read_dir("/dev/fd").map_or(USUAL, |open| open.count().saturating_sub(1));
    usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(open)
}

/// False where not even one file could be done, which is told.
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
        let most = Company { workers: 8, window: 128 };
        for free in 0..1000 {
            let Company { workers, window } = most.within(free);
            assert!((1..=8).contains(&workers) && (1..=128).contains(&window), "{free}");
            assert!(free < LEAST || window + OUTPUTS * workers + SPARE <= free, "{free}");
        }
        assert_eq!(most.within(usize::MAX), most);
    }
}

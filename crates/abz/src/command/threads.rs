//! The threads that process an input.

use abz::{RunOptions, Tools};

/// The threads that process an input.
#[derive(Debug)]
pub(super) enum Threads<'a> {
    /// The calling thread only.
    Alone(&'a mut Tools),
    /// All worker threads.
    Together(RunOptions<'a>),
}

//! The threads that do the work.

use abz::{Conduct, Tools};

/// The threads that do the work.
#[derive(Debug)]
pub(super) enum Crew<'a> {
    /// This thread.
    Alone(&'a mut Tools),
    /// As many as the options say.
    Together(Conduct<'a>),
}

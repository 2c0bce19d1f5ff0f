//! Who does the work.

use abz::{Conduct, Tools};

/// Who does the work.
#[derive(Debug)]
pub(super) enum Crew<'a> {
    /// This thread.
    Alone(&'a mut Tools),
    /// As many as the options say.
    Together(Conduct<'a>),
}

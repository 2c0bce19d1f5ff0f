//! Threads with names.

use std::thread::Builder;

/// Makes a thread with this name. A zero in it, which a thread's name must not have, becomes a space.
pub(crate) fn named(name: &str) -> Builder {
    Builder::new().name(name.replace('\0', " "))
}

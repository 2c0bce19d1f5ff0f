//! Dropping many items of which any may panic: the others are dropped all the same.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Drops one leftover after the other. The first panic among them is resumed when this goes, unless the thread
/// unwinds already.
#[derive(Default)]
pub(crate) struct Leftovers {
    panic: Option<Box<dyn Any + Send>>,
}

impl Leftovers {
    /// Calls `drop_one`.
    pub(crate) fn drop(&mut self, drop_one: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(drop_one)) {
            match self.panic {
                None => self.panic = Some(payload),
                // Its own drop may panic too, and there is nobody left to tell.
                Some(_) => std::mem::forget(payload),
            }
        }
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        match self.panic.take() {
            Some(payload) if !std::thread::panicking() => resume_unwind(payload),
            Some(payload) => std::mem::forget(payload),
            None => {}
        }
    }
}

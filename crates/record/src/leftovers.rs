//! Dropping many items when any drop may panic: the remaining items are dropped all the same.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs several drops and catches their panics.
///
/// When this value is dropped it resumes the first of these panics, unless the thread is already unwinding.
#[derive(Debug, Default)]
pub struct Leftovers {
    panic: Option<Box<dyn Any + Send>>,
}

impl Leftovers {
    /// Calls `drop_one`, which drops one item. A panic is kept for later.
    pub fn drop(&mut self, drop_one: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(drop_one)) {
            match self.panic {
                None => self.panic = Some(payload),
                // Only one panic can be resumed. Dropping this payload could panic again, so it is leaked.
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

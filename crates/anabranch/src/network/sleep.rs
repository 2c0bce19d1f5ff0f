//! How a view's process sleeps: what is needed for it is made only when it is.

use std::cell::{OnceCell, RefCell};

use anabranch_record::Sleep;

use super::{grip::Grip, process::Sleeper};

/// Sleeps as the current process does.
pub(super) struct Lazy<'a> {
    grip: RefCell<&'a mut Grip>,
    /// How many items (slots) are waited for.
    count: usize,
    sleeper: OnceCell<Sleeper>,
}

impl<'a> Lazy<'a> {
    pub(super) fn new(grip: &'a mut Grip, count: usize) -> Self {
        Self { grip: RefCell::new(grip), count, sleeper: OnceCell::new() }
    }

    fn sleeper(&self) -> &Sleeper {
        self.sleeper.get_or_init(|| self.grip.borrow_mut().sleeper(self.count))
    }

    /// The other side was found closed.
    pub(super) fn notice(&self) {
        self.grip.borrow().notice();
    }
}

impl Sleep for Lazy<'_> {
    fn prepare(&self) {
        self.sleeper().prepare();
    }

    fn cancel(&self) {
        self.sleeper().cancel();
    }

    fn sleep(&self) -> bool {
        self.sleeper().sleep()
    }
}

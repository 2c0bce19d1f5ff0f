//! The sleep of a view's process. The parts that it needs are created only when the process has to wait.

use std::cell::{OnceCell, RefCell};

use anabranch_record::Sleep;

use super::{grip::Grip, process::Sleeper};

/// Lets the current process sleep. Its [`Sleeper`] is created on first use.
pub(super) struct Lazy<'a> {
    grip: RefCell<&'a mut Grip>,
    /// How many items or slots the process waits for.
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

    /// Notes that the other side was found closed.
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

//! Waiting that the user of a record arranges: where threads sleep, and how they are woken.

use anabranch_record::EventCount;

/// How a thread sleeps while it waits for a record with hooks (see [`bounded`](crate::record::bounded) and
/// [`Record::bounded`](crate::record::Record::bounded)).
///
/// A view that has to wait calls [`prepare`](Self::prepare), announces itself to the record, and looks once
/// more. Then it calls either [`cancel`](Self::cancel) or [`sleep`](Self::sleep). After the announcement,
/// every change that the view may be waiting for calls the record's hook, and the hook must wake the thread.
pub trait Sleep {
    /// Prepares to sleep. A wake-up that comes from now on must not be lost.
    fn prepare(&self);

    /// The thread has found what it was looking for, and does not sleep.
    fn cancel(&self);

    /// Sleeps until a wake-up has come since [`prepare`](Self::prepare). Returns false if the thread should
    /// stop waiting for good.
    fn sleep(&self) -> bool;
}

/// An event at which a view announces that it waits for the hook.
pub(super) trait Announced {
    fn announce(&self);
    fn withdraw(&self);
}

impl Announced for EventCount {
    fn announce(&self) {
        self.announce();
    }

    fn withdraw(&self) {
        self.withdraw();
    }
}

/// Sleeps by means of `how` until `look` returns a value. Returns `None` if `how` gives up and there is still nothing.
#[cold]
pub(super) fn sleep_until<R>(
    how: &impl Sleep,
    event: &impl Announced,
    mut look: impl FnMut() -> Option<R>,
) -> Option<R> {
    loop {
        how.prepare();
        event.announce();
        if let Some(found) = look() {
            event.withdraw();
            how.cancel();
            return Some(found);
        }
        let goes_on = how.sleep();
        event.withdraw();
        let found = look();
        if found.is_some() || !goes_on {
            return found;
        }
    }
}

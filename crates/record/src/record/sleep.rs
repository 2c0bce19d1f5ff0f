//! Waiting that the user of a record arranges: where threads sleep, and how they are woken.

/// How a thread sleeps while it waits for a record with hooks (see [`bounded`](crate::bounded) and
/// [`Record::bounded`](crate::Record::bounded)).
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

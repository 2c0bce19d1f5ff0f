//! The reasons why a stream stops, and the choice of the failure that counts.

use anabranch_record::fork;
use anabranch_record::mutant::Mutant;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const LAST_FAILURE_WINS: Mutant = Mutant("last_failure_wins");

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// The reason why a stream stopped at an index.
pub(crate) enum Cause {
    /// A stage or the sink needs no more items.
    Break,
    /// A fallible call failed; the error is in the [`ErrorSlot`].
    Error,
    /// As [`Break`](Self::Break), with an error in the [`ErrorSlot`] that says so.
    Leave,
    /// User code panicked with this payload.
    Panic(Payload),
}

/// Calls `f`, and returns the payload of its panic if it panics.
///
/// `f` is a trait object so that the code that catches a panic is compiled once, and not for each stage of
/// each user's crate.
#[inline(never)]
pub(crate) fn caught(f: &mut dyn FnMut()) -> Result<(), Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

/// Drops `value`, and returns the payload of its panic if that panics.
pub(crate) fn caught_drop<T>(value: T) -> Result<(), Payload> {
    let mut value = Some(value);
    caught(&mut || drop(value.take()))
}

/// Drops a failure that does not count, or what is left of a thread. A panic of this drop does not count either.
pub fn discard<T>(value: T) {
    if let Err(payload) = caught_drop(value) {
        // Dropping this payload may panic too, so it is leaked.
        std::mem::forget(payload);
    }
}

/// A failure that is kept until it is its turn. If it is dropped instead, it is [discarded](discard).
pub struct Kept<T>(Option<T>);

impl<T> Kept<T> {
    /// Keeps a failure.
    pub fn new(failure: T) -> Self {
        Self(Some(failure))
    }

    /// The failure, whose turn it is.
    pub fn into_inner(mut self) -> T {
        self.0.take().expect("a failure is taken once")
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        if let Some(failure) = self.0.take() {
            discard(failure);
        }
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}

/// The payload of a panic that is kept.
pub type KeptPanic = Kept<Box<dyn Any + Send>>;

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Break => "Break",
            Cause::Error => "Error",
            Cause::Leave => "Leave",
            Cause::Panic(_) => "Panic",
        })
    }
}

/// The place in the order of the loop at which something happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    /// The number of the domain; the source's is 0.
    pub(crate) domain: usize,
    /// The index within the domain.
    pub(crate) index: u64,
    /// The number of the branch of a fork; 0 on the main line.
    pub(crate) branch: usize,
    /// Whether a stage needs no more items. The other branches of a fork still take the item at which it breaks.
    pub(crate) breaks: bool,
    /// The order of the items was given up before this node. The first of several failures in time counts.
    pub(crate) in_time: bool,
}

impl Position {
    /// The position after everything that happens while the stream runs.
    pub(crate) const END: Self =
        Self { domain: 0, index: u64::MAX, branch: 0, breaks: false, in_time: false };

    /// Whether the loop would have met a failure at this position before the failure at `old`, which was
    /// noted earlier.
    ///
    /// A position in a later domain comes first. The item there left the earlier domain before that domain's
    /// later items were processed. If two failures are at one position, the one nearer to the sink comes first, and it is noted
    /// later. The branches of a fork take an item one after the other, in their order.
    fn precedes(self, old: Position) -> bool {
        if LAST_FAILURE_WINS.is_on() {
            return true;
        }
        let is_ordered = !self.in_time && !old.in_time;
        if !is_ordered && old.breaks {
            // A stage that needs no more items does not undo what stages after it have done with those that it passed on.
            return self.domain > old.domain || self.domain == old.domain && self.index <= old.index;
        }
        if !is_ordered || self.domain != old.domain || self.index != old.index {
            return is_ordered
                && (self.domain > old.domain || self.domain == old.domain && self.index < old.index);
        }
        match (self.breaks, old.breaks) {
            (false, true) => true,
            _ if self.branch == old.branch => true,
            (true, false) => false,
            _ => self.branch < old.branch,
        }
    }
}

/// The number of failures that this process has noted. It numbers them in the order of time.
static FAILURES: AtomicU64 = AtomicU64::new(0);

/// Something that happened in a run, with its position and time.
#[derive(Debug)]
struct NotedFailure<T> {
    position: Position,
    /// Its number in the order of time.
    number: u64,
    value: T,
}

impl<T> NotedFailure<T> {
    /// Whether this comes before `other` in the order of the loop.
    fn precedes<U>(&self, other: &NotedFailure<U>) -> bool {
        if self.number > other.number {
            self.position.precedes(other.position)
        } else {
            !other.position.precedes(self.position)
        }
    }
}

/// Keeps the value whose position comes first in the order of the loop.
#[derive(Debug)]
pub(crate) struct First<T> {
    held: Mutex<Option<NotedFailure<T>>>,
}

impl<T> First<T> {
    pub(crate) fn new() -> Self {
        Self { held: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<NotedFailure<T>>> {
        fork::lock(&self.held)
    }

    pub(crate) fn offer(&self, position: Position, value: T) {
        let held = self.lock();
        self.put(held, NotedFailure { position, number: FAILURES.fetch_add(1, Ordering::Relaxed), value });
    }

    fn put(&self, mut held: MutexGuard<'_, Option<NotedFailure<T>>>, event: NotedFailure<T>) {
        // The value that is not kept belongs to the user, and its drop may run any code. So it is dropped
        // after the lock was released.
        let loser = match &*held {
            Some(old) if !event.precedes(old) => Some(event),
            _ => held.replace(event),
        };
        drop(held);
        discard(loser);
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.lock().take().map(|event| event.value)
    }
}

/// A failure that nobody has taken does not count.
impl<T> Drop for First<T> {
    fn drop(&mut self) {
        discard(self.lock().take());
    }
}

/// Stores the error of a run: the one that the loop would have met first.
#[derive(Debug)]
pub struct ErrorSlot<E> {
    first: First<E>,
    /// Tells the errors that are no failure: the stage needs no more items.
    leaves: OnceLock<fn(&E) -> bool>,
}

impl<E> Default for ErrorSlot<E> {
    fn default() -> Self {
        Self { first: First::new(), leaves: OnceLock::new() }
    }
}

impl<E> ErrorSlot<E> {
    /// Lets a stage whose error is one of these end the stream as if it needed no more items.
    pub(crate) fn leave_by(&self, leaves: fn(&E) -> bool) {
        self.leaves.get_or_init(|| leaves);
    }

    /// Whether the error says that a stage needs no more items.
    pub(crate) fn leaves(&self, error: &E) -> bool {
        self.leaves.get().is_some_and(|leaves| leaves(error))
    }

    pub(crate) fn take(&self) -> Option<E> {
        self.first.take()
    }

    pub(crate) fn offer(&self, position: Position, error: E) {
        self.first.offer(position, error);
    }

    /// Moves the error of the stages before a `map_err` into `to`, the slot of the stages behind it. `f`
    /// turns the error into one of their type. The caller calls this when the run is over.
    pub(crate) fn hand_over<X>(&self, to: &ErrorSlot<X>, f: impl FnOnce(E) -> X) {
        let Some(NotedFailure { position, number, value }) = self.first.lock().take() else { return };
        let value = f(value);
        to.first.put(to.first.lock(), NotedFailure { position, number, value });
    }
}

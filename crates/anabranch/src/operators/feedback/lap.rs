//! The results of the stages of a feedback.

/// A result of the stages of a [`feedback`](crate::Stream::feedback): an item that goes round again, or a result that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lap<T, V> {
    /// The item goes through the stages again.
    Again(T),
    /// The result leaves, and goes to the stages behind the feedback.
    Done(V),
}

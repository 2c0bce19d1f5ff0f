//! What the stages of a feedback give.

/// What the stages of a [`feedback`](crate::Stream::feedback) give: an item that goes round again, or a result that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lap<T, V> {
    /// The item goes through the stages again.
    Again(T),
    /// The result leaves, and goes to the stages behind the feedback.
    Done(V),
}

//! The result of a call inside a stage: go on, or stop the stream.

use std::ops::ControlFlow;

/// Whether the stream goes on, or stops at the current item.
pub type Flow<E> = ControlFlow<Halt<E>>;

/// The reason why a stage stops the stream at the current item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt<E> {
    /// The stage needs no more items. This is not a failure.
    Break,
    /// The item failed.
    Error(E),
}

//! The answer of a call inside a stage: go on, or halt the stream.

use std::ops::ControlFlow;

/// Goes on, or halts the stream at the current item.
pub type Flow<E> = ControlFlow<Halt<E>>;

/// Why a stage halts the stream at the current item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt<E> {
    /// The caller has what it wanted: not a failure.
    Break,
    /// The item failed.
    Error(E),
}

//! Calls on their way into a run, and their answers.

use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;

/// The end of a call.
#[derive(Debug)]
pub(crate) enum Answer {
    Value(Bytes),
    Error(Bytes),
    Panic(String),
    Undecodable(String),
    Lost { workers: u32 },
    Refused(String),
    TooLarge { size: u64, limit: u64, side: String },
    Closed(String),
}

/// A call on its way into a run.
pub(super) struct NewCall {
    pub(super) body: Bytes,
    pub(super) made: Instant,
    pub(super) answer: oneshot::Sender<Answer>,
}

pub(super) enum Order {
    Call(NewCall),
    /// A call was given up.
    GivenUp,
}

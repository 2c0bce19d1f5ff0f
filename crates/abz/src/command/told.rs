//! The messages about an input.

use super::problem::Problem;
use super::quote::without_controls;

/// The messages about one input in order, and its data for standard output if that has to wait its turn.
#[derive(Debug, Default)]
pub(super) struct Told {
    messages: Vec<Message>,
    pub(super) output: Vec<u8>,
    /// All other inputs would fail too: standard output accepts no more data.
    pub(super) is_hopeless: bool,
}

/// A message.
#[derive(Debug)]
pub(super) enum Message {
    Problem(Problem),
    Done(String),
}

impl Told {
    /// Adds the problem of `result`, if there is one.
    pub(super) fn add(&mut self, result: Result<(), Problem>) {
        self.messages.extend(result.err().map(Message::Problem));
    }

    pub(super) fn say(&mut self, done: String) {
        self.messages.push(Message::Done(without_controls(done)));
    }

    /// Returns all messages in order.
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns `true` if a problem has ended the work on the input.
    pub(super) fn has_failed(&self) -> bool {
        self.messages.iter().any(|message| matches!(message, Message::Problem(problem) if problem.ends_work))
    }
}

impl From<Result<(), Problem>> for Told {
    fn from(result: Result<(), Problem>) -> Self {
        let mut told = Told::default();
        told.add(result);
        told
    }
}

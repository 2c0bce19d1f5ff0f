//! The messages about an input.

use super::problem::Problem;
use super::quote::without_controls;

/// The messages about one input in order, and its data for standard output if that has to wait its turn.
#[derive(Debug, Default)]
pub(super) struct Messages {
    list: Vec<Message>,
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

impl Messages {
    /// Adds the problem of `result`, if there is one.
    pub(super) fn add(&mut self, result: Result<(), Problem>) {
        self.list.extend(result.err().map(Message::Problem));
    }

    pub(super) fn say(&mut self, done: String) {
        self.list.push(Message::Done(without_controls(done)));
    }

    /// Returns all messages in order.
    pub(super) fn all(&self) -> &[Message] {
        &self.list
    }

    /// Returns `true` if a problem has ended the work on the input.
    pub(super) fn has_failed(&self) -> bool {
        self.list.iter().any(|message| matches!(message, Message::Problem(problem) if problem.ends_work))
    }
}

impl From<Result<(), Problem>> for Messages {
    fn from(result: Result<(), Problem>) -> Self {
        let mut messages = Messages::default();
        messages.add(result);
        messages
    }
}

//! The messages about an input.

pub(crate) mod console;
pub(crate) mod options;
pub(crate) mod problem;
pub(crate) mod progress;
pub(crate) mod status;
pub(crate) mod stdout;

use self::problem::Problem;
use crate::command::system::quote::without_controls;

/// The messages about one input in order, and its data for standard output if that has to wait its turn.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    list: Vec<Message>,
    pub(crate) output: Vec<u8>,
    /// All other inputs would fail too: standard output accepts no more data.
    pub(crate) is_hopeless: bool,
}

/// A message.
#[derive(Debug)]
pub(crate) enum Message {
    Problem(Problem),
    Done(String),
}

impl Messages {
    /// Adds the problem of `result`, if there is one.
    pub(crate) fn add(&mut self, result: Result<(), Problem>) {
        self.list.extend(result.err().map(Message::Problem));
    }

    pub(crate) fn say(&mut self, done: String) {
        self.list.push(Message::Done(without_controls(done)));
    }

    /// Returns all messages in order.
    pub(crate) fn all(&self) -> &[Message] {
        &self.list
    }

    /// Returns `true` if a problem has ended the work on the input.
    pub(crate) fn has_failed(&self) -> bool {
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

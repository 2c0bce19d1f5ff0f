//! What is to be told of an input.

use super::problem::Problem;
use super::quote::without_controls;

/// What is to be told of one input, in order; and what it gives to standard output, if that has to wait its turn.
#[derive(Debug, Default)]
pub(super) struct Told {
    messages: Vec<Message>,
    pub(super) output: Vec<u8>,
    /// The same will happen to all other inputs: standard output does not take any more.
    pub(super) is_hopeless: bool,
}

/// One thing of that.
#[derive(Debug)]
pub(super) enum Message {
    Problem(Problem),
    Done(String),
}

impl Told {
    /// Adds the problem, if there is one.
    pub(super) fn add(&mut self, result: Result<(), Problem>) {
        self.messages.extend(result.err().map(Message::Problem));
    }

    pub(super) fn say(&mut self, done: String) {
        self.messages.push(Message::Done(without_controls(done)));
    }

    /// All that, in order.
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// True if there was an error, or a warning instead of the work.
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

//! Keeps the queue of a run: it makes the queue, looks for it, and makes it again.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::wire::{Failure, Line, Queue};

/// An event of the queue.
#[derive(Debug)]
pub(super) enum News {
    /// It is there, with what was put in.
    IsThere,
    /// It was lost, and a new one is there.
    IsNew,
    /// The server does not say, or does not make one.
    Failed(Failure),
}

/// The known state of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Nothing is known, and the next tick asks.
    Unknown,
    /// The queue is asked for, and once more after that if something has happened meanwhile.
    Asking {
        again: bool,
    },
}

/// The end of a task: whether the queue is there, or whether a new one is.
#[derive(Debug)]
enum Told {
    Checked(Result<bool, Failure>),
    Made(Result<(), Failure>),
}

/// The requests run in a task of their own, because a server may take seconds to answer and the program must beat meanwhile. Each may be
/// cut off at any point: nothing is believed but an answer.
pub(super) struct Keeper {
    line: Line,
    set: String,
    run: u64,
    lease: Duration,
    pub(super) queue: Queue,
    /// The one that is being made after `queue` was lost.
    next: Option<Queue>,
    state: State,
    tasks: JoinSet<Told>,
}

impl Keeper {
    pub(super) fn new(line: Line, set: &str, run: u64, lease: Duration) -> Self {
        let queue = Queue::new(line.clone(), set, run, 0);
        let tasks = JoinSet::new();
        Self { line, set: set.to_owned(), run, lease, queue, next: None, state: State::Good, tasks }
    }

    /// Makes the first queue.
    pub(super) async fn open(&self) -> Result<(), Failure> {
        let made = self.queue.make(self.lease).await;
        if made.is_err() {
            // The stream may be there without its consumers.
            let queue = self.queue.clone();
            tokio::spawn(async move { queue.delete().await });
        }
        made
    }

    /// Whether messages may be put into the queue.
    pub(super) fn is_good(&self) -> bool {
        self.state == State::Good
    }

    /// Looks whether the queue is there, and makes it if it is not.
    pub(super) fn check(&mut self) {
        match &mut self.state {
            State::Asking { again } => *again = true,
            State::Good | State::Unknown => self.ask(),
        }
    }

    /// Asks if nothing is known.
    pub(super) fn tick(&mut self) {
        if self.state == State::Unknown {
            self.ask();
        }
    }

    fn ask(&mut self) {
        self.state = State::Asking { again: false };
        let (lease, queue, next) = (self.lease, self.queue.clone(), self.next.clone());
        self.tasks.spawn(async move {
            match next {
                None => Told::Checked(queue.check(lease).await),
                Some(next) => Told::Made(next.make(lease).await),
            }
        });
    }

    /// Waits for what has become of the queue. The wait may be given up.
    pub(super) async fn news(&mut self) -> News {
        loop {
            let Some(told) = self.tasks.join_next().await else { return std::future::pending().await };
            let again = matches!(self.state, State::Asking { again: true });
            let told = told.unwrap_or(Told::Checked(Err(Failure::Silent)));
            match told {
                Told::Checked(Ok(true)) if !again => {
                    self.state = State::Good;
                    return News::IsThere;
                }
                Told::Checked(Ok(true)) => self.ask(),
                Told::Checked(Ok(false)) => {
                    let times = self.queue.times_made() + 1;
                    self.next = Some(Queue::new(self.line.clone(), &self.set, self.run, times));
                    self.ask();
                }
                Told::Made(Ok(())) => {
                    if let Some(next) = self.next.take() {
                        self.queue = next;
                    }
                    // If anything has happened meanwhile, this queue may be lost, too.
                    self.state = if again { State::Unknown } else { State::Good };
                    return News::IsNew;
                }
                Told::Checked(Err(failure)) | Told::Made(Err(failure)) => {
                    self.state = State::Unknown;
                    return News::Failed(failure);
                }
            }
        }
    }
}

//! The threads of a worker, which compute.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::functions::{Coded, Outcome};
use crate::wire::ENVELOPE_OF_CALL;

/// Results are sent after this time, although their batch is not finished.
const PROMPT: Duration = Duration::from_millis(5);

/// Calls to be computed one after another.
pub(super) struct Task {
    /// The delivery that they came with.
    pub(super) delivery: u64,
    pub(super) coded: Coded,
    pub(super) calls: Vec<(u64, Bytes)>,
    /// The most bytes of results in one message, with their envelopes.
    pub(super) inline: usize,
    /// Whether nobody needs the rest.
    pub(super) is_given_up: Arc<AtomicBool>,
}

/// Results of some calls of a task.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) delivery: u64,
    pub(super) outcomes: Vec<(u64, Outcome)>,
    pub(super) computed: Duration,
    /// Whether no call of the task is left.
    pub(super) is_last: bool,
}

/// The threads. They end when this is dropped, each behind the task that it has.
pub(super) struct Threads {
    tasks: Option<Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(super) fn start(count: usize) -> io::Result<(Self, UnboundedReceiver<Finished>)> {
        let (tasks, waiting) = mpsc::channel();
        let (finish, finished) = unbounded_channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let threads = (0..count).map(|n| {
            let (waiting, finish) = (Arc::clone(&waiting), finish.clone());
            let builder = thread::Builder::new().name(format!("anabranch-compute-{n}"));
            builder.spawn(move || compute(&waiting, &finish))
        });
        let threads = threads.collect::<io::Result<_>>()?;
        Ok((Self { tasks: Some(tasks), threads }, finished))
    }

    pub(super) fn count(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn run(&self, task: Task) {
        let sent = self.tasks.as_ref().map(|tasks| tasks.send(task).is_ok());
        debug_assert_eq!(sent, Some(true), "the threads wait for tasks");
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        drop(self.tasks.take());
        for thread in self.threads.drain(..) {
            // No panic of a function comes so far.
            let _ = thread.join();
        }
    }
}

fn compute(waiting: &Mutex<Receiver<Task>>, finish: &UnboundedSender<Finished>) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Task { delivery, coded, calls, inline, is_given_up }) = next else { return };
        let mut begun = Instant::now();
        let mut outcomes = Vec::with_capacity(calls.len());
        let mut bytes = 0;
        for (id, body) in calls {
            if is_given_up.load(Ordering::Relaxed) {
                break;
            }
            let outcome = coded(&body);
            drop(body);
            let size = match &outcome {
                Outcome::Value(code) | Outcome::Error(code) => code.len(),
                Outcome::Panic(text) | Outcome::Undecodable(text) => text.len(),
            } + ENVELOPE_OF_CALL;
            let computed = begun.elapsed();
            if !outcomes.is_empty() && (bytes + size > inline || computed > PROMPT) {
                let outcomes = std::mem::take(&mut outcomes);
                // The last outcome's time goes with those before it, which is right on the whole.
                let _ = finish.send(Finished { delivery, outcomes, computed, is_last: false });
                (bytes, begun) = (0, Instant::now());
            }
            bytes += size;
            outcomes.push((id, outcome));
        }
        let computed = begun.elapsed();
        let _ = finish.send(Finished { delivery, outcomes, computed, is_last: true });
    }
}

//! The side that calls: a run for each function.

mod batches;
mod calls;
mod deaths;
mod keeper;
mod landing;
mod member;
mod order;
mod serving;
mod stats;
mod trouble;

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::functions::Functions;
use crate::link::Link;
use crate::report::CallReport;
use crate::worker::Helper;

pub(crate) use order::Answer;
use order::{NewCall, Order};
use serving::Serving;
use stats::Stats;

/// Waits for the answer to a call. If it is dropped before, the call is given up.
struct Guard {
    calls: mpsc::UnboundedSender<Order>,
    answered: oneshot::Receiver<Answer>,
    is_answered: bool,
}

impl Guard {
    async fn answer(&mut self) -> Answer {
        let answer = (&mut self.answered).await;
        self.is_answered = true;
        answer.unwrap_or_else(|_| Answer::Closed("the thread of the connection has ended".to_owned()))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_answered {
            self.answered.close();
            let _ = self.calls.send(Order::GivenUp);
        }
    }
}

/// A function in use. Its queue is deleted when it is dropped.
pub(crate) struct Run {
    // This is dropped before the link, which waits for the task that it ends.
    calls: mpsc::UnboundedSender<Order>,
    here: Mutex<Option<Helper>>,
    stats: Arc<Mutex<Stats>>,
    /// The time for encoding and decoding, in nanoseconds.
    coding: AtomicU64,
    functions: Functions,
    name: String,
    link: Arc<Link>,
}

impl Run {
    /// Makes the queue, and begins to serve.
    pub(crate) fn start(link: &Arc<Link>, functions: &Functions, name: &str) -> Result<Self, Error> {
        let (calls, orders) = mpsc::unbounded_channel();
        let stats = Arc::default();
        let made = Serving::new(link, functions, name, Arc::clone(&stats));
        let serving = link.wait(made.open())?;
        link.spawn(serving.serve(orders));
        Ok(Self {
            calls,
            here: Mutex::default(),
            stats,
            coding: AtomicU64::new(0),
            functions: functions.clone(),
            name: name.to_owned(),
            link: Arc::clone(link),
        })
    }

    /// Calls the function.
    pub(crate) fn call(&self, body: Bytes) -> impl Future<Output = Answer> + Send + use<> {
        let (size, limit) = (body.len() as u64, self.link.options.body_limit);
        let (answer, answered) = oneshot::channel();
        if size > limit {
            let side = format!("program {}", self.link.options.name);
            let _ = answer.send(Answer::TooLarge { size, limit, side });
        } else {
            // If the task has ended, the sender of the answer is dropped.
            let _ = self.calls.send(Order::Call(NewCall { body, made: Instant::now(), answer }));
        }
        let mut guard = Guard { calls: self.calls.clone(), answered, is_answered: false };
        async move { guard.answer().await }
    }

    /// Lets this machine serve the run, too.
    pub(crate) fn work_here(&self) -> Result<(), Error> {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        if here.is_none() {
            let Link { address, options, .. } = &*self.link;
            *here = Some(Helper::start(address, options, self.functions.clone())?);
        }
        Ok(())
    }

    /// Encodes or decodes, and counts the time.
    pub(crate) fn code<R>(&self, f: impl FnOnce() -> R) -> R {
        let began = Instant::now();
        let result = f();
        self.coding.fetch_add(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX), Relaxed);
        result
    }

    pub(crate) fn report(&self) -> CallReport {
        let coding = Duration::from_nanos(self.coding.load(Relaxed));
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).report(&self.name, coding)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("function", &self.name).field("link", &self.link).finish_non_exhaustive()
    }
}

//! The reader of the results of a stream that runs beside it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::TryRecvError;
use std::sync::{Arc as StdArc, Mutex, MutexGuard};
#[cfg(feature = "futures")]
use std::task::{Context, Poll};
use std::thread::JoinHandle;

use anabranch_plan::Node;
use anabranch_record::fork::{self, Birth};
use anabranch_record::sync::{Arc, named_thread};

use super::results::{Ending, Results};
use crate::control::{CancelToken, Pool};
use crate::engine::discard;
use crate::stream::{Account, Handed, Mode, Stream, adopter, leave};

/// The largest number of results that wait for a reader.
const WAITING_RESULTS: usize = 64;

/// Takes the results of a stream that runs beside it. Dropping it stops the stream and does not wait.
pub(crate) struct Reader<T> {
    /// The process in which the stream runs.
    pub(crate) birth: Birth,
    pub(crate) results: StdArc<Results<T>>,
    pub(crate) token: CancelToken,
    pub(crate) runner: Runner,
}

/// The threads that run a stream beside its reader.
pub(crate) enum Runner {
    /// A pool alone. It is dropped last: where the reader waits for the end, its thread and not one of the pool ends the pool.
    Pool { _share: StdArc<Pool> },
    /// A thread of the stream, and its workers. `None` once it was joined.
    Thread(Option<JoinHandle<()>>),
    /// A thread of a scope, which joins it.
    Scope,
    /// The stream around lets it run, or the first call that asks for a result.
    Later(Later),
}

/// A stream that does not run yet, or the thread that runs it.
#[derive(Clone)]
pub(crate) struct Later(StdArc<Mutex<LaterState>>);

/// Starts the thread that runs a stream.
type Spawn = Box<dyn FnOnce(&Handed) -> JoinHandle<()> + Send>;

enum LaterState {
    Waits(Spawn),
    Runs(JoinHandle<()>),
    Gone,
}

impl Later {
    fn new(start: impl FnOnce(&Handed) -> JoinHandle<()> + Send + 'static) -> Self {
        Self(StdArc::new(Mutex::new(LaterState::Waits(Box::new(start)))))
    }

    fn lock(&self) -> MutexGuard<'_, LaterState> {
        fork::lock(&self.0)
    }

    /// Lets the stream run, unless it does or was dropped.
    fn start(&self, handed: &Handed) {
        let mut state = self.lock();
        *state = match std::mem::replace(&mut *state, LaterState::Gone) {
            LaterState::Waits(start) => LaterState::Runs(start(handed)),
            other => other,
        };
    }

    /// The thread of the stream, if it runs. Otherwise the stream is dropped.
    fn take(&self) -> Option<JoinHandle<()>> {
        match std::mem::replace(&mut *self.lock(), LaterState::Gone) {
            LaterState::Runs(thread) => Some(thread),
            _ => None,
        }
    }
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("token", &self.token).finish_non_exhaustive()
    }
}

impl<T> Reader<T> {
    /// Makes sure that the threads of the stream are in this process.
    ///
    /// # Panics
    /// If they are not. In a scope, which waits for them, the process ends.
    #[inline]
    fn assert_not_forked(&self) {
        if self.birth.is_forked() {
            if let Runner::Scope = self.runner {
                self.birth.end_if_forked();
            }
            panic!(
                "this process was forked while this stream ran, which has its threads in the parent process only: run another stream \
                 in this process"
            );
        }
    }

    /// Waits for the next result. Resumes the panic of the run behind the last one.
    pub(crate) fn next(&mut self) -> Option<T> {
        self.assert_not_forked();
        self.start();
        let item = self.results.next();
        if item.is_none() {
            self.end();
        }
        item
    }

    /// Returns the next result if it is there.
    pub(crate) fn try_next(&mut self) -> Result<T, TryRecvError> {
        self.assert_not_forked();
        self.start();
        self.results.try_next()
    }

    #[cfg(feature = "futures")]
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.assert_not_forked();
        self.start();
        let polled = self.results.poll(context);
        if let Poll::Ready(None) = polled {
            self.end();
        }
        polled
    }

    /// Waits for the thread of a stream that has ended, and resumes the panic of the run.
    fn end(&mut self) {
        self.join();
        if let Some(payload) = self.results.panic() {
            resume_unwind(payload);
        }
    }

    /// Lets a stream run that is asked for its results before the stream around it has let it run.
    #[inline]
    fn start(&mut self) {
        if let Runner::Later(later) = &self.runner {
            later.start(&Handed::default());
            self.runner = Runner::Thread(later.take());
        }
    }

    fn join(&mut self) {
        if let Runner::Thread(thread) = &mut self.runner {
            // The thread has caught the panic of the run.
            discard(thread.take().map(JoinHandle::join));
        }
    }

    /// In a forked process, lets go of a stream whose threads are elsewhere. Returns whether it is one.
    fn leave(&mut self) -> bool {
        let is_forked = self.birth.is_forked();
        if is_forked {
            // The handle names a thread that is not here, and memory that another thread may have now.
            std::mem::forget(std::mem::replace(&mut self.runner, Runner::Scope));
            std::mem::forget(StdArc::clone(&self.results));
        }
        is_forked
    }

    /// Stops the run, and waits until its data was dropped and its thread has ended.
    pub(crate) fn stop(&mut self) {
        if self.leave() {
            return;
        }
        self.results.close();
        self.token.cancel();
        if let Runner::Later(later) = &self.runner {
            self.runner = Runner::Thread(later.take());
        }
        self.results.wait_for_end();
        self.join();
    }
}

impl<T> Drop for Reader<T> {
    fn drop(&mut self) {
        if self.leave() {
            return;
        }
        self.results.close();
        self.token.cancel();
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Divides the window between the stream and the results that wait for a reader, so that its bound holds for
    /// both together. Returns how many results may wait. If the number is 0, the stream waits with each result until
    /// the reader takes it.
    pub(crate) fn share_window(&mut self) -> usize {
        let settings = self.plan().settings;
        // Results that wait are not weighed. So none may wait if the window is limited in bytes.
        let waiting =
            if settings.window_bytes.is_some() { 0 } else { (settings.window / 2).min(WAITING_RESULTS) };
        self.draft.outline.plan.settings.window = settings.window - waiting;
        self.draft.outline.unset.window = false;
        waiting
    }

    /// The name of a thread of the stream for the given end.
    pub(crate) fn thread_name(&self, end: &str) -> String {
        let name = self.draft.outline.plan.name.as_deref().unwrap_or("anabranch");
        format!("{name}-{end}")
    }
}

impl<T: Send + 'static, M: Mode<Error: 'static> + 'static> Stream<'static, T, M> {
    /// Runs the stream on the threads of its pool alone if it can, and otherwise on a thread of its own. If the results are to be a
    /// part of another stream, that stream lets it run, on a thread of its own. `call` is what the user has written.
    pub(crate) fn read<V: Send + 'static>(
        mut self,
        end: &'static str,
        call: &'static str,
        wrap: fn(Result<T, M::Error>) -> V,
    ) -> Reader<V> {
        let capacity = self.share_window();
        let adopter = adopter();
        let is_adopted = adopter.is_some();
        let call = match adopter {
            Some(around) => format!("the stream in `{around}`"),
            None => format!("`{call}`"),
        };
        let stream = match if is_adopted { Err(self) } else { self.detach(&Node::sink(end), capacity, wrap) }
        {
            Ok(reader) => return reader,
            Err(stream) => stream,
        };
        let results = Results::new(capacity, &Arc::default());
        let ending = Ending(StdArc::clone(&results));
        let token = CancelToken::new();
        let stream = stream.cancel_by(&token);
        let account = StdArc::<Account>::default();
        let counted = StdArc::clone(&account);
        let start = move |handed: &Handed| {
            let (stream, mut sent) = (stream.inside(handed, &counted), counted.sent());
            stream.draft.attached.begin();
            let name = stream.thread_name(end);
            let birth = Birth::here();
            let run = move || {
                // The thread that reads is not in a process that this one has forked.
                let _guard = birth.guard();
                let results = StdArc::clone(&ending.0);
                let ended = catch_unwind(AssertUnwindSafe(|| {
                    stream.run_into(Node::sink(end), move |item| {
                        birth.end_if_forked();
                        let sending = results.send(wrap(Ok(item)));
                        if sending.is_continue() {
                            sent.add();
                        }
                        sending
                    })
                }));
                ending.end(ended, |error| wrap(Err(error)));
            };
            let thread = named_thread(&name).spawn(run);
            thread.unwrap_or_else(|error| panic!("the system cannot create a thread for {call}: {error}"))
        };
        if !is_adopted {
            let runner = Runner::Thread(Some(start(&Handed::default())));
            return Reader { birth: Birth::here(), results, token, runner };
        }
        let later = Later::new(start);
        let started = later.clone();
        leave(account, Box::new(move |handed| started.start(handed)));
        Reader { birth: Birth::here(), results, token, runner: Runner::Later(later) }
    }
}

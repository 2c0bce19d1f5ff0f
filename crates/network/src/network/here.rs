//! A running process: its thread, and the functions by which it creates records and other processes.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::plan::Node;
use crate::record::{All, Dealt, ReadDeal, RegisterError};
use anabranch_record::sync::{Arc, Mutex, lock, thread};

use anabranch::host::Kept;

use super::{
    Horizon,
    contents::{Contents, Outcome},
    ports::Ports,
    process::Process,
    reader::Reader,
    registry::Registry,
    role::{self, Role},
    rule::Verdict,
    writer::Writer,
};

/// The code of a process.
pub(super) type Code<'env, E> =
    Box<dyn for<'a, 's> FnOnce(&'a Here<'s, 'env, E>) -> Result<(), E> + Send + 'env>;

/// The network of a process, for the process itself.
pub struct Here<'s, 'env: 's, E> {
    pub(super) scope: &'s thread::Scope<'s, 'env>,
    pub(super) contents: Arc<Contents<'env, E>>,
    pub(super) threads: Handles<'s>,
    pub(super) process: Arc<Process>,
}

/// The threads of a run's processes.
pub(super) type Handles<'s> = Arc<Mutex<Vec<thread::ScopedJoinHandle<'s, ()>>>>;

impl<'s, 'env, E: Send + 'env> Here<'s, 'env, E> {
    /// The name of the process.
    pub fn name(&self) -> &str {
        &self.process.name
    }

    /// Creates a process, which starts at once. See [`Network::process`](super::Network::process).
    ///
    /// A view may be moved into the new process if this process has not used it, or has [handed it
    /// over](Writer::hand_over).
    pub fn process<F>(&self, name: &str, code: F)
    where
        F: for<'a, 't> FnOnce(&'a Here<'t, 'env, E>) -> Result<(), E> + Send + 'env,
    {
        let process = self.contents.new_process(Node::process(name.to_owned()));
        if self.process.is_over() {
            process.notice_ending();
        }
        spawn(self.scope, &self.contents, &self.threads, process, Box::new(code));
    }

    /// Creates a firing rule, which fires as soon as its ports allow it. See
    /// [`Network::rule`](super::Network::rule). Its views must not have been used by this process, or must
    /// have been [handed over](Writer::hand_over).
    ///
    /// ```
    /// use anabranch_network::Network;
    ///
    /// let mut net = Network::<String>::new().workers(2);
    /// let (mut give, take) = net.record::<u64>(4);
    /// let (scaled, mut end) = net.record::<u64>(4);
    /// let mut seen = Vec::new();
    /// net.process("input", move |_| {
    ///     [10, 1, 2, 3].map(|n| give.push(n).unwrap());
    ///     Ok(())
    /// });
    /// net.process("header", move |here| {
    ///     let mut take = take;
    ///     let factor = take.next().unwrap_or(1); // known only now
    ///     let rest = take.hand_over();
    ///     here.rule("scale", rest.consumes(1), scaled.produces(1), move |n, out| {
    ///         out.push(factor * n[0]);
    ///         Ok(())
    ///     });
    ///     Ok(())
    /// });
    /// net.process("seen", |_| {
    ///     seen.extend(&mut end);
    ///     Ok(())
    /// });
    /// net.run().unwrap();
    /// assert_eq!(seen, [10, 20, 30]);
    /// ```
    pub fn rule<I, O, V, F>(&self, name: &str, inputs: I, outputs: O, code: F)
    where
        I: Ports + Send + 'env,
        O: Ports + Send + 'env,
        V: Verdict,
        F: for<'a> FnMut(&mut I::Bursts<'a>, &mut O::Bursts<'a>) -> Result<V, E> + Send + 'env,
    {
        if let Some(cell) = self.contents.add_rule(name, inputs, outputs, code) {
            self.contents.check_ports(cell);
            self.contents.network.note_new_rule();
            cell.link.start();
        }
    }

    /// Creates a record, like [`Network::record`](super::Network::record).
    pub fn record<T: Send + 'env>(&self, horizon: impl Into<Horizon>) -> (Writer<T>, Reader<T>) {
        self.contents.record(horizon.into(), Vec::new())
    }

    /// Creates a record, like [`Network::record_with`](super::Network::record_with).
    pub fn record_with<T: Send + 'env>(
        &self,
        horizon: impl Into<Horizon>,
        items: impl IntoIterator<Item = T>,
    ) -> (Writer<T>, Reader<T>) {
        self.contents.record(horizon.into(), items.into_iter().collect())
    }

    /// Creates a record, like [`Network::broadcast`](super::Network::broadcast).
    ///
    /// # Panics
    /// If `readers` is 0.
    pub fn broadcast<T: Send + Sync + 'env>(
        &self,
        horizon: impl Into<Horizon>,
        readers: usize,
    ) -> (Writer<T>, Vec<Reader<T, All>>) {
        let (mut writers, readers) = self.shared(horizon, Dealt::one(), All::of(readers));
        (writers.remove(0), readers)
    }

    /// Creates a record, like [`Network::shared`](super::Network::shared).
    pub fn shared<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        horizon: impl Into<Horizon>,
        writers: Dealt,
        readers: R,
    ) -> (Vec<Writer<T>>, Vec<Reader<T, R>>) {
        self.contents.shared(horizon.into(), writers, readers)
    }

    /// Creates a record, like [`Network::registry`](super::Network::registry).
    pub fn registry<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        horizon: impl Into<Horizon>,
        writers: Dealt,
        readers: R,
    ) -> Registry<T, R> {
        self.contents.registry(horizon.into(), writers, readers)
    }

    /// Registers a writer of the record that reserves up to `horizon` slots at a time. `id` is less than the
    /// number of the record's writers.
    ///
    /// # Errors
    /// The record has no such id, or the id has a view, or it has ended.
    pub fn writer<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        registry: &Registry<T, R>,
        id: usize,
        horizon: usize,
    ) -> Result<Writer<T>, RegisterError> {
        self.registered(self.contents.register_writer(registry, id, horizon))
    }

    /// Registers a reader of the record that receives up to `horizon` items at a time. `id` is less than the
    /// number of the record's readers.
    ///
    /// # Errors
    /// The record has no such id, or the id has a view, or it has ended.
    pub fn reader<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        registry: &Registry<T, R>,
        id: usize,
        horizon: usize,
    ) -> Result<Reader<T, R>, RegisterError> {
        self.registered(self.contents.register_reader(registry, id, horizon))
    }

    /// Notes if a view could not be registered because the network ends.
    fn registered<V>(&self, result: Result<V, RegisterError>) -> Result<V, RegisterError> {
        if result.is_err() && self.contents.network.is_ending() {
            self.process.notice_ending();
            role::stop(&self.process, &self.contents.network);
        }
        result
    }
}

impl<E> fmt::Debug for Here<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Here").field("name", &self.process.name).finish_non_exhaustive()
    }
}

/// Starts the thread of a process.
pub(super) fn spawn<'s, 'env: 's, E: Send + 'env>(
    scope: &'s thread::Scope<'s, 'env>,
    contents: &Arc<Contents<'env, E>>,
    threads: &Handles<'s>,
    process: Arc<Process>,
    code: Code<'env, E>,
) {
    let network = Arc::clone(&contents.network);
    network.rouse();
    let here = Here {
        scope,
        contents: Arc::clone(contents),
        threads: Arc::clone(threads),
        process: Arc::clone(&process),
    };
    match start(scope, &process.name, move || live_as(&here, code)) {
        Some(handle) => lock(threads).push(handle),
        None => {
            let (name, count) = (&process.name, lock(threads).len());
            network.misuse(format!(
                "the system cannot create a thread for process \"{name}\", after {count} others: make some of \
                 the processes firing rules, which need no threads"
            ));
            contents.end_process(&process, None);
            network.rest();
        }
    }
}

/// Spawns a thread with this name. `None` if the system cannot create one.
pub(super) fn start<'s, 'env: 's>(
    scope: &'s thread::Scope<'s, 'env>,
    name: &str,
    code: impl FnOnce() + Send + 's,
) -> Option<thread::ScopedJoinHandle<'s, ()>> {
    #[cfg(not(shuttle))]
    {
        anabranch_record::sync::named_thread(name).spawn_scoped(scope, code).ok()
    }
    #[cfg(shuttle)]
    {
        let _ = name;
        Some(scope.spawn(code))
    }
}

/// Runs a process on its thread, and ends it.
fn live_as<'env, E: Send + 'env>(here: &Here<'_, 'env, E>, code: Code<'env, E>) {
    let (contents, process) = (&here.contents, &here.process);
    let outcome = {
        let _role = Role::play(process, &contents.network);
        match catch_unwind(AssertUnwindSafe(|| code(here))) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(Outcome::Error(Kept::new(error))),
            Err(payload) => Some(Outcome::Panic(Kept::new(payload))),
        }
    };
    // The threads of the other processes are not in a forked process.
    contents.network.end_if_forked();
    contents.end_process(process, outcome);
    contents.network.rest();
}

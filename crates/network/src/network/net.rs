//! A network: how it is built, and how it is run.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use crate::plan::{Node, Plan};
use crate::record::{All, Dealt, ReadDeal};
use anabranch_record::sync::Arc;

use anabranch::Pool;

use super::{
    Error, Horizon,
    contents::Contents,
    here::Here,
    ports::Ports,
    reader::Reader,
    registry::Registry,
    rule::Verdict,
    run::{self, Parts, Threads},
    state::Unrun,
    writer::Writer,
};

/// Processes that exchange items through records. A network is built, and then [run](Self::run).
///
/// Processes may borrow data of the caller for the lifetime `'env`. They may fail with the error `E`.
#[must_use = "a network does nothing until it is run"]
pub struct Network<'env, E> {
    /// Dropped by `run` or `discard`, and not with the network. When a network is dropped, data that its
    /// processes borrow may be gone already, because it may have been declared after the network. A network
    /// that dropped its processes could not lend them such data: the compiler would refuse the program.
    /// [`Guarded`](super::Guarded) drops them, and takes only data that lives longer.
    pub(super) parts: ManuallyDrop<Parts<'env, E>>,
    threads: Threads<'env>,
    _unrun: Unrun,
    borrows: PhantomData<&'env ()>,
}

impl<'env, E: Send + 'env> Network<'env, E> {
    /// Creates a network without processes. Its firing rules run on as many workers as there are processors.
    pub fn new() -> Self {
        let contents = Arc::new(Contents::new());
        let unrun = Unrun(Arc::clone(&contents.network));
        let parts = Parts { contents, processes: Vec::new() };
        Self {
            parts: ManuallyDrop::new(parts),
            threads: Threads::Workers(anabranch::default_workers()),
            _unrun: unrun,
            borrows: PhantomData,
        }
    }

    /// Runs firing rules on `n` threads, including the thread that calls [`run`](Self::run). Processes have
    /// threads of their own, which do not count.
    ///
    /// # Panics
    /// If `n` is 0.
    #[track_caller]
    pub fn workers(mut self, n: usize) -> Self {
        assert!(n > 0, "`workers(0)`: a network has 1 worker or more");
        self.threads = Threads::Workers(n);
        self
    }

    /// Runs firing rules on the threads of `pool`, which several networks and streams may share. Processes
    /// have threads of their own, which do not count.
    pub fn pool(mut self, pool: &'env Pool) -> Self {
        self.threads = Threads::Pool(pool);
        self
    }

    /// Creates a record with one writer and one reader.
    pub fn record<T: Send + 'env>(&mut self, horizon: impl Into<Horizon>) -> (Writer<T>, Reader<T>) {
        self.parts.contents.record(horizon.into(), Vec::new())
    }

    /// Creates a record with one writer and one reader that contains `items` from the start, as if they had
    /// been written. If the processes of a cycle all read before they write, one of the records of the cycle
    /// needs such items.
    pub fn record_with<T: Send + 'env>(
        &mut self,
        horizon: impl Into<Horizon>,
        items: impl IntoIterator<Item = T>,
    ) -> (Writer<T>, Reader<T>) {
        self.parts.contents.record(horizon.into(), items.into_iter().collect())
    }

    /// Creates a record with one writer and `readers` readers. Each reader sees every item, in place.
    ///
    /// # Panics
    /// If `readers` is 0.
    pub fn broadcast<T: Send + Sync + 'env>(
        &mut self,
        horizon: impl Into<Horizon>,
        readers: usize,
    ) -> (Writer<T>, Vec<Reader<T, All>>) {
        let (mut writers, readers) = self.shared(horizon, Dealt::one(), All::of(readers));
        (writers.remove(0), readers)
    }

    /// Creates a record with one writer and `readers` readers. The readers take turns, with `burst` items in
    /// each turn. Together with a record made by [`merge`](Self::merge), this shares the work of a process
    /// among several copies of it, and keeps the order.
    ///
    /// # Panics
    /// If one of them is 0.
    pub fn deal<T: Send + 'env>(
        &mut self,
        horizon: impl Into<Horizon>,
        readers: usize,
        burst: usize,
    ) -> (Writer<T>, Vec<Reader<T>>) {
        let (mut writers, readers) = self.shared(horizon, Dealt::one(), Dealt::of(readers, burst));
        (writers.remove(0), readers)
    }

    /// Creates a record with `writers` writers and one reader. The writers take turns, with `burst` items in
    /// each turn.
    ///
    /// # Panics
    /// If one of them is 0.
    pub fn merge<T: Send + 'env>(
        &mut self,
        horizon: impl Into<Horizon>,
        writers: usize,
        burst: usize,
    ) -> (Vec<Writer<T>>, Reader<T>) {
        let (writers, mut readers) = self.shared(horizon, Dealt::of(writers, burst), Dealt::one());
        (writers, readers.remove(0))
    }

    /// Creates a record with several writers and several readers. The writers take turns. The readers take
    /// turns too, or each sees [all](All) items. The stream ends at the first index whose writer has closed.
    pub fn shared<T: Send + 'env, R: ReadDeal<T>>(
        &mut self,
        horizon: impl Into<Horizon>,
        writers: Dealt,
        readers: R,
    ) -> (Vec<Writer<T>>, Vec<Reader<T, R>>) {
        self.parts.contents.shared(horizon.into(), writers, readers)
    }

    /// Creates a record with which processes register views while they run. `writers` and `readers` say how
    /// many views there are on each side.
    pub fn registry<T: Send + 'env, R: ReadDeal<T>>(
        &mut self,
        horizon: impl Into<Horizon>,
        writers: Dealt,
        readers: R,
    ) -> Registry<T, R> {
        self.parts.contents.registry(horizon.into(), writers, readers)
    }

    /// Adds a process: plain code that runs on a thread of its own. It waits in its views, and may create
    /// other processes. Several processes may have the same name.
    pub fn process<F>(&mut self, name: &str, code: F)
    where
        F: for<'a, 's> FnOnce(&'a Here<'s, 'env, E>) -> Result<(), E> + Send + 'env,
    {
        let process = self.parts.contents.new_process(Node::process(name.to_owned()));
        self.parts.processes.push((process, Box::new(code)));
    }

    /// Adds a firing rule: a process without a thread. A worker calls `code` each time that all inputs have
    /// enough items and all outputs have enough room. The rates of the rule are fixed; [`Reader::consumes`]
    /// and [`Writer::produces`] set them.
    ///
    /// `inputs` and `outputs` are one port, or a tuple or vector of ports. The rule ends when an input has
    /// ended, when no output has a reader left, or when `code` returns
    /// [`Break`](std::ops::ControlFlow::Break). `code` must not wait.
    ///
    /// ```
    /// use anabranch_network::Network;
    /// use std::ops::ControlFlow::{Break, Continue};
    ///
    /// let mut net = Network::<String>::new().workers(1);
    /// let (numbers, signal) = net.record::<f32>(16);
    /// let (averages, smooth) = net.record::<f32>(16);
    /// let (mut input, mut output) = ((1..=6).map(|n| n as f32), Vec::new());
    /// net.rule("numbers", (), numbers.produces(1), move |(), numbers| match input.next() {
    ///     Some(n) => Ok(Continue(numbers.push(n))),
    ///     None => Ok(Break(())),
    /// });
    /// // sees three items each time, and goes on by one
    /// net.rule("average", signal.consumes(1).peeks(3), averages.produces(1), |signal, averages| {
    ///     averages.push(signal.iter().sum::<f32>() / 3.0);
    ///     Ok(())
    /// });
    /// net.rule("print", smooth.consumes(1), (), |smooth, ()| Ok(output.push(smooth[0])));
    /// net.run().unwrap();
    /// assert_eq!(output, [2.0, 3.0, 4.0, 5.0]);
    /// ```
    pub fn rule<I, O, V, F>(&mut self, name: &str, inputs: I, outputs: O, code: F)
    where
        I: Ports + Send + 'env,
        O: Ports + Send + 'env,
        V: Verdict,
        F: for<'a> FnMut(&mut I::Bursts<'a>, &mut O::Bursts<'a>) -> Result<V, E> + Send + 'env,
    {
        self.parts.contents.add_rule(name, inputs, outputs, code);
    }

    pub(super) fn contents(&self) -> &Contents<'env, E> {
        &self.parts.contents
    }

    /// The plan that runs. Its nodes are the processes and the firing rules, in the order of their creation, and its edges are the
    /// records between two rules. A record with other ends or with several views on a side is a node too, with an edge for each
    /// rule that writes or reads it.
    ///
    /// The views that a process uses are not known before it runs, so no edge leads to a process. The
    /// views of a [registry](Self::registry) are not known either.
    ///
    /// ```
    /// use anabranch_network::Network;
    ///
    /// let mut net = Network::<String>::new().workers(2);
    /// let (give, take) = net.record::<f32>(8);
    /// net.rule("gives", (), give.produces(1), |(), out| Ok(out.push(1.0)));
    /// net.rule("takes", take.consumes(4), (), |_, ()| Ok(()));
    /// assert_eq!(net.plan().repetitions().unwrap(), [4, 1]);
    /// ```
    pub fn plan(&self) -> Plan {
        let workers = match &self.threads {
            Threads::Workers(workers) => *workers,
            Threads::Pool(pool) => pool.threads(),
        };
        self.parts.contents.plan(workers).0
    }

    /// Drops the network and the captures of its processes without running it.
    pub fn discard(self) {
        let Self { parts, _unrun, .. } = self;
        drop(_unrun);
        drop(ManuallyDrop::into_inner(parts));
    }

    /// Runs the network until every process has ended. The calling thread is one of the workers; without
    /// firing rules it waits.
    ///
    /// # Errors
    /// - A process has failed. Failures that follow from the end of another process do not count. If
    ///   others remain, the one of the process that was created first is returned.
    /// - The network was in a deadlock.
    /// - The network was built or used wrongly. The message says how to correct it.
    ///
    /// # Panics
    /// If a process has panicked, this function panics with the same payload.
    pub fn run(self) -> Result<(), Error<E>> {
        let Self { parts, threads, _unrun, .. } = self;
        run::run(ManuallyDrop::into_inner(parts), &threads)
    }
}

impl<'env, E: Send + 'env> Default for Network<'env, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for Network<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("processes", &self.parts.processes.len())
            .field("rules", &self.parts.contents.rules.count())
            .finish_non_exhaustive()
    }
}

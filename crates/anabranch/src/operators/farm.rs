//! Farms: stages whose workers differ.

use anabranch_plan::{Node, State};
use anabranch_record::sync::{Condvar, Mutex, lock};

use crate::stream::options::ForAll;
use crate::stream::{Admit, Mode, Stream, TryStream};

/// The workers of a farm that are free.
struct Free<W> {
    workers: Mutex<Vec<W>>,
    /// Notified when a worker becomes free.
    is_free: Condvar,
}

/// A worker that is at work. Dropping it makes the worker free again, also after a panic: an earlier item may need it.
struct AtWork<'f, W> {
    worker: Option<W>,
    free: &'f Free<W>,
}

impl<W> Free<W> {
    #[track_caller]
    fn new(method: &str, workers: impl IntoIterator<Item = W>) -> (Self, usize) {
        let workers: Vec<W> = workers.into_iter().collect();
        let count = workers.len();
        assert!(count > 0, "`{method}` got no workers: a farm has 1 worker or more");
        (Self { workers: Mutex::new(workers), is_free: Condvar::new() }, count)
    }

    /// Calls `f` with a free worker. The stage has as many replicas as workers, so it waits for none, unless the replicas
    /// were changed.
    fn with<R>(&self, f: impl FnOnce(&mut W) -> R) -> R {
        let mut workers = lock(&self.workers);
        let worker = loop {
            match workers.pop() {
                Some(worker) => break worker,
                None => {
                    workers = self.is_free.wait(workers).unwrap_or_else(std::sync::PoisonError::into_inner)
                }
            }
        };
        drop(workers);
        let mut at_work = AtWork { worker: Some(worker), free: self };
        f(at_work.worker.as_mut().expect("a worker is at work until it is dropped"))
    }
}

impl<W> Drop for AtWork<'_, W> {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            lock(&self.free.workers).push(worker);
            self.free.is_free.notify_one();
        }
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Turns each item into another on one of several workers that differ, whichever is free. Each worker processes one item
    /// at a time, and may keep a state: a connection, a device, a cache. The results have the order of the items.
    ///
    /// It is not defined which worker gets which item, so the results must not depend on it. If they do, deal the items to
    /// branches: [`split`](Self::split) with an [`InTurn`](crate::InTurn) or a [`ByKey`](crate::ByKey).
    ///
    /// If the number of workers of the stream is not set, it is at least the number of these workers, as with
    /// [`replicas`](Self::replicas).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// // Two ways to the same result: one divides, the other one has a table.
    /// let table: Vec<u32> = (0..100).map(|n| n / 7).collect();
    /// let workers: [Box<dyn FnMut(usize) -> u32 + Send>; 2] =
    ///     [Box::new(|n| n as u32 / 7), Box::new(|n| table[n])];
    /// let sevenths = Stream::from_iter(0..100).farm(workers).collect::<Vec<_>>();
    /// assert_eq!(sevenths, table);
    /// ```
    ///
    /// # Panics
    /// If there is no worker.
    #[doc(alias = "workers_that_differ")]
    #[track_caller]
    pub fn farm<V, W>(self, workers: impl IntoIterator<Item = W>) -> Stream<'env, V, M>
    where
        O: ForAll,
        V: Send + 'env,
        W: FnMut(T) -> V + Send + 'env,
    {
        let (free, count) = Free::new("farm", workers);
        let node = Node::parallel("farm").state(State::PerReplica).replicate(count);
        self.each(node, move |item| Some(free.with(|worker| worker(item))))
    }

    /// Like [`farm`](Self::farm), with workers that may fail. The first failure in the order of the items ends the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let parse = |text: &str| text.parse::<u32>();
    /// assert_eq!(Stream::from_iter(["1", "2"]).try_farm([parse, parse]).sum::<u32>(), Ok(3));
    /// assert!(Stream::from_iter(["1", "x"]).try_farm([parse, parse]).sum::<u32>().is_err());
    /// ```
    ///
    /// # Panics
    /// If there is no worker.
    #[track_caller]
    pub fn try_farm<V, E, W>(self, workers: impl IntoIterator<Item = W>) -> TryStream<'env, V, M::Failure>
    where
        O: ForAll,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        W: FnMut(T) -> Result<V, E> + Send + 'env,
    {
        let (free, count) = Free::new("try_farm", workers);
        let node = Node::parallel("try_farm").state(State::PerReplica).replicate(count);
        self.try_each(node, move |item| free.with(|worker| worker(item)).map(Some))
    }
}

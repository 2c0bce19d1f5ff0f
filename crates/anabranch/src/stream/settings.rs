//! Settings: how a stream runs. They do not change the results, except that `with_plan` may give up their order and a token may
//! end the run early.

use anabranch_plan::{Burst, Executor, Plan};

use super::run::finished;
use super::{Mode, Stream};
use crate::control::{CancelToken, PoolShare, Watch, WorkerCount};
use crate::report::ReportSlot;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Sets how many threads work, including the calling thread. The default is
    /// [`default_workers`](crate::default_workers).
    ///
    /// Threads start as there is work for them: a stream of ten items starts a few, whatever the number. If the system
    /// creates no more threads, the stream goes on with those that it has.
    ///
    /// A [`Workers`](crate::Workers) handle in place of the number can change it while the stream runs. The last of several calls
    /// counts.
    ///
    /// ```
    /// use anabranch::{Stream, Workers};
    ///
    /// assert_eq!(Stream::from_iter(0..100).workers(2).map(|n| 2 * n).max(), Some(198));
    ///
    /// let workers = Workers::new(1);
    /// let more = |n: &u64| if *n == 50 { workers.set(2) };
    /// assert_eq!(Stream::from_iter(0..100u64).workers(&workers).inspect(more).count(), 100);
    /// ```
    ///
    /// # Panics
    /// If the number is 0.
    #[track_caller]
    pub fn workers(mut self, workers: impl Into<WorkerCount>) -> Self {
        self.draft.set_workers(workers.into());
        self
    }

    /// Takes the helping threads of the run from a pool: a `&Pool`, or an `Arc<Pool>` for a stream that owns what it
    /// uses, as [`into_iter`](Self::into_iter) needs. The default number of workers is then that of the pool.
    ///
    /// # Many services on one pool
    ///
    /// A stream needs no thread but those of the pool if its pool is an `Arc<Pool>`, its source is a
    /// [`channel`](Self::channel) or `from_async`, and it ends in `into_iter` or `into_async`. While it has nothing to do it
    /// occupies no thread, so a thousand such streams can wait on a pool of two threads. They take turns when they are busy.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use anabranch::{Pool, Stream};
    ///
    /// let pool = Arc::new(Pool::new(2));
    /// let service = |factor: u64| {
    ///     let (sender, requests) = Stream::channel(16);
    ///     (sender, requests.pool(&pool).map(move |n: u64| factor * n).into_iter())
    /// };
    /// let mut services: Vec<_> = (0..100).map(service).collect();
    /// let (sender, results) = &mut services[7];
    /// sender.send(6).unwrap();
    /// assert_eq!(results.next(), Some(42));
    /// ```
    ///
    /// A stage that waits for something occupies a thread of the pool meanwhile. If a stream with work has waited 100 ms
    /// because all threads of the pool are occupied, the pool starts one more thread. That thread ends after a second without
    /// work. So streams that wait for each other go on. The [states](Self::map_init) of the workers are dropped when the stream
    /// has nothing to do, and made again when it goes on.
    ///
    /// Other streams have a calling thread of their own besides: those with another source, which may block, and those with a
    /// [`dedicated`](Self::dedicated) stage, [`inline`](Self::inline), a [`watch`](Self::watch) by a monitor or for stalls, a [report](Self::report_to), or the
    /// setting [`Wait::Spin`](Self::with_plan), or whose last stage and end were fused by [passes](Self::passes). So have streams
    /// with a borrowed pool, and those in `select_all`.
    /// A [`Workers`](crate::Workers) handle has no effect on a stream without a calling thread.
    ///
    /// # A pool for other ends
    ///
    /// ```
    /// use std::sync::Arc;
    /// use anabranch::{Pool, Stream};
    ///
    /// let pool = Arc::new(Pool::new(2));
    /// let streams = (0..10u64).map(|n| Stream::from_iter(0..n).pool(&pool).map(|m| m * m).into_iter());
    /// assert_eq!(streams.flatten().sum::<u64>(), 540);
    /// ```
    pub fn pool(mut self, pool: impl Into<PoolShare<'env>>) -> Self {
        self.draft.attached.pool = Some(pool.into());
        self.draft.outline.plan.settings.executor = Executor::Threads;
        self
    }

    /// Sets how many items may be between the source and the end at a time. The bound holds however uneven
    /// the work is, and however slow the end is. The default depends on the size of the items: 4,096 items,
    /// or as many as fit into 64 KiB, but at least 16 for each worker. If the source [never waits](crate::Source::in_blocks), the
    /// first two numbers are multiplied by 4. Windows by key multiply them by 4 once more. The size does not include memory
    /// that an item owns, so set a window for items that own much memory.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let stream = Stream::from_iter((0..100).map(|n| vec![0u8; 1_000 * n])).window(8); // 8 vectors at a time
    /// assert_eq!(stream.map(|bytes| bytes.len()).max(), Some(99_000));
    /// ```
    ///
    /// # Panics
    /// If `window` is 0.
    #[track_caller]
    pub fn window(mut self, window: usize) -> Self {
        assert!(window > 0, "`window(0)`: a window is 1 item or more");
        self.draft.outline.plan.settings.window = window;
        self.draft.outline.unset.window = false;
        self
    }

    /// Sets the window of every domain behind the first one, in items. Items are not weighed there.
    pub(crate) fn window_behind(mut self, window: usize) -> Self {
        self.draft.outline.unset.window_behind = Some(window);
        self
    }

    /// Sets how many items a worker claims at once, and how many a block of a source that
    /// [never waits](crate::Source::in_blocks) has. By default the number adapts to the cost of the items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let stream = Stream::from_iter(0..100).burst(1).map(|n| n + 1); // a worker claims one item at a time
    /// assert_eq!(stream.sum::<u32>(), 5_050);
    /// ```
    ///
    /// # Panics
    /// If `burst` is 0.
    #[track_caller]
    pub fn burst(mut self, burst: usize) -> Self {
        assert!(burst > 0, "`burst(0)`: a burst is 1 item or more");
        self.draft.outline.plan.settings.burst = Burst::Fixed(burst);
        self
    }

    /// Sets the name of the run, which its plan and its threads have.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let stream = Stream::from_iter(0..10).title("squares").map(|n| n * n);
    /// assert_eq!(stream.plan().name.as_deref(), Some("squares"));
    /// ```
    pub fn title(mut self, title: impl Into<String>) -> Self {
        // The name of a thread must not contain a zero.
        self.draft.outline.plan.name = Some(title.into().replace('\0', ""));
        self
    }

    /// Changes the plan before it runs. Use it for settings that the stream has no method for, or that a
    /// program computes from the plan. Two of them are:
    ///
    /// - `plan.settings.pinned = true` pins each helping thread of the run to one processor, on systems that support it. The
    ///   calling thread and the threads of a pool are not pinned.
    /// - `plan.settings.wait = Wait::Spin` makes one waiting worker poll for work until there is some, instead of parking after
    ///   some microseconds. The other waiting workers park. The stream reacts faster, and occupies one processor while it waits.
    ///   A stage with a thread of its own ([`dedicated`](Self::dedicated)) parks as without this setting.
    ///
    /// `change` gets the whole plan, with its end and with all defaults filled in. It is called each time the
    /// plan is made, for [`plan`](Self::plan) and [`explain`](Self::explain) too. It may change windows,
    /// bursts, replicas, the placement of serial stages, names, costs and settings, and may give up the order
    /// of the items. [Passes](Self::passes) have run by then.
    ///
    /// ```
    /// use anabranch::{Stream, plan::Wait};
    ///
    /// let stream = Stream::from_iter(0..100).workers(2).map(|n| n * n).with_plan(|plan| {
    ///     plan.domains[0].window = 8;
    ///     plan.settings.pinned = true;
    ///     plan.settings.wait = Wait::Spin;
    /// });
    /// assert_eq!(stream.plan().domains[0].window, 8);
    /// assert_eq!(stream.count(), 100);
    /// ```
    ///
    /// # Panics
    /// When the plan is made, if it cannot run after the change, with the error of [`Plan::check_against`].
    pub fn with_plan<F>(mut self, change: F) -> Self
    where
        F: Fn(&mut Plan) + Send + 'env,
    {
        self.draft.attached.changes.push(Box::new(move |plan| {
            let before = plan.clone();
            change(plan);
            plan.follow_changes(&before);
            if let Err(error) = plan.check_against(&before) {
                panic!("with_plan: {error}");
            }
        }));
        self
    }

    /// Runs the stream on the calling thread alone. Each item passes from the source to the end before the source
    /// is asked for the next one; a source that [never waits](crate::Source::in_blocks) is asked for the next block.
    ///
    /// A later call of [`workers`](Self::workers) or [`pool`](Self::pool) takes this back.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let thread = std::thread::current().id();
    /// let stream = Stream::from_iter(0..100).inline().map(|_| std::thread::current().id());
    /// assert!(stream.all(|id| id == thread));
    /// ```
    pub fn inline(mut self) -> Self {
        self.draft.outline.plan.settings.executor = Executor::Inline;
        self
    }

    /// Lets a token stop the run from outside.
    ///
    /// ```
    /// use anabranch::{CancelToken, Stream};
    ///
    /// let token = CancelToken::new();
    /// let seen = Stream::from_iter(0u64..) // endless
    ///     .cancel_by(&token)
    ///     .inspect(|&n| if n == 1_000 { token.cancel() })
    ///     .count();
    /// assert!(token.stopped().is_some_and(|stopped| stopped.delivered == seen as u64));
    /// ```
    pub fn cancel_by(mut self, token: &CancelToken) -> Self {
        self.draft.attached.tokens.push(token.clone());
        self
    }

    /// Lets somebody look at the stream while it runs: `watch` is a `&`[`Monitor`](crate::Monitor), which takes snapshots of it,
    /// a function that is told its [progress](Watch::progress), or one that is called when it [stalls](Watch::stalls). A stream
    /// may have one of each. The last of several of a kind counts.
    ///
    /// ```
    /// use anabranch::{Monitor, Stream, Watch};
    ///
    /// let monitor = Monitor::new();
    /// let (mut running, mut passed) = (0, 0);
    /// Stream::from_iter(0..100)
    ///     .watch(&monitor)
    ///     .watch(Watch::progress(|progress| passed = progress.items))
    ///     .for_each(|n| if n == 50 { running = monitor.snapshots().len() });
    /// assert_eq!((running, passed), (1, 100));
    /// ```
    pub fn watch(mut self, watch: impl Into<Watch<'env>>) -> Self {
        self.draft.attached.watch_by(watch.into());
        self
    }

    /// Measures the run, and puts its [`Report`](crate::Report) into `slot` when it is over. It also does so if the run fails, panics,
    /// or is cancelled. The last of several slots counts. A slot that a branch sets is that of the whole stream.
    ///
    /// ```
    /// use anabranch::{ReportSlot, Stream};
    ///
    /// let slot = ReportSlot::new();
    /// let sum = Stream::from_iter(1..=100u64).workers(2).map(|n| n * n).report_to(&slot).sum::<u64>();
    /// assert_eq!(sum, 338_350);
    /// let report = slot.take().unwrap();
    /// assert_eq!(report.nodes().len(), 3);
    /// println!("{report}");
    /// ```
    pub fn report_to(mut self, slot: &ReportSlot) -> Self {
        // Reports are large. A program that links this library statically has their code only if it asks for one.
        self.draft.attached.finish = Some(finished);
        self.draft.attached.slot = Some(slot.clone());
        self
    }

    /// Records what each thread does at which time, for [`Report::to_trace`](crate::Report::to_trace). It has
    /// an effect only together with [`report_to`](Self::report_to).
    ///
    /// Each thread keeps 2,048 to 16,384 events; with more threads, each keeps fewer. If there are more
    /// events, a thread keeps those of every second stretch of 4 ms, then of every fourth, and so on. So a
    /// long run has complete stretches that are evenly spread.
    ///
    /// Needs the feature `json`.
    ///
    /// ```
    /// use anabranch::{ReportSlot, Stream};
    ///
    /// let slot = ReportSlot::new();
    /// let count = Stream::from_iter(0..100).workers(2).map(|n| n + 1).trace().report_to(&slot).count();
    /// let report = slot.take().unwrap();
    /// assert_eq!(count, 100);
    /// assert!(report.to_trace().starts_with('{'));
    /// ```
    #[cfg(feature = "json")]
    pub fn trace(mut self) -> Self {
        self.draft.attached.traces = true;
        self
    }

    /// The size of the largest item that passes between two nodes, in bytes.
    pub(crate) fn largest_item(&self) -> usize {
        self.draft.outline.plan.largest_item().max(size_of::<T>())
    }
}

/// Adds a text to the report of a stream. `remark` makes it when the stream has ended. For libraries that add stages of their own.
#[doc(hidden)]
pub fn remark<'env, T, M>(stream: &mut Stream<'env, T, M>, remark: impl FnOnce() -> String + Send + 'env)
where
    T: Send,
    M: Mode,
{
    stream.draft.attached.remarks.push(Box::new(remark));
}

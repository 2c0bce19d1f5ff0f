//! Settings: how a stream runs. They do not change the results, except that `with_plan` may give up their order and a token may
//! end the run early.

use std::time::Duration;

use anabranch_plan::{Burst, Executor, Node, Placement, Plan, Role, Schedule, Wait};

use super::{Mode, Reported, Stream};
use crate::control::{CancelToken, Monitor, MonitorThread, PoolShare, Snapshot, Workers};
use crate::engine::progress::Progress;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Sets how many threads work, including the calling thread. The default is
    /// [`default_workers`](crate::default_workers).
    ///
    /// Threads start as there is work for them: a stream of ten items starts a few, whatever the number. If the system
    /// creates no more threads, the stream goes on with those that it has.
    ///
    /// # Panics
    /// If `workers` is 0.
    #[track_caller]
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "a stream needs 1 worker or more, not 0");
        self.draft.outline.plan.settings.workers = workers;
        self.draft.outline.unset.workers = false;
        self
    }

    /// Lets a handle set how many threads work. The handle can change the number while the stream runs.
    pub fn workers_from(mut self, workers: &Workers) -> Self {
        self.draft.attached.handle = Some(workers.clone());
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
    ///     let (post, requests) = Stream::channel(16);
    ///     (post, requests.pool(&pool).map(move |n: u64| factor * n).into_iter())
    /// };
    /// let mut services: Vec<_> = (0..100).map(service).collect();
    /// let (post, results) = &mut services[7];
    /// post.post(6).unwrap();
    /// assert_eq!(results.next(), Some(42));
    /// ```
    ///
    /// A stage that waits for something occupies a thread of the pool meanwhile. If a stream with work has waited 100 ms
    /// because all threads of the pool are occupied, the pool starts one more thread. That thread ends after a second without
    /// work. So streams that wait for each other go on. The [states](Self::map_with) of the workers are dropped when the stream
    /// has nothing to do, and made again when it goes on.
    ///
    /// Other streams have a calling thread of their own besides: those with another source, which may block, and those with a
    /// [`dedicated`](Self::dedicated) stage, a [`monitor`](Self::monitor), a [`watchdog`](Self::watchdog),
    /// [`inline`](Self::inline) or [`spin`](Self::spin), or whose last stage and end were fused by
    /// [passes](Self::passes). So have streams with a borrowed pool, and those in `select_all`.
    /// [`workers_from`](Self::workers_from) has no effect on a stream without a calling thread.
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
        self
    }

    /// Pins each helping thread of the run to one processor, on systems that support it. The calling thread
    /// and the threads of a pool are not pinned.
    pub fn affinity(mut self) -> Self {
        self.draft.outline.plan.settings.pinned = true;
        self
    }

    /// Sets how many items may be between the source and the end at a time. The bound holds however uneven
    /// the work is, and however slow the end is. The default depends on the size of the items: 4,096 items,
    /// or as many as fit into 64 KiB, but at least 16 for each worker. If the source [never waits](Self::never_waits), the
    /// first two numbers are multiplied by 4. Windows by key multiply them by 4 once more. The size does not include memory
    /// that an item owns, so set a window for items that own much memory.
    ///
    /// # Panics
    /// If `window` is 0.
    #[track_caller]
    pub fn window(mut self, window: usize) -> Self {
        assert!(window > 0, "a window is 1 item or more, not 0");
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
    /// [never waits](Self::never_waits) has. By default the number adapts to the cost of the items.
    ///
    /// # Panics
    /// If `burst` is 0.
    #[track_caller]
    pub fn burst(mut self, burst: usize) -> Self {
        assert!(burst > 0, "a burst is 1 item or more, not 0");
        self.draft.outline.plan.settings.burst = Burst::Fixed(burst);
        self
    }

    /// Sets the name of the run, which its plan and its threads have.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        // The name of a thread must not contain a zero.
        self.draft.outline.plan.name = Some(title.into().replace('\0', ""));
        self
    }

    /// Sets the name of the last stage, for plans and reports.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.last_node().name = name.into().into();
        self
    }

    /// Sets the name of the end, for plans and reports.
    ///
    /// ```
    /// let stream = anabranch::Stream::from_iter(0..10).name_end("write");
    /// assert_eq!(stream.plan().nodes.last().unwrap().name, "write");
    /// ```
    pub fn name_end(mut self, name: impl Into<String>) -> Self {
        self.draft.outline.unset.end_name = Some(name.into());
        self
    }

    /// Lets the last stage run for at most `replicas` items at once. If the number of workers is not set, it
    /// is raised to `replicas`, so that stages which sleep overlap.
    ///
    /// # Panics
    /// If `replicas` is 0, or if the last stage is not parallel or has shards.
    #[track_caller]
    pub fn replicate(mut self, replicas: usize) -> Self {
        assert!(replicas > 0, "a stage has 1 replica or more, not 0");
        let last = self.last_node();
        assert!(
            last.role == Role::Parallel,
            "replicate({replicas}) follows `{}`, which is serial: only parallel stages have replicas",
            last.name
        );
        assert!(
            last.schedule == Schedule::OnDemand,
            "replicate({replicas}) follows `{}`, whose replicas are its shards",
            last.name
        );
        last.replicas = Some(replicas);
        self
    }

    /// Gives the last stage a thread of its own, which does not count as a worker. The stage must be the
    /// source or a serial stage. Use it for a stage that blocks.
    ///
    /// With one worker and a source that blocks, give the source such a thread. Otherwise the worker may wait
    /// in the source while the results of a dedicated stage wait for the worker.
    ///
    /// It does not compile behind a parallel stage.
    ///
    /// # Panics
    /// If the last stage is parallel, behind a box.
    #[track_caller]
    pub fn dedicated(mut self) -> Self {
        let last = self.last_node();
        assert!(
            last.role != Role::Parallel,
            "dedicated() follows `{}`, which is parallel: only a source or a serial stage has a thread of its own",
            last.name
        );
        last.placement = Placement::Dedicated;
        self
    }

    /// Changes the plan before it runs. Use it for settings that the stream has no method for, or that a
    /// program computes from the plan.
    ///
    /// `change` gets the whole plan, with its end and with all defaults filled in. It is called each time the
    /// plan is made, for [`plan`](Self::plan) and [`explain`](Self::explain) too. It may change windows,
    /// bursts, replicas, the placement of serial stages, names, costs and settings, and may give up the order
    /// of the items.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let stream = Stream::from_iter(0..100).map(|n| n * n).with_plan(|plan| plan.domains[0].window = 8);
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
    /// is asked for the next one; a source that [never waits](Self::never_waits) is asked for the next block.
    pub fn inline(mut self) -> Self {
        self.draft.outline.plan.settings.executor = Executor::Inline;
        self
    }

    /// Makes one waiting worker poll for work until there is some, instead of parking after some microseconds. The other
    /// waiting workers park. The stream reacts faster, and occupies one processor while it waits. A stage with a thread of its
    /// own ([`dedicated`](Self::dedicated)) parks as without this setting.
    pub fn spin(mut self) -> Self {
        self.draft.outline.plan.settings.wait = Wait::Spin;
        self
    }

    /// Lets a token stop the run from outside.
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.draft.attached.tokens.push(token.clone());
        self
    }

    /// Calls `f` while the stream runs, at most ten times a second, and once at its end.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut last = None;
    /// Stream::from_iter(0..1_000).on_progress(|progress| last = Some(progress.items)).for_each(drop);
    /// assert_eq!(last, Some(1_000));
    /// ```
    pub fn on_progress<F>(mut self, f: F) -> Self
    where
        F: FnMut(Progress) + Send + 'env,
    {
        self.draft.attached.progress = Some(Box::new(f));
        self
    }

    /// Lets a monitor take snapshots of the stream while it runs: how many items each stage has taken, and
    /// how many wait before it.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.draft.attached.watch.get_or_insert_with(MonitorThread::new).ask(monitor.clone());
        self
    }

    /// Calls `f` with a snapshot whenever no node takes an item for the time `after`. The call may come
    /// later, up to twice that time. The snapshot shows which stage hangs. `f` must not ask a [`Monitor`] of
    /// the same stream, because it would wait for its own answer. If `f` panics, the run is cancelled and the
    /// caller gets the panic.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::time::Duration;
    /// use anabranch::Stream;
    ///
    /// let stalls = AtomicU32::new(0);
    /// Stream::from_iter(0..3)
    ///     .watchdog(Duration::from_millis(20), |snapshot| {
    ///         eprintln!("no progress: {snapshot}");
    ///         stalls.fetch_add(1, Ordering::Relaxed);
    ///     })
    ///     .workers(2)
    ///     .for_each(|n| {
    ///         // An item that takes until the stall is seen.
    ///         while n == 1 && stalls.load(Ordering::Relaxed) == 0 {
    ///             std::thread::sleep(Duration::from_millis(1));
    ///         }
    ///     });
    /// assert!(stalls.into_inner() > 0);
    /// ```
    pub fn watchdog<F>(mut self, after: Duration, f: F) -> Self
    where
        F: FnMut(&Snapshot) + Send + 'env,
    {
        self.draft.attached.watch.get_or_insert_with(MonitorThread::new).call(after, Box::new(f));
        self
    }

    /// Makes the end return a [`Report`](crate::Report) together with its result.
    pub fn report(self) -> Stream<'env, T, Reported<M>> {
        let Self { code, errors, mut draft, .. } = self;
        draft.attached.reports = true;
        Stream { code, errors, draft, mode: std::marker::PhantomData }
    }

    /// Records what each thread does at which time, for [`Report::to_trace`](crate::Report::to_trace). It has
    /// an effect only together with [`report`](Self::report).
    ///
    /// Each thread keeps 2,048 to 16,384 events; with more threads, each keeps fewer. If there are more
    /// events, a thread keeps those of every second stretch of 4 ms, then of every fourth, and so on. So a
    /// long run has complete stretches that are evenly spread.
    ///
    /// Needs the feature `json`.
    #[cfg(feature = "json")]
    pub fn trace(mut self) -> Self {
        self.draft.attached.traces = true;
        self
    }

    /// The size of the largest item that passes between two nodes, in bytes.
    pub(crate) fn largest_item(&self) -> usize {
        self.draft.outline.plan.largest_item().max(size_of::<T>())
    }

    /// The stage that was last added.
    pub(crate) fn last_node(&mut self) -> &mut Node {
        self.draft.outline.last()
    }
}

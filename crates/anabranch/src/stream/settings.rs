//! Settings: how a stream runs. None changes what it gives.

use std::time::Duration;

use anabranch_plan::{Burst, Executor, Node, Placement, Plan, Role, Schedule, Wait};

use super::Stream;
use crate::cancel::CancelToken;
use crate::mode::{Mode, Reported};
use crate::monitor::{Monitor, Snapshot};
use crate::pool::Pool;
use crate::progress::Progress;
use crate::unit::Unit;
use crate::workers::Workers;

impl<'env, U: Unit, M: Mode> Stream<'env, U, M> {
    /// Sets how many threads work, the calling one among them. The default is
    /// [`default_workers`](crate::default_workers).
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

    /// Lets a handle say how many threads work, and change it while the stream runs.
    pub fn workers_from(mut self, workers: &Workers) -> Self {
        self.draft.attached.handle = Some(workers.clone());
        self
    }

    /// Takes the helpers of the run from a pool. The default number of workers is then the pool's.
    pub fn pool(mut self, pool: &'env Pool) -> Self {
        self.draft.attached.pool = Some(pool);
        self
    }

    /// Pins the run's own helpers to processors, one each, where the system can. Not the calling thread, whose
    /// affinity is its owner's affair, and not the threads of a pool.
    pub fn affinity(mut self) -> Self {
        self.draft.outline.plan.settings.pinned = true;
        self
    }

    /// Sets how many items may be between source and sink at once, however skewed the work and however slow
    /// the sink. The default depends on the size of the items: 4,096, or fewer if they would take more than
    /// 64 KiB, but 16 a worker. Items that own memory deserve a window of their own.
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

    /// Gives the domains behind the first a window of their own: they are not weighed.
    pub(crate) fn window_behind(mut self, window: usize) -> Self {
        self.draft.outline.unset.window_behind = Some(window);
        self
    }

    /// Sets how many items a worker claims at once. The default adapts to their cost.
    ///
    /// # Panics
    /// If `burst` is 0.
    #[track_caller]
    pub fn burst(mut self, burst: usize) -> Self {
        assert!(burst > 0, "a burst is 1 item or more, not 0");
        self.draft.outline.plan.settings.burst = Burst::Fixed(burst);
        self
    }

    /// Names the run: its plan and its threads.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        // A thread's name has no zeros.
        self.draft.outline.plan.name = Some(title.into().replace('\0', ""));
        self
    }

    /// Names the stage before it, for plans and reports.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.last_node().name = name.into().into();
        self
    }

    /// Names the end, whatever it will be, for plans and reports.
    ///
    /// ```
    /// let stream = anabranch::Stream::from_iter(0..10).name_end("write");
    /// assert_eq!(stream.plan().nodes.last().unwrap().name, "write");
    /// ```
    pub fn name_end(mut self, name: impl Into<String>) -> Self {
        self.draft.outline.unset.end_name = Some(name.into());
        self
    }

    /// Lets the parallel stage before it run at most `replicas` times at once. Where the number of workers is
    /// not set, it is raised to `replicas`: stages that sleep overlap.
    ///
    /// # Panics
    /// If `replicas` is 0, or the stage before it is not parallel or has shards.
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

    /// Gives the source or the serial stage before it a thread of its own, not counted among the workers: for
    /// one that blocks.
    ///
    /// With one worker, give it to the source if that blocks: else the worker may wait in the source while what comes
    /// out of a dedicated stage waits for the worker.
    ///
    /// # Panics
    /// If the stage before it is parallel.
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

    /// Changes the plan before it runs: what the stream's settings cannot say, or what a program has computed.
    ///
    /// `change` sees the whole plan, with its end and with everything filled in that was left open, and is called each time
    /// the plan is made: for [`plan`](Self::plan) and [`explain`](Self::explain) too. It may change windows, bursts,
    /// replicas, the placement of serial stages, names, costs and settings, and give order up.
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
    /// When the plan is made, if it could not run any more, with what [`Plan::check_against`] says.
    pub fn with_plan<F>(mut self, change: F) -> Self
    where
        F: Fn(&mut Plan) + Send + 'env,
    {
        self.draft.attached.changes.push(Box::new(change));
        self
    }

    /// Runs everything on the calling thread, each item from the source to the sink before the next is asked
    /// for: the reference that the threads are held against.
    pub fn inline(mut self) -> Self {
        self.draft.outline.plan.settings.executor = Executor::Inline;
        self
    }

    /// Lets waiting workers spin for ever instead of parking: gives up that idling is free.
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

    /// Lets a monitor look into the stream while it runs: who has taken how many items, and who waits.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.draft.attached.monitor = Some(monitor.clone());
        self
    }

    /// Calls `f` with a snapshot whenever no node has taken an item for `after` (and up to twice that long): a
    /// stage that hangs can then be seen. `f` may not ask a [`Monitor`] of the same stream, which it would wait for. If it
    /// panics, the run is cancelled and the caller gets the panic.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch::Stream;
    ///
    /// let mut stalls = 0;
    /// Stream::from_iter(0..3)
    ///     .watchdog(Duration::from_millis(20), |snapshot| {
    ///         eprintln!("no progress: {snapshot}");
    ///         stalls += 1;
    ///     })
    ///     .workers(2)
    ///     .for_each(|n| if n == 1 { std::thread::sleep(Duration::from_millis(100)) });
    /// assert!(stalls > 0);
    /// ```
    pub fn watchdog<F>(mut self, after: Duration, f: F) -> Self
    where
        F: FnMut(&Snapshot) + Send + 'env,
    {
        self.draft.attached.stall = Some((after, Box::new(f)));
        self
    }

    /// Makes the end give a [`Report`](crate::Report) beside its result.
    pub fn report(self) -> Stream<'env, U, Reported<M>> {
        Stream { tail: self.tail, draft: self.draft, mode: std::marker::PhantomData }
    }

    /// Keeps what each thread did and when, for [`Report::to_trace`](crate::Report::to_trace): has a meaning with
    /// [`report`](Self::report) only.
    ///
    /// Each thread keeps 2,048 to 16,384 events, fewer where there are many threads. When these are used up, events are
    /// kept of every second stretch of 4 ms, then of every fourth, and so on: a long run has stretches that
    /// are whole, evenly spread.
    ///
    /// Needs the feature `json`.
    #[cfg(feature = "json")]
    pub fn trace(mut self) -> Self {
        self.draft.attached.traces = true;
        self
    }

    /// Size of the largest item that passes between two nodes, in bytes.
    pub(crate) fn largest_item(&self) -> usize {
        self.draft.outline.plan.largest_item().max(size_of::<U::Out>())
    }

    /// The stage that was added last.
    pub(super) fn last_node(&mut self) -> &mut Node {
        self.draft.outline.last()
    }
}

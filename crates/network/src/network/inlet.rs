//! The connection between a network and the stream of one of its [stages](super::Network::stage).
//!
//! The threads of such a stream are not processes, so [`Awake`](super::awake::Awake) does not count them one by one. It counts
//! the process that runs the stage, which stands for all of them: the process counts as awake until every thread of the stream
//! waits and none of them would find work. The stage is *quiet* then.
//!
//! Threads of the stream wait at two places. A thread without work waits in [`Feed::wait`]; it looks for work of
//! any thread before the stage becomes quiet, because another thread may have been woken and not run yet. The
//! thread that runs the end of the stream waits in the writer of the stage, and cannot look. If it is the last
//! one to wait, it wakes the others, and these look.
//!
//! Only threads of the network wake a quiet stage: the process that feeds it, the readers of its results, and the
//! thread that called `run`. They count the stage as awake before.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc as StdArc;

use crate::record::{Closed, Sleep};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, lock};
use anabranch_record::{EventCount, WaitKey};

use anabranch::host::{Feed, Pull, Pulled, RunThreads};

use super::{
    contents::{Contents, ViewControl},
    process::Process,
    records::{Closing, RecordInfo, Side, ViewInfo, Wait},
    role::Role,
    sleeper::Sleeper,
    state::NetworkState,
    writer::Writer,
};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NOBODY_LOOKS_FOR_THE_BLOCKED_END: Mutant = Mutant("nobody_looks_for_the_blocked_end");
const QUIET_STAGE_IS_NOT_ROUSED: Mutant = Mutant("quiet_stage_is_not_roused");
const QUIET_WITHOUT_A_LOOK: Mutant = Mutant("quiet_without_a_look");

/// The state that a stage's stream and the network share.
pub(super) struct StageLink {
    network: Arc<NetworkState>,
    /// The items that wait before the stream, as a record: for messages.
    record: Arc<RecordInfo>,
    /// The process that feeds the stage.
    feeder: Arc<Process>,
    /// The process that runs the stage.
    runner: Arc<Process>,
    /// The indices of the record's views.
    views: [usize; 2],
    state: Mutex<InletState>,
    /// How many items wait. Written under the lock of the state.
    waiting: AtomicUsize,
    /// Whether the feeder gives no more items.
    has_ended: AtomicBool,
    /// The workers of the stream wait here.
    event: Arc<EventCount>,
}

#[derive(Default)]
struct InletState {
    /// The run of the stream. `None` before it starts, and after its source is gone.
    run: Option<Arc<dyn RunThreads>>,
    /// Whether the stream takes no more items.
    is_gone: bool,
    /// Whether the feeder waits for room.
    feeder_waits: bool,
    /// How many threads look for work. 0 in a direct line.
    entered: usize,
    /// How many of them wait.
    asleep: usize,
    /// Whether the end of the stream waits in the stage's writer.
    is_blocked: bool,
    /// Whether all threads wait and none would find work. Then the runner is not counted as awake.
    is_quiet: bool,
}

impl InletState {
    /// Whether every thread of the stream waits.
    fn all_sleep(&self) -> bool {
        let Some(run) = &self.run else { return false };
        // Threads that have not begun yet count too.
        let members = if self.entered == 0 { 1 } else { self.entered.max(run.threads()) };
        self.asleep >= members
    }
}

impl StageLink {
    fn state(&self) -> MutexGuard<'_, InletState> {
        lock(&self.state)
    }

    fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.record.horizon()
    }

    /// Counts the stage as awake. To be called by a thread that is awake, before it wakes the stage.
    fn rouse(&self, state: &mut InletState) {
        if std::mem::take(&mut state.is_quiet) {
            if !state.is_blocked {
                self.runner.actor().set_wait(None);
            }
            self.network.rouse();
            self.network.count_rousing();
        }
    }

    /// Makes the stage quiet.
    fn rest(&self, mut state: MutexGuard<'_, InletState>) {
        state.is_quiet = true;
        if !state.is_blocked {
            let [_, view] = self.views;
            let record = Arc::clone(&self.record);
            self.runner.actor().set_wait(Some(Wait { record, view, side: Side::Readers, count: 1 }));
        }
        drop(state);
        self.network.rest();
    }

    /// Counts a thread of the stream as waiting. `any` says whether any of them would find work.
    fn begin_wait(&self, any: &dyn Fn() -> bool) {
        let mut state = self.state();
        state.asleep += 1;
        if state.all_sleep() && !state.is_quiet && (QUIET_WITHOUT_A_LOOK.is_on() || !any()) {
            self.rest(state);
        }
    }

    /// Counts a thread of the stream as not waiting. Returns `false`, and does nothing, if the stage is quiet.
    fn end_wait(&self, any: &dyn Fn() -> bool) -> bool {
        let mut state = self.state();
        if state.is_quiet && !any() {
            return false;
        }
        // If the stage is quiet and there is work, the stream was stopped from outside of the network.
        self.rouse(&mut state);
        state.asleep -= 1;
        true
    }

    fn sleep(&self, event: &EventCount, mut key: WaitKey, any: &dyn Fn() -> bool) {
        self.begin_wait(any);
        event.wait(key);
        while !self.end_wait(any) {
            key = event.prepare();
            if any() || !self.state().is_quiet {
                event.leave();
            } else {
                event.wait(key);
            }
        }
    }

    /// Calls `wait`, which waits on the thread that runs an end of the stream. This thread cannot look for the
    /// work of others.
    fn block<R>(&self, wait: impl FnOnce() -> R) -> R {
        let mut state = self.state();
        state.asleep += 1;
        state.is_blocked = true;
        let others = state.run.clone().filter(|_| state.entered > 1);
        if state.all_sleep() && !state.is_quiet {
            match others {
                None => self.rest(state),
                Some(run) => {
                    drop(state);
                    // One of them looks, and makes the stage quiet.
                    if !NOBODY_LOOKS_FOR_THE_BLOCKED_END.is_on() {
                        run.wake_all();
                    }
                    let _ = run;
                }
            }
        } else {
            drop(state);
        }
        let result = wait();
        let mut state = self.state();
        self.rouse(&mut state);
        state.is_blocked = false;
        state.asleep -= 1;
        result
    }

    /// Notes that the feeder gives no more items.
    fn end(&self) {
        let state = self.state();
        self.has_ended.store(true, Ordering::Release);
        self.call(state);
    }

    /// Makes the threads of the stream that wait for work look for it, after something has come.
    fn call(&self, mut state: MutexGuard<'_, InletState>) {
        // If only the end of the stream waits, nobody looks, so the stage stays quiet.
        if state.asleep > usize::from(state.is_blocked) && !QUIET_STAGE_IS_NOT_ROUSED.is_on() {
            self.rouse(&mut state);
        }
        let run = state.run.clone().filter(|run| run.has_dedicated());
        drop(state);
        match run {
            Some(run) => run.wake_all(),
            None => self.event.notify(),
        }
    }

    /// Notes that the stream takes no more items.
    fn close(&self) {
        for view in lock(&self.record.readers).iter() {
            view.close(Closing::Process(self.runner.index));
        }
        let mut state = self.state();
        state.is_gone = true;
        let wakes = std::mem::take(&mut state.feeder_waits);
        drop(state);
        if wakes {
            self.feeder.wake(&self.network);
        }
    }
}

impl Feed for StageLink {
    fn is_ready(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0 || self.has_ended.load(Ordering::Acquire)
    }

    fn is_enough(&self) -> bool {
        self.is_ready()
    }

    fn event(&self) -> &Arc<EventCount> {
        &self.event
    }

    fn wait(&self, key: WaitKey, _look: &dyn Fn() -> bool, any: &dyn Fn() -> bool) {
        self.sleep(&self.event, key, any);
    }

    fn wait_at(&self, own: &EventCount, key: WaitKey, any: &dyn Fn() -> bool) {
        self.sleep(own, key, any);
    }

    fn may_spin(&self) -> bool {
        // A worker that never waits would never let the stage become quiet.
        false
    }

    fn starts(&self, run: Arc<dyn RunThreads>) {
        self.state().run = Some(run);
    }

    fn enter(&self) {
        self.state().entered += 1;
    }

    fn leave(&self) {
        let mut state = self.state();
        state.entered -= 1;
        // The others may be the last ones now.
        let others = state.run.clone().filter(|_| state.asleep > 0 && state.all_sleep());
        drop(state);
        if let Some(run) = others {
            run.wake_all();
        }
    }
}

/// The items that wait before the stream of a stage.
pub(super) struct Inlet<T> {
    pub(super) link: StdArc<StageLink>,
    items: Mutex<VecDeque<T>>,
}

/// A side of the items that wait, as a view of the network.
pub(super) struct InletView(StdArc<StageLink>, Side);

impl ViewControl for InletView {
    fn close(&self) {
        match self.1 {
            Side::Writers => self.0.end(),
            Side::Readers => self.0.close(),
        }
    }

    fn span_for(&self, n: usize) -> usize {
        self.0.waiting.load(Ordering::Relaxed) + n
    }

    fn grow(&self, _: usize) {}
}

impl StageLink {
    /// The description and the control of the view on `side`, which belongs to its process.
    fn view(self: &StdArc<Self>, side: Side) -> (Arc<ViewInfo>, InletView) {
        let (process, index) = match side {
            Side::Writers => (&self.feeder, self.views[0]),
            Side::Readers => (&self.runner, self.views[1]),
        };
        let info = ViewInfo::new(index, side);
        info.set_owner(Some(process.index));
        lock(&process.views).push(index);
        lock(self.record.views(side)).push(Arc::clone(&info));
        (info, InletView(StdArc::clone(self), side))
    }
}

impl<T: Send> Inlet<T> {
    /// Creates the way from `feeder` into the stream that `runner` runs. At most `capacity` items wait in it.
    pub(super) fn new<E: Send>(
        contents: &Contents<'_, E>,
        feeder: &Arc<Process>,
        runner: &Arc<Process>,
        capacity: usize,
    ) -> StdArc<Self> {
        let mut horizon = super::Horizon::of(capacity).of_stage(&runner.name);
        let record = contents.new_record::<T>(&mut horizon, 0);
        let link = |views| {
            StdArc::new(StageLink {
                network: Arc::clone(&contents.network),
                record: Arc::clone(&record),
                feeder: Arc::clone(feeder),
                runner: Arc::clone(runner),
                views,
                state: Mutex::default(),
                waiting: AtomicUsize::new(0),
                has_ended: AtomicBool::new(false),
                event: Arc::default(),
            })
        };
        let link = contents.add_link(|views| {
            let link = link(views);
            (StdArc::clone(&link), [Side::Writers, Side::Readers].map(|side| link.view(side)))
        });
        StdArc::new(Self { link, items: Mutex::new(VecDeque::new()) })
    }

    /// Gives an item to the stream, as the feeder. Waits for room. Returns `false` if the stream takes no more
    /// items.
    pub(super) fn put(&self, item: T) -> bool {
        let link = &*self.link;
        let wait =
            || Wait { record: Arc::clone(&link.record), view: link.views[0], side: Side::Writers, count: 1 };
        loop {
            let mut state = link.state();
            if state.is_gone {
                drop(state);
                link.feeder.notice(&link.network, &link.record, Side::Readers);
                return false;
            }
            if !link.is_full() {
                lock(&self.items).push_back(item);
                link.waiting.fetch_add(1, Ordering::Release);
                link.call(state);
                return true;
            }
            let (process, network) = (Arc::clone(&link.feeder), Arc::clone(&link.network));
            let sleeper = Sleeper { process, network, wait: wait() };
            sleeper.prepare();
            state.feeder_waits = true;
            drop(state);
            if !sleeper.sleep() {
                link.feeder.notice(&link.network, &link.record, Side::Readers);
                return false;
            }
        }
    }
}

/// The source of a stage's stream.
pub(super) struct Outflow<T>(pub(super) StdArc<Inlet<T>>);

impl<T: Send> Pull for Outflow<T> {
    type Item = T;
    type Error = Infallible;

    fn pull(&mut self) -> Pulled<T, Infallible> {
        let Self(inlet) = self;
        let link = &*inlet.link;
        loop {
            let mut state = link.state();
            let item = lock(&inlet.items).pop_front();
            if let Some(item) = item {
                link.waiting.fetch_sub(1, Ordering::Relaxed);
                let wakes = std::mem::take(&mut state.feeder_waits);
                drop(state);
                if wakes {
                    link.feeder.wake(&link.network);
                }
                return Pulled::Item(item);
            }
            drop(state);
            if link.has_ended.load(Ordering::Acquire) {
                link.runner.notice(&link.network, &link.record, Side::Writers);
                return Pulled::End;
            }
            // Only a direct line asks a source that is not ready.
            let key = link.event.prepare();
            if link.is_ready() {
                link.event.leave();
            } else {
                link.sleep(&link.event, key, &|| link.is_ready());
            }
        }
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T> Drop for Outflow<T> {
    fn drop(&mut self) {
        let Self(inlet) = self;
        inlet.link.close();
        // The run has a reference to the link.
        inlet.link.state().run = None;
        let left = std::mem::take(&mut *lock(&inlet.items));
        drop(left);
    }
}

/// The writer of a stage, for the end of its stream, which may run on any thread of the stream.
pub(super) struct Outlet<T> {
    give: Writer<T>,
    link: StdArc<StageLink>,
}

impl<T: Send> Outlet<T> {
    pub(super) fn new(give: Writer<T>, link: &StdArc<StageLink>) -> Self {
        give.handle.give_to(&link.runner);
        Self { give, link: StdArc::clone(link) }
    }

    /// Writes a result. Waits for room.
    pub(super) fn push(&mut self, item: T) -> Result<(), Closed> {
        let Self { give, link } = self;
        // Results that the stages still give may follow from the end of the network.
        if link.runner.is_over() {
            return Err(Closed);
        }
        let Err(item) = give.try_push(item) else { return Ok(()) };
        // This thread counts as awake by itself while it waits.
        link.network.rouse();
        let pushed = link.block(|| {
            let _role = Role::play(&link.runner, &link.network);
            give.push(item)
        });
        link.network.rouse_nobody();
        pushed
    }
}

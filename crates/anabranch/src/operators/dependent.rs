//! Items that need the results of other items.
//!
//! A first stage, which takes the items in order, gives an item to the second stage once the results are computed that the item
//! needs. The second stage, which runs for several items at once, computes one result a call. A call whose result was the last
//! that other items needed makes these items ready, and the first stage gives them next. A third stage puts the results back
//! into the order of the items. The three stages share a [`Schedule`].
//!
//! No thread ever waits for a result, and each result can go on to the sink before the next one is computed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, Weak};

use anabranch_plan::Node;
use anabranch_record::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, lock};

use super::in_order::{Failure, Finished, InOrder};
use super::ready::Ready;
use crate::engine::{Kept, Later, Pulled, Spread};
use crate::stream::options::ForAll;
use crate::stream::{Admit, Mode, Stream, TryStream};

/// The reason why an item never gets the results that it needs; see [`Stream::map_dependent`](crate::Stream::map_dependent).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmet {
    /// Items wait for each other: each needs the result of the next, and the last that of the first.
    Cycle {
        /// The numbers of the items.
        items: Vec<u64>,
    },
    /// An item needs the result of an item that is too far away.
    OutOfReach {
        /// The number of the item.
        item: u64,
        /// The number of the item whose result it needs.
        needed: u64,
        /// How many items a result may be away.
        reach: usize,
    },
    /// An item needs the result of an item that does not come.
    Missing {
        /// The number of the item.
        item: u64,
        /// The number of the item whose result it needs.
        needed: u64,
        /// How many items the stream has.
        items: u64,
    },
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Cycle { items } if items.len() == 1 => {
                write!(f, "item {} needs its own result", items[0])
            }
            Unmet::Cycle { items } => {
                f.write_str("items need the results of each other: ")?;
                items.iter().try_for_each(|item| write!(f, "{item} needs "))?;
                write!(f, "{}", items.first().copied().unwrap_or_default())
            }
            Unmet::OutOfReach { item, needed, reach } => {
                write!(f, "item {item} waits for item {needed}, which is more than {reach} items away")
            }
            Unmet::Missing { item, needed, items } => {
                write!(f, "item {item} needs the result of item {needed}, but the stream has {items} items")
            }
        }
    }
}

impl std::error::Error for Unmet {}

/// The failure of an item, and of all items that need it.
type Shared<X> = Arc<Mutex<Option<Failure<X>>>>;

/// An item on its way to its result.
pub(crate) struct Task<T, V, X> {
    number: u64,
    /// How many of its needs are not computed, and 1 more until all of them are counted.
    missing: AtomicUsize,
    work: Mutex<Option<Work<T, V, X>>>,
    state: Mutex<TaskState<T, V, X>>,
}

struct Work<T, V, X> {
    item: T,
    needs: Vec<Arc<Task<T, V, X>>>,
}

enum TaskState<T, V, X> {
    /// The result is not computed. These tasks wait for it. The first stage owns them: if the run ends early, nothing else
    /// keeps them.
    Open(Vec<Weak<Task<T, V, X>>>),
    Done(Arc<V>),
    Failed(Shared<X>),
}

impl<T, V, X> Task<T, V, X> {
    fn new(number: u64) -> Self {
        let (work, state) = (Mutex::new(None), Mutex::new(TaskState::Open(Vec::new())));
        Self { number, missing: AtomicUsize::new(1), work, state }
    }

    /// Makes the task wait for `other`, unless that is computed.
    fn wait_for(self: &Arc<Self>, other: &Self) {
        if let TaskState::Open(waiting) = &mut *lock(&other.state) {
            self.missing.fetch_add(1, Ordering::Relaxed);
            waiting.push(Arc::downgrade(self));
        }
    }

    /// Counts that one of the needs is computed, or that all of them are counted. Returns whether nothing is missing.
    fn is_ready(&self) -> bool {
        // The last of several threads sees what the others did before.
        self.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether the result is computed, or will never be.
    fn is_done(&self) -> bool {
        !matches!(*lock(&self.state), TaskState::Open(_))
    }

    /// Computes the result. Returns the tasks that waited for it.
    fn compute(&self, f: &impl Fn(T, &[Arc<V>]) -> Result<V, X>) -> Vec<Weak<Self>> {
        let Some(Work { item, needs }) = lock(&self.work).take() else { return Vec::new() };
        let mut results = Vec::with_capacity(needs.len());
        let mut failed = None;
        for need in needs {
            match &*lock(&need.state) {
                TaskState::Done(result) => results.push(Arc::clone(result)),
                TaskState::Failed(failure) => failed = failed.or_else(|| Some(Arc::clone(failure))),
                TaskState::Open(_) => unreachable!("a task is computed after its needs"),
            }
        }
        let state = match failed {
            Some(failure) => TaskState::Failed(failure),
            None => match catch_unwind(AssertUnwindSafe(|| f(item, &results))) {
                Ok(Ok(result)) => TaskState::Done(Arc::new(result)),
                Ok(Err(error)) => {
                    TaskState::Failed(Arc::new(Mutex::new(Some(Failure::Error(Kept::new(error))))))
                }
                Err(payload) => {
                    TaskState::Failed(Arc::new(Mutex::new(Some(Failure::Panic(Kept::new(payload))))))
                }
            },
        };
        match std::mem::replace(&mut *lock(&self.state), state) {
            TaskState::Open(waiting) => waiting,
            _ => Vec::new(),
        }
    }
}

/// A chain of tasks may be as long as the stream, so the needs of a task that was never computed are dropped in a loop and not
/// each by the drop of the one before.
impl<T, V, X> Drop for Task<T, V, X> {
    fn drop(&mut self) {
        let needs = |work: &mut Mutex<Option<Work<T, V, X>>>| {
            let work = work.get_mut().unwrap_or_else(PoisonError::into_inner);
            work.as_mut().map(|work| std::mem::take(&mut work.needs)).unwrap_or_default()
        };
        let mut open = needs(&mut self.work);
        while let Some(task) = open.pop() {
            if let Some(mut last) = Arc::into_inner(task) {
                open.append(&mut needs(&mut last.work));
            }
        }
    }
}

/// The state that the three stages share.
pub(crate) struct Schedule<T, V, X> {
    /// The tasks that other tasks have made ready.
    ready: Ready<Arc<Task<T, V, X>>>,
    /// How many tasks wait for results, or are in `ready`. All of their needs have come.
    waiting: AtomicUsize,
    /// How many items have come.
    came: AtomicU64,
    /// How many results have left in the order of the items.
    left: AtomicU64,
    /// How far away an item may be that another one needs.
    reach: u64,
}

impl<T, V, X> Schedule<T, V, X> {
    pub(crate) fn new(reach: usize) -> Arc<Self> {
        let (waiting, zero) = (AtomicUsize::new(0), || AtomicU64::new(0));
        Arc::new(Self { ready: Ready::new(), waiting, came: zero(), left: zero(), reach: reach as u64 })
    }

    /// Computes the result of a task, and makes the tasks ready that have waited for no other. Returns the task.
    pub(crate) fn call(
        &self,
        task: Arc<Task<T, V, X>>,
        f: &impl Fn(T, &[Arc<V>]) -> Result<V, X>,
    ) -> Arc<Task<T, V, X>> {
        let waited = task.compute(f);
        let ready: Vec<_> =
            waited.iter().filter_map(Weak::upgrade).filter(|waiting| waiting.is_ready()).collect();
        if !ready.is_empty() {
            self.ready.extend(ready);
        }
        task
    }

    fn take(&self) -> Option<Arc<Task<T, V, X>>> {
        let task = self.ready.take()?;
        self.waiting.fetch_sub(1, Ordering::Release);
        Some(task)
    }
}

impl<T: Send, V: Send + Sync, X: Send> Later for Schedule<T, V, X> {
    fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    fn has_room(&self, window: u64) -> bool {
        // The results are counted first: each of them is one of the items that are counted then, also for a thread that only
        // looks while others count.
        let left = self.left.load(Ordering::Acquire);
        let under_way = self.came.load(Ordering::Relaxed) - left;
        // All that the next result waits for comes within its reach.
        under_way < self.reach.saturating_add(window)
    }
}

/// An item that needs items which have not come, directly or not.
struct Pending<T, V, X> {
    item: T,
    /// The numbers of its needs.
    needs: Vec<u64>,
    /// How many of them have not come or are pending.
    unsettled: usize,
    task: Arc<Task<T, V, X>>,
}

/// An item that has come.
struct Known<T, V, X> {
    task: Arc<Task<T, V, X>>,
    /// Whether all that it needs has come, directly or not.
    is_settled: bool,
    /// The pending items that need it.
    waiting: Vec<u64>,
}

/// A spreading stage that gives each item once the results are computed that it needs.
pub(crate) struct Issue<T, V, X, N> {
    needs: N,
    reach: usize,
    /// The number of the next item.
    next: u64,
    /// The last items that have come: those that a pending item may need, and those without a result.
    known: VecDeque<Known<T, V, X>>,
    pending: BTreeMap<u64, Pending<T, V, X>>,
    /// For items that have not come: those that need them.
    awaited: BTreeMap<u64, Vec<u64>>,
    /// The tasks that were ready when all of their needs had come.
    ready: VecDeque<Arc<Task<T, V, X>>>,
    schedule: Arc<Schedule<T, V, X>>,
}

impl<T, V, X: From<Unmet>, N> Issue<T, V, X, N> {
    pub(crate) fn new(reach: usize, needs: N, schedule: Arc<Schedule<T, V, X>>) -> Self {
        Self {
            needs,
            reach,
            next: 0,
            known: VecDeque::new(),
            pending: BTreeMap::new(),
            awaited: BTreeMap::new(),
            ready: VecDeque::new(),
            schedule,
        }
    }

    /// The place of an item in the list of those that are known.
    fn place(&self, number: u64) -> Option<usize> {
        let from_last = usize::try_from(self.next.checked_sub(number + 1)?).ok()?;
        self.known.len().checked_sub(from_last + 1)
    }

    fn known(&mut self, number: u64) -> Option<&mut Known<T, V, X>> {
        self.place(number).and_then(|at| self.known.get_mut(at))
    }

    fn come(&mut self, item: T, needs: Vec<u64>) {
        let (number, reach) = (self.next, self.reach as u64);
        self.next += 1;
        self.schedule.came.store(self.next, Ordering::Relaxed);
        let task = Arc::new(Task::new(number));
        let waiting = self.awaited.remove(&number).unwrap_or_default();
        let is_needed = !waiting.is_empty();
        self.known.push_back(Known { task: Arc::clone(&task), is_settled: false, waiting });
        let mut unmet = None;
        let mut unsettled = 0;
        for &needed in &needs {
            if needed == number {
                unmet = unmet.or(Some(Unmet::Cycle { items: vec![number] }));
            } else if needed.abs_diff(number) > reach {
                unmet = unmet.or(Some(Unmet::OutOfReach { item: number, needed, reach: self.reach }));
            } else if needed > number {
                self.awaited.entry(needed).or_default().push(number);
                unsettled += 1;
            } else if let Some(known) = self.known(needed)
                && !known.is_settled
            {
                known.waiting.push(number);
                unsettled += 1;
            }
        }
        self.pending.insert(number, Pending { item, needs, unsettled, task });
        if let Some(unmet) = unmet {
            self.fail(&[number], unmet);
        } else if unsettled == 0 {
            self.settle(number);
        } else if is_needed && let Some(items) = self.cycle(number) {
            self.fail(&items.clone(), Unmet::Cycle { items });
        }
        // The items that an item waits for come within its reach.
        if let Some(&first) = self.pending.keys().next()
            && self.next > first.saturating_add(reach)
        {
            let (item, needed) = self.last_need(first);
            let needed = needed.unwrap_or(item);
            self.fail(&[first], Unmet::OutOfReach { item: first, needed, reach: self.reach });
        }
        let most = self.reach.saturating_mul(2).saturating_add(1);
        while self.known.len() > most && self.known.front().is_some_and(|known| known.task.is_done()) {
            self.known.pop_front();
        }
    }

    /// Gives an item all of whose needs have come, or lets it wait for their results. Then does the same with the items that
    /// waited for it to come so far.
    fn settle(&mut self, number: u64) {
        let mut settled = VecDeque::from([number]);
        while let Some(number) = settled.pop_front() {
            let Some(Pending { item, needs, task, .. }) = self.pending.remove(&number) else { continue };
            let tasks =
                needs.iter().filter_map(|&need| self.known(need).map(|known| Arc::clone(&known.task)));
            let needs: Vec<_> = tasks.collect();
            let mut work = lock(&task.work);
            let work = work.insert(Work { item, needs });
            // It counts as waiting before another thread can make it ready.
            self.schedule.waiting.fetch_add(1, Ordering::Relaxed);
            work.needs.iter().for_each(|need| task.wait_for(need));
            if task.is_ready() {
                self.schedule.waiting.fetch_sub(1, Ordering::Relaxed);
                self.ready.push_back(Arc::clone(&task));
            }
            settled.extend(self.pass(number));
        }
    }

    /// Notes that all that an item needs has come. Returns the items that waited only for it.
    fn pass(&mut self, number: u64) -> Vec<u64> {
        let Some(known) = self.known(number) else { return Vec::new() };
        known.is_settled = true;
        let waiting = std::mem::take(&mut known.waiting);
        let mut settled = Vec::new();
        for other in waiting {
            if let Some(pending) = self.pending.get_mut(&other) {
                pending.unsettled -= 1;
                if pending.unsettled == 0 {
                    settled.push(other);
                }
            }
        }
        settled
    }

    /// Gives items that never get what they need, as failed ones.
    fn fail(&mut self, items: &[u64], unmet: Unmet) {
        let failure = Arc::new(Mutex::new(Some(Failure::Error(Kept::new(unmet.into())))));
        for &number in items {
            if let Some(Pending { task, .. }) = self.pending.remove(&number) {
                *lock(&task.state) = TaskState::Failed(Arc::clone(&failure));
                self.ready.push_back(task);
            }
        }
        for &number in items {
            self.pass(number).into_iter().for_each(|settled| self.settle(settled));
        }
    }

    /// The items of a cycle to which `number` belongs, each before one that it needs, beginning with the least.
    ///
    /// The items that it needs and those that need it are searched in turn. If either search ends, there is no cycle, so the time
    /// is at most twice that of the shorter one.
    fn cycle(&self, number: u64) -> Option<Vec<u64>> {
        let mut path = vec![(number, 0)];
        let mut seen = BTreeSet::from([number]);
        let (mut dependents, mut seen_behind) = (vec![number], BTreeSet::new());
        while let Some((at, next)) = path.last_mut() {
            if let Some(dependent) = dependents.pop() {
                let waiting = self.place(dependent).map_or(&[][..], |place| &self.known[place].waiting);
                dependents.extend(waiting.iter().filter(|&&other| seen_behind.insert(other)));
                if dependents.is_empty() && !seen_behind.contains(&number) {
                    return None;
                }
            }
            let Some(&need) = self.pending.get(at).and_then(|pending| pending.needs.get(*next)) else {
                path.pop();
                continue;
            };
            *next += 1;
            if need == number {
                let mut items: Vec<u64> = path.into_iter().map(|(item, _)| item).collect();
                let least = items.iter().enumerate().min_by_key(|(_, item)| **item).map_or(0, |(at, _)| at);
                items.rotate_left(least);
                return Some(items);
            }
            if self.pending.contains_key(&need) && seen.insert(need) {
                path.push((need, 0));
            }
        }
        None
    }

    /// Follows what `item` waits for, to an item that waits for one that has not come: the two numbers.
    fn last_need(&self, item: u64) -> (u64, Option<u64>) {
        let mut at = item;
        // There are no cycles, so each step leads to another item.
        loop {
            let waits = self.pending.get(&at).into_iter().flat_map(|pending| &pending.needs);
            let mut open = waits.filter(|need| **need >= self.next || self.pending.contains_key(need));
            match open.next() {
                Some(&need) if need >= self.next => return (at, Some(need)),
                Some(&need) => at = need,
                None => return (at, None),
            }
        }
    }
}

impl<T, V, X, N, I, E> Spread<T, E> for Issue<T, V, X, N>
where
    T: Send,
    V: Send + Sync,
    X: From<Unmet> + Send,
    N: FnMut(u64, &T) -> I + Send,
    I: IntoIterator<Item = u64>,
{
    type Out = Arc<Task<T, V, X>>;

    fn open(&mut self, item: T) {
        let needs = (self.needs)(self.next, &item).into_iter().collect();
        self.come(item, needs);
    }

    #[inline]
    fn next(&mut self) -> Pulled<Self::Out, E> {
        self.schedule.take().or_else(|| self.ready.pop_front()).map_or(Pulled::End, Pulled::Item)
    }

    fn end(&mut self) -> bool {
        while let Some(&first) = self.pending.keys().next() {
            let (item, needed) = self.last_need(first);
            let needed = needed.unwrap_or(item);
            self.fail(&[first], Unmet::Missing { item, needed, items: self.next });
        }
        true
    }

    fn later<'s>(&self) -> Option<Arc<dyn Later + 's>>
    where
        Self: 's,
    {
        Some(self.schedule.clone())
    }
}

impl<T, V, X> Finished for Arc<Task<T, V, X>>
where
    T: Send,
    V: Send + Sync,
    X: Send,
{
    type Value = Arc<V>;
    type Error = X;

    fn number(&self) -> u64 {
        self.number
    }

    fn result(self) -> Result<Option<Arc<V>>, Failure<X>> {
        match &*lock(&self.state) {
            TaskState::Done(result) => Ok(Some(Arc::clone(result))),
            TaskState::Failed(failure) => {
                Err(lock(failure).take().expect("the stream ends with the first failure"))
            }
            TaskState::Open(_) => unreachable!("a task that has come is computed"),
        }
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Turns each item into another with the results of other items, which may be earlier or later in the stream: the frames
    /// of a video that refer to other frames, for example.
    ///
    /// `needs` is called with the number of an item, beginning at 0, and the item. It returns the numbers of the items whose
    /// results the item needs; it runs for one item at a time, in order. `f` is called with the item and these results, in
    /// the same order, for several items at once. A worker never waits for a result: it goes on with other items. An item runs
    /// once the last result that it needs is there. The results come out in the order of the items, in `Arc`s, because other
    /// items may still need them.
    ///
    /// An item may need items that are at most `reach` before or behind it. If these need later items in turn, and so on, all
    /// of them must be at most `reach` behind the first. At most `reach` items more than one [`window`](Self::window) have come
    /// and are not behind the stage: they wait, or run, or are done behind one that is not. The items before the stage and
    /// the results behind it have a window each beside that. The stage also keeps up to 2 times `reach` results that later
    /// items may need.
    ///
    /// # Errors
    /// The stream fails with [`Unmet`] at the first item that never gets what it needs: because items wait for each other
    /// in a cycle, because an item is out of reach, or because the stream ends before it. In a stream with another error,
    /// use [`try_map_dependent`](Self::try_map_dependent).
    ///
    /// ```
    /// use anabranch::{Stream, Unmet};
    ///
    /// // Frames: each second one lies between its neighbours.
    /// let frames = [10, 0, 20, 0, 40];
    /// let between = |number: u64, _: &u32| match number % 2 {
    ///     0 => vec![],
    ///     _ => vec![number - 1, number + 1],
    /// };
    /// let decoded = Stream::from_iter(frames).map_dependent(2, between, |frame, others| match others {
    ///     [before, behind] => (**before + **behind) / 2,
    ///     _ => frame,
    /// });
    /// assert_eq!(decoded.map(|frame| *frame).collect::<Vec<_>>(), Ok(vec![10, 15, 20, 30, 40]));
    ///
    /// // Items 1 and 2 wait for each other.
    /// let needs = |number: u64, _: &u32| (number == 1 || number == 2).then_some(3 - number);
    /// let stuck = Stream::from_iter(frames).map_dependent(2, needs, |frame, _| frame);
    /// assert_eq!(stuck.count(), Err(Unmet::Cycle { items: vec![1, 2] }));
    /// ```
    #[doc(alias = "defer")]
    #[track_caller]
    pub fn map_dependent<V, N, I, F, X>(self, reach: usize, needs: N, f: F) -> TryStream<'env, Arc<V>, X>
    where
        O: ForAll,
        M: Admit<Unmet, Failure = X>,
        X: Send + 'env,
        V: Send + Sync + 'env,
        N: FnMut(u64, &T) -> I + Send + 'env,
        I: IntoIterator<Item = u64>,
        F: Fn(T, &[Arc<V>]) -> V + Send + Sync + 'env,
    {
        self.try_map_dependent(reach, needs, move |item, needed: &[Arc<V>]| Ok::<V, Unmet>(f(item, needed)))
    }

    /// Like [`map_dependent`](Self::map_dependent), with a function that may fail. The stream ends with the failure of the first
    /// item that fails or that needs, directly or not, an item that fails.
    ///
    /// ```
    /// use anabranch::{Stream, Unmet};
    ///
    /// #[derive(Debug, PartialEq)]
    /// enum Trouble {
    ///     Broken(u32),
    ///     Unmet(Unmet),
    /// }
    ///
    /// impl From<Unmet> for Trouble {
    ///     fn from(unmet: Unmet) -> Self {
    ///         Trouble::Unmet(unmet)
    ///     }
    /// }
    ///
    /// let decode = |frame, _: &[_]| if frame == 7 { Err(Trouble::Broken(frame)) } else { Ok(frame) };
    /// let frames = Stream::from_iter([1, 7, 2]).try_map_dependent(1, |number, _| number.checked_sub(1), decode);
    /// assert_eq!(frames.count(), Err(Trouble::Broken(7)));
    /// ```
    #[track_caller]
    pub fn try_map_dependent<V, E, N, I, F>(
        self,
        reach: usize,
        needs: N,
        f: F,
    ) -> TryStream<'env, Arc<V>, M::Failure>
    where
        O: ForAll,
        M: Admit<E, Failure: 'env>,
        E: From<Unmet> + Send + 'env,
        V: Send + Sync + 'env,
        N: FnMut(u64, &T) -> I + Send + 'env,
        I: IntoIterator<Item = u64>,
        F: Fn(T, &[Arc<V>]) -> Result<V, E> + Send + Sync + 'env,
    {
        self.draft.outline.assert_may_renumber("map_dependent");
        let schedule = Schedule::new(reach);
        let issue = Issue::new(reach, needs, Arc::clone(&schedule));
        let left = Arc::clone(&schedule);
        let in_order = InOrder::new(false, move |results| left.left.store(results, Ordering::Release));
        let issued = self.admit::<E>().spreading(Node::serial("issue"), issue);
        let call = move |task| Some(schedule.call(task, &f));
        let computed = issued.each(Node::parallel("map_dependent"), call);
        computed.spreading(Node::serial("in_order").fallible(), in_order)
    }
}

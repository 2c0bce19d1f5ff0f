//! Items that need the results of other items.
//!
//! A first stage, which takes the items in order, issues each item behind all that it needs. A second stage, which runs for
//! several items at once, computes the results. An item whose needs are not all computed yet is left behind: the worker goes
//! on with other items, and the worker that computes the last of the needs computes the item too. A third stage puts the
//! results back into the order of the items.
//!
//! No thread ever waits for a result. When the third stage takes an item, its result is there: everything that it needs was
//! issued before it, so the call that computed its result has returned.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::pull::Pulled;
use crate::serial::Spread;

/// Why an item never gets the results that it needs; see [`Stream::map_needing`](crate::Stream::map_needing).
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

/// Why an item has no result.
enum Failure<X> {
    Panic(Box<dyn Any + Send>),
    Error(X),
    Unmet(Unmet),
}

/// The failure of an item, and of all items that need it.
type Shared<X> = Arc<Mutex<Option<Failure<X>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An item on its way to its result.
pub(crate) struct Task<T, V, X> {
    number: u64,
    /// How many of its needs are not computed, and 1 more until its own call.
    missing: AtomicUsize,
    work: Mutex<Option<Work<T, V, X>>>,
    state: Mutex<State<T, V, X>>,
}

struct Work<T, V, X> {
    item: T,
    needs: Vec<Arc<Task<T, V, X>>>,
}

enum State<T, V, X> {
    /// The result is not computed. These tasks wait for it. What has them is the stream: if the run ends early, nothing
    /// else keeps them.
    Open(Vec<Weak<Task<T, V, X>>>),
    Done(Arc<V>),
    Failed(Shared<X>),
}

impl<T, V, X> Task<T, V, X> {
    fn new(number: u64) -> Self {
        let (work, state) = (Mutex::new(None), Mutex::new(State::Open(Vec::new())));
        Self { number, missing: AtomicUsize::new(1), work, state }
    }

    /// Makes the task wait for `other`, unless that is computed.
    fn wait_for(self: &Arc<Self>, other: &Self) {
        if let State::Open(waiting) = &mut *lock(&other.state) {
            self.missing.fetch_add(1, Ordering::Relaxed);
            waiting.push(Arc::downgrade(self));
        }
    }

    /// Counts that one of the needs is computed, or that the task's own call has come. Returns whether nothing is missing.
    fn is_ready(&self) -> bool {
        // The last of several threads sees what the others did before.
        self.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Computes the result. Returns the tasks that waited for it.
    fn compute(&self, f: &impl Fn(T, &[Arc<V>]) -> Result<V, X>) -> Vec<Weak<Self>> {
        let Some(Work { item, needs }) = lock(&self.work).take() else { return Vec::new() };
        let mut results = Vec::with_capacity(needs.len());
        let mut failed = None;
        for need in needs {
            match &*lock(&need.state) {
                State::Done(result) => results.push(Arc::clone(result)),
                State::Failed(failure) => failed = failed.or_else(|| Some(Arc::clone(failure))),
                State::Open(_) => unreachable!("a task is computed after its needs"),
            }
        }
        let state = match failed {
            Some(failure) => State::Failed(failure),
            None => match catch_unwind(AssertUnwindSafe(|| f(item, &results))) {
                Ok(Ok(result)) => State::Done(Arc::new(result)),
                Ok(Err(error)) => State::Failed(Arc::new(Mutex::new(Some(Failure::Error(error))))),
                Err(payload) => State::Failed(Arc::new(Mutex::new(Some(Failure::Panic(payload))))),
            },
        };
        match std::mem::replace(&mut *lock(&self.state), state) {
            State::Open(waiting) => waiting,
            _ => Vec::new(),
        }
    }
}

/// The call for a task: computes its result if everything that it needs is computed, and then the results of those that
/// waited for it. Returns the task.
pub(crate) fn call<T, V, X>(
    task: Arc<Task<T, V, X>>,
    f: &impl Fn(T, &[Arc<V>]) -> Result<V, X>,
) -> Arc<Task<T, V, X>> {
    {
        let work = lock(&task.work);
        for need in work.iter().flat_map(|work| &work.needs) {
            task.wait_for(need);
        }
    }
    let mut ready = VecDeque::new();
    if task.is_ready() {
        ready.push_back(Arc::clone(&task));
    }
    while let Some(next) = ready.pop_front() {
        let waiting = next.compute(f);
        ready.extend(waiting.iter().filter_map(Weak::upgrade).filter(|task| task.is_ready()));
    }
    task
}

/// An item that is not issued yet.
struct Pending<T, V, X> {
    item: T,
    /// The numbers of its needs.
    needs: Vec<u64>,
    /// How many of them are not issued.
    unissued: usize,
    task: Arc<Task<T, V, X>>,
}

/// An item that has come.
struct Known<T, V, X> {
    task: Arc<Task<T, V, X>>,
    is_issued: bool,
    /// The items that are not issued before it is.
    waiting: Vec<u64>,
}

/// A spreading stage that issues each item behind all that it needs.
pub(crate) struct Issue<T, V, X, N> {
    needs: N,
    reach: usize,
    /// The number of the next item.
    next: u64,
    /// The last items that have come: those that an item which is not issued may need.
    known: VecDeque<Known<T, V, X>>,
    pending: BTreeMap<u64, Pending<T, V, X>>,
    /// For items that have not come: those that need them.
    awaited: BTreeMap<u64, Vec<u64>>,
    issued: VecDeque<Arc<Task<T, V, X>>>,
}

impl<T, V, X, N> Issue<T, V, X, N> {
    pub(crate) fn new(reach: usize, needs: N) -> Self {
        Self {
            needs,
            reach,
            next: 0,
            known: VecDeque::new(),
            pending: BTreeMap::new(),
            awaited: BTreeMap::new(),
            issued: VecDeque::new(),
        }
    }

    fn known(&mut self, number: u64) -> Option<&mut Known<T, V, X>> {
        let from_last = usize::try_from(self.next.checked_sub(number + 1)?).ok()?;
        let at = self.known.len().checked_sub(from_last + 1)?;
        self.known.get_mut(at)
    }

    fn come(&mut self, item: T, needs: Vec<u64>) {
        let (number, reach) = (self.next, self.reach as u64);
        self.next += 1;
        let task = Arc::new(Task::new(number));
        let waiting = self.awaited.remove(&number).unwrap_or_default();
        self.known.push_back(Known { task: Arc::clone(&task), is_issued: false, waiting });
        let mut unmet = None;
        let mut unissued = 0;
        for &needed in &needs {
            if needed == number {
                unmet = unmet.or(Some(Unmet::Cycle { items: vec![number] }));
            } else if needed.abs_diff(number) > reach {
                unmet = unmet.or(Some(Unmet::OutOfReach { item: number, needed, reach: self.reach }));
            } else if needed > number {
                self.awaited.entry(needed).or_default().push(number);
                unissued += 1;
            } else if let Some(known) = self.known(needed)
                && !known.is_issued
            {
                known.waiting.push(number);
                unissued += 1;
            }
        }
        self.pending.insert(number, Pending { item, needs, unissued, task });
        if let Some(unmet) = unmet {
            self.fail(&[number], unmet);
        } else if unissued == 0 {
            self.issue(number);
        } else if let Some(items) = self.cycle(number) {
            self.fail(&items.clone(), Unmet::Cycle { items });
        }
        // What an item waits for comes within its reach.
        if let Some(&first) = self.pending.keys().next()
            && self.next > first.saturating_add(reach)
        {
            let (item, needed) = self.last_need(first);
            let needed = needed.unwrap_or(item);
            self.fail(&[first], Unmet::OutOfReach { item: first, needed, reach: self.reach });
        }
        while self.known.len() > self.reach.saturating_mul(2).saturating_add(1) {
            self.known.pop_front();
        }
    }

    /// Issues an item all of whose needs are issued, and those that waited for it.
    fn issue(&mut self, number: u64) {
        let mut ready = VecDeque::from([number]);
        while let Some(number) = ready.pop_front() {
            let Some(Pending { item, needs, task, .. }) = self.pending.remove(&number) else { continue };
            let tasks =
                needs.iter().filter_map(|&need| self.known(need).map(|known| Arc::clone(&known.task)));
            *lock(&task.work) = Some(Work { item, needs: tasks.collect() });
            self.issued.push_back(task);
            ready.extend(self.pass(number));
        }
    }

    /// Notes that an item is issued. Returns those that waited only for it.
    fn pass(&mut self, number: u64) -> Vec<u64> {
        let Some(known) = self.known(number) else { return Vec::new() };
        known.is_issued = true;
        let waiting = std::mem::take(&mut known.waiting);
        let mut ready = Vec::new();
        for other in waiting {
            if let Some(pending) = self.pending.get_mut(&other) {
                pending.unissued -= 1;
                if pending.unissued == 0 {
                    ready.push(other);
                }
            }
        }
        ready
    }

    /// Issues items that never get what they need, as failed ones.
    fn fail(&mut self, items: &[u64], unmet: Unmet) {
        let failure = Arc::new(Mutex::new(Some(Failure::Unmet(unmet))));
        for &number in items {
            if let Some(Pending { task, .. }) = self.pending.remove(&number) {
                *lock(&task.state) = State::Failed(Arc::clone(&failure));
                self.issued.push_back(task);
            }
        }
        for &number in items {
            self.pass(number).into_iter().for_each(|ready| self.issue(ready));
        }
    }

    /// The items of a cycle to which `number` belongs, each before one that it needs, beginning with the least.
    fn cycle(&self, number: u64) -> Option<Vec<u64>> {
        let mut path = vec![(number, 0)];
        let mut seen = BTreeSet::from([number]);
        while let Some((at, next)) = path.last_mut() {
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
    X: Send,
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
        self.issued.pop_front().map_or(Pulled::End, Pulled::Item)
    }

    fn end(&mut self) -> bool {
        while let Some(&first) = self.pending.keys().next() {
            let (item, needed) = self.last_need(first);
            let needed = needed.unwrap_or(item);
            self.fail(&[first], Unmet::Missing { item, needed, items: self.next });
        }
        true
    }
}

/// A spreading stage that puts the results into the order of the items.
pub(crate) struct InOrder<T, V, X> {
    /// The number of the next result.
    next: u64,
    /// The tasks that have come, from the next result on.
    came: BTreeMap<u64, Arc<Task<T, V, X>>>,
    types: PhantomData<fn(T) -> Result<V, X>>,
}

impl<T, V, X> InOrder<T, V, X> {
    pub(crate) fn new() -> Self {
        Self { next: 0, came: BTreeMap::new(), types: PhantomData }
    }
}

impl<T, V, X, E> Spread<Arc<Task<T, V, X>>, E> for InOrder<T, V, X>
where
    T: Send,
    V: Send + Sync,
    X: Send + From<Unmet>,
    E: From<X>,
{
    type Out = Arc<V>;

    fn open(&mut self, task: Arc<Task<T, V, X>>) {
        self.came.insert(task.number, task);
    }

    fn next(&mut self) -> Pulled<Arc<V>, E> {
        let Some(task) = self.came.remove(&self.next) else { return Pulled::End };
        self.next += 1;
        let failure = match &*lock(&task.state) {
            State::Done(result) => return Pulled::Item(Arc::clone(result)),
            State::Failed(failure) => lock(failure).take(),
            State::Open(_) => unreachable!("a task that has come is computed"),
        };
        match failure {
            Some(Failure::Panic(payload)) => resume_unwind(payload),
            Some(Failure::Error(error)) => Pulled::Fail(error.into()),
            Some(Failure::Unmet(unmet)) => Pulled::Fail(X::from(unmet).into()),
            None => unreachable!("the stream ends with the first failure"),
        }
    }
}

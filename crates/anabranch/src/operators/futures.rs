//! Futures as a stage: the workers of the stream poll them.
//!
//! A first stage, which takes the items in order, gives an item to the second stage when it comes, and again each time its
//! future has woken. The second stage, which runs for several items at once, polls the future. A third stage puts the results
//! back into the order of the items. The three stages share a [`Wakes`]: the futures that have woken, and how many items
//! are under way.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use anabranch_plan::Node;
use anabranch_record::EventCount;
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{
    self, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, Padded, fence, lock,
};

use super::in_order::{Failure, Finished, InOrder};
use super::ready::Ready;
use crate::control::Runtime;
use crate::engine::{Kept, Later, Pulled, Run, Spread};
use crate::stream::options::ForAll;
use crate::stream::{Admit, Mode, Stream, TryStream};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_NOTICE_OF_A_WAKE: Mutant = Mutant("no_notice_of_a_wake");
const WAKE_WHILE_POLLED_IS_LOST: Mutant = Mutant("wake_while_polled_is_lost");

/// The futures of a stage that have woken, and the numbers of its items. Wakers keep it, also after the run.
#[derive(Debug)]
struct Wakes {
    /// The event at which the workers of the run wait.
    event: OnceLock<sync::Arc<EventCount>>,
    /// How many items may be under way at once. Without a number, the window bounds them.
    most: Option<u64>,
    /// The number of the first item that is known to have failed, or `u64::MAX`. No later item is begun or polled.
    failed: AtomicU64,
    /// The numbers of the futures that have woken and are not polled yet.
    woken: Padded<Ready<u64>>,
    /// How many items have come. The first stage writes it.
    came: Padded<AtomicU64>,
    /// How many of them have a result. The second stage writes it.
    landed: Padded<AtomicU64>,
    /// How many results have left. The third stage writes it.
    left: Padded<AtomicU64>,
}

impl Wakes {
    fn new(most: usize) -> Arc<Self> {
        let zero = || Padded::new(AtomicU64::new(0));
        Arc::new(Self {
            event: OnceLock::new(),
            most: (most < usize::MAX).then_some(most as u64),
            failed: AtomicU64::new(u64::MAX),
            woken: Padded::new(Ready::new()),
            came: zero(),
            landed: zero(),
            left: zero(),
        })
    }

    fn push(&self, number: u64) {
        self.woken.extend([number]);
        if let Some(event) = self.event.get()
            && !NO_NOTICE_OF_A_WAKE.is_on()
        {
            event.notify();
        }
    }

    /// How many items have come and have no result yet.
    fn under_way(&self) -> u64 {
        // In this order, since every item that has landed had come before.
        let landed = self.landed.load(Ordering::Acquire);
        self.came.load(Ordering::Acquire) - landed
    }
}

impl Later for Wakes {
    fn is_ready(&self) -> bool {
        !self.woken.is_empty()
    }

    fn is_waiting(&self) -> bool {
        self.under_way() > 0
    }

    fn has_room(&self, window: u64) -> bool {
        // The results are counted first, as in `under_way`.
        let left = self.left.load(Ordering::Acquire);
        let in_stage = self.came.load(Ordering::Acquire) - left;
        self.under_way() < self.most.unwrap_or(window)
            && in_stage < self.most.map_or(window, |most| most.saturating_add(window))
            && self.failed.load(Ordering::Relaxed) == u64::MAX
    }
}

/// Its future is not to be polled until it wakes.
const ASLEEP: usize = 0;
/// Its number waits in [`Wakes::woken`], or the item has just come.
const WOKEN: usize = 1;
/// A worker polls it.
const POLLED: usize = 2;
/// It has woken while a worker polled it.
const WOKEN_WHILE_POLLED: usize = 3;

/// The waker of a future.
#[derive(Debug)]
struct Alarm {
    /// The number of the item.
    number: AtomicU64,
    state: AtomicUsize,
    wakes: Arc<Wakes>,
}

impl Alarm {
    /// Notes that a worker polls the future.
    fn begin_poll(&self) {
        self.state.store(POLLED, Ordering::Relaxed);
    }

    /// Notes that the future is pending. If it has woken meanwhile, it is to be polled again.
    fn end_poll(&self) {
        let asleep = self.state.compare_exchange(POLLED, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if !asleep && !WAKE_WHILE_POLLED_IS_LOST.is_on() {
            self.state.store(WOKEN, Ordering::Relaxed);
            self.notify();
        }
    }

    fn notify(&self) {
        self.wakes.push(self.number.load(Ordering::Relaxed));
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let woken = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| match state {
            ASLEEP => Some(WOKEN),
            POLLED => Some(WOKEN_WHILE_POLLED),
            _ => None,
        });
        if woken == Ok(ASLEEP) {
            self.notify();
        }
    }
}

/// An item on its way to its result. It is used again for a later item.
struct Flight<T, F> {
    /// A worker locks it while it polls the future. No other thread waits for it then.
    state: Mutex<FutureSlot<T, F>>,
    /// Whether the result is there.
    has_landed: AtomicBool,
    alarm: Arc<Alarm>,
}

struct FutureSlot<T, F> {
    /// The item, until its future is made.
    item: Option<T>,
    /// The future, in a place that is kept for the next one.
    future: Pin<Box<Option<F>>>,
    waker: Waker,
}

impl<T, F> Flight<T, F> {
    fn new(wakes: &Arc<Wakes>) -> Self {
        let (number, state) = (AtomicU64::new(0), AtomicUsize::new(WOKEN));
        let alarm = Arc::new(Alarm { number, state, wakes: Arc::clone(wakes) });
        let waker = Waker::from(Arc::clone(&alarm));
        let state = Mutex::new(FutureSlot { item: None, future: Box::pin(None), waker });
        Self { state, has_landed: AtomicBool::new(true), alarm }
    }

    /// Begins with an item. Returns `false`, and does nothing, if somebody keeps the waker of the item before.
    fn begin(&mut self, number: u64, item: &mut Option<T>) -> bool {
        // This flight and its own waker have the alarm.
        if Arc::strong_count(&self.alarm) > 2 {
            return false;
        }
        // The drops of other wakers happen before these stores.
        fence(Ordering::Acquire);
        self.alarm.number.store(number, Ordering::Relaxed);
        self.alarm.state.store(WOKEN, Ordering::Relaxed);
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).item = item.take();
        self.has_landed.store(false, Ordering::Relaxed);
        true
    }
}

impl<T: Send, F: Future + Send> Flight<T, F> {
    /// Polls the future. Returns the result, if it is there.
    fn poll<V, X>(
        &self,
        runtime: &Runtime,
        make: &impl Fn(T) -> F,
        finish: impl Fn(F::Output) -> Result<Option<V>, X>,
    ) -> Option<Landed<V, X>> {
        let Alarm { number, wakes, .. } = &*self.alarm;
        let number = number.load(Ordering::Relaxed);
        self.alarm.begin_poll();
        // The future is also dropped inside of the closure, because its drop may panic.
        let polled = catch_unwind(AssertUnwindSafe(|| {
            runtime.within(|| {
                let mut state = lock(&self.state);
                let FutureSlot { item, future, waker } = &mut *state;
                if let Some(item) = item.take() {
                    future.set(Some(make(item)));
                }
                let running = future.as_mut().as_pin_mut().expect("a future is polled until it is done");
                let Poll::Ready(output) = running.poll(&mut Context::from_waker(waker)) else { return None };
                future.set(None);
                Some(finish(output))
            })
        }));
        let result = match polled {
            Ok(None) => {
                self.alarm.end_poll();
                return None;
            }
            Ok(Some(Ok(value))) => Ok(value),
            Ok(Some(Err(error))) => Err(Failure::Error(Kept::new(error))),
            Err(payload) => Err(Failure::Panic(Kept::new(payload))),
        };
        if result.is_err() {
            wakes.failed.fetch_min(number, Ordering::Relaxed);
        }
        let landed = Landed { number, result };
        self.has_landed.store(true, Ordering::Release);
        wakes.landed.fetch_add(1, Ordering::AcqRel);
        Some(landed)
    }
}

/// The result of an item.
struct Landed<V, X> {
    number: u64,
    result: Result<Option<V>, Failure<X>>,
}

impl<V: Send, X: Send> Finished for Landed<V, X> {
    type Value = V;
    type Error = X;

    fn number(&self) -> u64 {
        self.number
    }

    fn result(self) -> Result<Option<V>, Failure<X>> {
        self.result
    }
}

/// A spreading stage that gives each item when it comes, and again each time its future has woken.
struct Launch<T, F> {
    /// The item that has come last, until it is given.
    fresh: Option<Arc<Flight<T, F>>>,
    /// Whether an item was given. One at a time is, so that items that wake at each poll let others come.
    has_given: bool,
    /// The items from the first one on that has no result.
    flights: VecDeque<Arc<Flight<T, F>>>,
    /// The number of the first of them.
    first: u64,
    /// Flights that can be used again.
    spare: Vec<Arc<Flight<T, F>>>,
    wakes: Arc<Wakes>,
}

impl<T, F> Launch<T, F> {
    fn new(wakes: &Arc<Wakes>) -> Self {
        Self {
            fresh: None,
            has_given: false,
            flights: VecDeque::new(),
            first: 0,
            spare: Vec::new(),
            wakes: Arc::clone(wakes),
        }
    }

    /// A flight with an item, which is the next one.
    fn flight(&mut self, item: T) -> Arc<Flight<T, F>> {
        let number = self.first + self.flights.len() as u64;
        let mut item = Some(item);
        while let Some(mut spare) = self.spare.pop() {
            if Arc::get_mut(&mut spare).is_some_and(|flight| flight.begin(number, &mut item)) {
                return spare;
            }
        }
        let mut new = Flight::new(&self.wakes);
        assert!(new.begin(number, &mut item), "a new flight has no waker");
        Arc::new(new)
    }

    /// The next item whose future has woken.
    fn woken(&mut self) -> Option<Arc<Flight<T, F>>> {
        // The futures behind a failure are dropped with the line.
        let number = std::iter::from_fn(|| self.wakes.woken.take())
            .find(|number| *number <= self.wakes.failed.load(Ordering::Relaxed))?;
        // An item whose future wakes has no result, so it is still in the list.
        Some(Arc::clone(&self.flights[(number - self.first) as usize]))
    }
}

impl<T: Send, F: Send, E> Spread<T, E> for Launch<T, F> {
    type Out = Arc<Flight<T, F>>;

    fn starts(&mut self, run: &sync::Arc<Run>, _: bool) {
        let set = self.wakes.event.set(sync::Arc::clone(&run.event));
        debug_assert!(set.is_ok(), "a stream runs once");
    }

    fn open(&mut self, item: T) {
        while self.flights.front().is_some_and(|flight| flight.has_landed.load(Ordering::Acquire)) {
            self.spare.extend(self.flights.pop_front());
            self.first += 1;
        }
        let flight = self.flight(item);
        self.wakes.came.store(self.first + self.flights.len() as u64 + 1, Ordering::Release);
        self.flights.push_back(Arc::clone(&flight));
        self.fresh = Some(flight);
    }

    fn next(&mut self) -> Pulled<Self::Out, E> {
        if std::mem::take(&mut self.has_given) {
            return Pulled::End;
        }
        let Some(flight) = self.fresh.take().or_else(|| self.woken()) else { return Pulled::End };
        self.has_given = true;
        Pulled::Item(flight)
    }

    fn later<'s>(&self) -> Option<Arc<dyn Later + 's>>
    where
        Self: 's,
    {
        Some(self.wakes.clone())
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Turns each item into the output of a future. At most `most` futures are under way at once; the results come out in the
    /// order of the items. With `usize::MAX`, as many as one [`window`](Self::window) are under way or wait for their turn to leave.
    ///
    /// The workers of the stream poll the futures: each one when its item comes, and when it has woken. No thread waits for a
    /// future, and none polls while all of them are pending. A future that is slow delays no other one: as many items as
    /// `most` and one [`window`](Self::window) may be behind the first whose result has not left. With
    /// [`unordered`](Self::unordered) directly behind it, the stage gives each result when it is there.
    ///
    /// With one worker, or [`inline`](Self::inline), `most` futures are under way too, and the calling thread polls them.
    /// While it waits inside of the source, it polls none. So sources that wait for other threads, such as
    /// [`channel`](Stream::channel), have a thread of their own in such a stream.
    ///
    /// No runtime is needed. Timers and sockets of a runtime need theirs: the method `on` names a runtime of tokio (feature
    /// `tokio`). When the stream ends early, all futures that are under way are dropped.
    ///
    /// ```
    /// use anabranch::Stream;
    /// use futures::channel::oneshot;
    ///
    /// let (senders, answers): (Vec<_>, Vec<_>) = (0..3).map(|_| oneshot::channel::<usize>()).unzip();
    /// let server = std::thread::spawn(move || {
    ///     // The last one is answered first.
    ///     for (n, sender) in senders.into_iter().enumerate().rev() {
    ///         sender.send(10 * n).unwrap();
    ///     }
    /// });
    /// let answers = Stream::from_iter(answers).map_async(64, |answer| async { answer.await.unwrap() });
    /// assert_eq!(answers.collect::<Vec<_>>(), [0, 10, 20]);
    /// server.join().unwrap();
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[doc(alias = "buffered")]
    #[doc(alias = "buffer_unordered")]
    #[track_caller]
    pub fn map_async<F, Fut>(self, most: usize, f: F) -> Stream<'env, Fut::Output, M>
    where
        O: ForAll,
        F: Fn(T) -> Fut + Send + Sync + 'env,
        Fut: Future<Output: Send + 'env> + Send + 'env,
    {
        self.polling("map_async", most, f, |value| Ok(Some(value)))
    }

    /// Like [`map_async`](Self::map_async), with futures that may fail. The stream ends with the failure of the first item
    /// that fails, in the order of the items. Once a failure is known, no later item is begun.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let parsed = Stream::from_iter(["1", "2", "x", "y"]).try_map_async(2, |word| async { word.parse::<u32>() });
    /// let mut seen = Vec::new();
    /// assert!(parsed.for_each(|n| seen.push(n)).is_err());
    /// assert_eq!(seen, [1, 2]);
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[track_caller]
    pub fn try_map_async<V, E, F, Fut>(self, most: usize, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForAll,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: Fn(T) -> Fut + Send + Sync + 'env,
        Fut: Future<Output = Result<V, E>> + Send + 'env,
    {
        self.admit::<E>().polling("try_map_async", most, f, |result| Ok(Some(result?)))
    }

    /// Like [`map_async`](Self::map_async), but drops the items whose futures give `None`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let known = |n: u32| async move { (n % 2 == 0).then_some(n) };
    /// assert_eq!(Stream::from_iter(0..5).filter_map_async(4, known).collect::<Vec<_>>(), [0, 2, 4]);
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[track_caller]
    pub fn filter_map_async<V, F, Fut>(self, most: usize, f: F) -> Stream<'env, V, M>
    where
        O: ForAll,
        V: Send + 'env,
        F: Fn(T) -> Fut + Send + Sync + 'env,
        Fut: Future<Output = Option<V>> + Send + 'env,
    {
        self.polling("filter_map_async", most, f, Ok)
    }

    /// Like [`filter_map_async`](Self::filter_map_async), with futures that may fail. The stream stops at the first `Err`, which
    /// the end returns.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let known = |word: &'static str| async move { word.parse::<u32>().map(|n| (n % 2 == 0).then_some(n)) };
    /// let even = |words: [&'static str; 3]| Stream::from_iter(words).try_filter_map_async(2, known).collect::<Vec<_>>();
    /// assert_eq!(even(["1", "2", "4"]), Ok(vec![2, 4]));
    /// assert!(even(["1", "2", "x"]).is_err());
    /// ```
    ///
    /// # Panics
    /// If `most` is 0.
    #[track_caller]
    pub fn try_filter_map_async<V, E, F, Fut>(self, most: usize, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForAll,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: Fn(T) -> Fut + Send + Sync + 'env,
        Fut: Future<Output = Result<Option<V>, E>> + Send + 'env,
    {
        self.admit::<E>().polling("try_filter_map_async", most, f, |result| Ok(result?))
    }

    /// Adds the three stages. `finish` makes the result of an item of what its future has given.
    #[track_caller]
    fn polling<V, F, Fut>(
        self,
        operator: &'static str,
        most: usize,
        make: F,
        finish: impl Fn(Fut::Output) -> Result<Option<V>, M::Error> + Send + Sync + 'env,
    ) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: Fn(T) -> Fut + Send + Sync + 'env,
        Fut: Future + Send + 'env,
    {
        assert!(most > 0, "`{operator}(0, ..)`: there is room for 1 future or more");
        let (wakes, runtime) = (Wakes::new(most), self.draft.attached.runtime.clone());
        self.draft.outline.assert_may_renumber(operator);
        let launched = self.spreading(Node::serial("begin"), Launch::new(&wakes));
        let poll = move |flight: Arc<Flight<T, Fut>>| flight.poll(&runtime, &make, &finish);
        let polled = launched.each(Node::parallel(operator), poll);
        let in_order = InOrder::new(true, move |left| wakes.left.store(left, Ordering::Release));
        let mut stream = polled.spreading(Node::serial("in_order").fallible(), in_order);
        stream.draft.outline.futures = Some(stream.draft.outline.plan.nodes.len() - 1);
        stream
    }
}

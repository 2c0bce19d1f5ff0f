//! The queue before the first stage of a pipeline. It is bounded; posts add single items, and workers take
//! batches.
//!
//! A batch goes through the stages as one, so its items share the cost of passing from stage to stage. A
//! batch has as many of the waiting items as are done quickly; see [`Pace`].
//!
//! While items are fast, waking a worker costs more than processing an item. The worker that took the last
//! batch is therefore expected to come back. It is called the *attendant* of the source. While there is an
//! attendant, posts wake no worker, and other workers take items only if the attendant falls behind. One of
//! its items may turn out to be slow. For this case one of the sleeping workers, the *sentinel*, wakes up by
//! itself at intervals and takes over if the attendant makes no progress.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc as StdArc;
use std::time::Duration;

use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::fork::Birth;
use anabranch_record::inbox::Consumer;
use anabranch_record::lane::Cell;
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{
    Arc, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, Padded, lock, thread_local,
};
use anabranch_record::{EventCount, WaitKey};

use super::room::Room;
use crate::clock::Moment;
use crate::engine::nodes::pull::{Pull, Pulled};
use crate::engine::{Feed, Supply};
use crate::outside::mailbox::Mailbox;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_LAST_LOOK_AT_POSTS: Mutant = Mutant("no_last_look_at_posts");
const NO_NOTICE_OF_A_POST: Mutant = Mutant("no_notice_of_a_post");

/// If the source finds at least this many items at once, its attendant lets items gather.
const GATHER_FROM_ITEMS: u64 = 16;
/// How many items the attendant lets gather. Each of its looks costs a posting thread a cache line.
const GATHERED_ITEMS: u64 = 64;
/// How often the sentinel checks whether the attendant has made progress.
const SENTINEL_INTERVAL: Duration = Duration::from_millis(1);

/// No thread is the attendant.
const NOBODY: usize = 0;

thread_local! {
    #[allow(clippy::missing_const_for_thread_local, reason = "model checkers have no constant ones")]
    static HERE: u8 = 0;
}

/// A number that identifies the current thread.
#[inline]
fn me() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// The state that posts and workers share.
#[derive(Debug)]
struct QueueState<T> {
    /// The process in which the queue was created.
    birth: Birth,
    mailbox: Mailbox<T>,
    /// A run that drains closes it.
    supply: StdArc<Supply>,
    /// Whether a sleeping worker must be told of a post.
    wants_notice: AtomicBool,
    /// Workers wait here for items.
    filled: Arc<EventCount>,
    watch: Padded<Watch>,
    sleepers: Mutex<Sleepers>,
}

/// How the source is attended. Workers write it.
#[derive(Debug)]
struct Watch {
    /// The thread that is the attendant, or `NOBODY`. It is written under the lock.
    attendant: AtomicUsize,
    /// How many waiting items make the attendant take some.
    few: AtomicU64,
    /// How many waiting items make another worker take some.
    enough: AtomicU64,
}

/// The workers that sleep.
#[derive(Debug, Default)]
struct Sleepers {
    count: usize,
    has_sentinel: bool,
}

impl<T> QueueState<T> {
    #[inline]
    fn attendant(&self) -> usize {
        self.watch.attendant.load(Ordering::Relaxed)
    }

    /// Sets, under the lock, which thread is the attendant and whether posts must wake a worker.
    fn attend(&self, sleepers: &Sleepers, attendant: usize) {
        self.watch.attendant.store(attendant, Ordering::Relaxed);
        let is_attended = attendant != NOBODY && sleepers.has_sentinel;
        self.wants_notice.store(sleepers.count > 0 && !is_attended, Ordering::SeqCst);
    }

    #[inline]
    fn waiting(&self) -> u64 {
        self.mailbox.inbox.waiting()
    }

    /// Whether no more items will be posted. The items that were accepted before still come out.
    #[inline]
    fn has_ended(&self) -> bool {
        let is_closed = self.mailbox.inbox.is_closed();
        if !is_closed && self.supply.is_closed() {
            self.mailbox.close();
            return true;
        }
        is_closed
    }
}

impl<T: Send> Feed for QueueState<T> {
    #[inline]
    fn is_ready(&self) -> bool {
        let least = match self.attendant() {
            NOBODY => 1,
            attendant if attendant == me() => self.watch.few.load(Ordering::Relaxed),
            _ => self.watch.enough.load(Ordering::Relaxed),
        };
        self.waiting() >= least || self.has_ended()
    }

    #[inline]
    fn is_enough(&self) -> bool {
        let least = match self.attendant() {
            NOBODY => 1,
            _ => self.watch.enough.load(Ordering::Relaxed),
        };
        self.waiting() >= least || self.has_ended()
    }

    fn event(&self) -> &Arc<EventCount> {
        &self.filled
    }

    fn wait(&self, key: WaitKey, look: &dyn Fn() -> bool, _any: &dyn Fn() -> bool) {
        let mut sleepers = lock(&self.sleepers);
        let was_attendant = self.attendant() == me();
        if was_attendant && self.waiting() > 0 {
            // The items have gathered for long enough.
            self.watch.few.store(1, Ordering::Relaxed);
            if look() {
                drop(sleepers);
                return self.filled.leave();
            }
        }
        let attendant = if was_attendant { NOBODY } else { self.attendant() };
        let is_sentinel = attendant != NOBODY && !sleepers.has_sentinel;
        sleepers.has_sentinel |= is_sentinel;
        sleepers.count += 1;
        self.attend(&sleepers, attendant);
        drop(sleepers);
        let taken = self.mailbox.inbox.taken();
        if is_sentinel {
            self.filled.wait_for(key, SENTINEL_INTERVAL);
        } else {
            // A post that did not see that this worker sleeps is visible from here on.
            self.mailbox.inbox.settle();
            if !NO_LAST_LOOK_AT_POSTS.is_on() && look() {
                self.filled.leave();
            } else {
                self.filled.wait(key);
            }
        }
        let mut sleepers = lock(&self.sleepers);
        sleepers.count -= 1;
        sleepers.has_sentinel &= !is_sentinel;
        let is_stuck = is_sentinel && self.mailbox.inbox.taken() == taken && self.waiting() > 0;
        self.attend(&sleepers, if is_stuck { NOBODY } else { self.attendant() });
    }
}

/// The side of the posting threads.
pub struct Sender<T>(StdArc<QueueState<T>>);

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("waiting", &self.0.waiting()).finish_non_exhaustive()
    }
}

/// The side of the source.
pub(super) struct Receiver<T, F, E> {
    shared: StdArc<QueueState<T>>,
    consumer: Consumer<T>,
    /// The number of the next item.
    next: u64,
    backoff: Backoff,
    /// When `next` reaches this number, the pace is measured again.
    round: u64,
    /// Whether the queue was empty after the last batch was taken.
    ran_dry: bool,
    pace: Pace,
    room: StdArc<Room>,
    /// Makes the source's item of a posted item and its number in the order of the posts.
    number: F,
    /// The stages may fail with an error of this type. The source does not.
    error: PhantomData<fn() -> E>,
}

/// Creates a queue in which as many items may [wait](Room::waiting) as `room` says at each time. `workers` take its batches.
pub(super) fn queue<T, F, E>(
    workers: usize,
    room: StdArc<Room>,
    number: F,
) -> (Sender<T>, Receiver<T, F, E>) {
    let (mailbox, consumer) = Mailbox::new(room.most_items());
    mailbox.inbox.narrow(room.waiting());
    let shared = StdArc::new(QueueState {
        birth: Birth::here(),
        mailbox,
        supply: StdArc::default(),
        wants_notice: AtomicBool::new(false),
        filled: Arc::default(),
        watch: Padded::new(Watch {
            attendant: AtomicUsize::new(NOBODY),
            few: AtomicU64::new(1),
            enough: AtomicU64::new(1),
        }),
        sleepers: Mutex::new(Sleepers::default()),
    });
    let receiver = Receiver {
        shared: StdArc::clone(&shared),
        consumer,
        next: 0,
        backoff: Backoff::new(),
        round: 0,
        ran_dry: true,
        pace: Pace::new(workers),
        room,
        number,
        error: PhantomData,
    };
    (Sender(shared), receiver)
}

impl<T> Sender<T> {
    /// Posts an item. It waits while there is no room.
    ///
    /// # Errors
    /// The item, if the stream has ended.
    ///
    /// # Panics
    /// In a process that was [forked](Self::is_forked).
    #[inline]
    pub fn send(&self, item: T) -> Result<(), T> {
        let Self(shared) = self;
        assert!(
            !shared.birth.is_forked(),
            "this process was forked after the stream was created, and has none of its threads: create another stream in this process"
        );
        shared.mailbox.post(item)?;
        // One notification is enough until a worker has looked.
        let wants = &shared.wants_notice;
        let is_wanted = wants.load(Ordering::SeqCst) && wants.swap(false, Ordering::SeqCst);
        if is_wanted && !NO_NOTICE_OF_A_POST.is_on() {
            shared.filled.notify();
        }
        Ok(())
    }

    /// Whether this process was forked since the queue was created. The threads that take its items are not here then.
    pub fn is_forked(&self) -> bool {
        self.0.birth.is_forked()
    }

    /// Sets how many items may wait, which is at most the number that the room was created for.
    pub(crate) fn narrow(&self, items: usize) {
        self.0.mailbox.inbox.narrow(items);
    }

    /// Announces that no more items will be posted.
    pub fn end(&self) {
        let Self(shared) = self;
        if self.is_forked() {
            return;
        }
        shared.mailbox.close();
        shared.filled.notify();
    }
}

impl<T: Send + 'static, F, E> Receiver<T, F, E> {
    /// A view of the queue that tells whether there are items to take.
    pub(super) fn feed(&self) -> StdArc<dyn Feed> {
        let shared: StdArc<QueueState<T>> = StdArc::clone(&self.shared);
        shared
    }

    /// Whether the queue is to accept no more items, and how many it has accepted.
    pub(super) fn supply(&self) -> StdArc<Supply> {
        StdArc::clone(&self.shared.supply)
    }
}

impl<T: Send, F, E> Receiver<T, F, E> {
    /// Waits until there are items to take, or there will never be any. It polls for a moment before it
    /// sleeps, because a post would have to pay for waking it.
    fn wait(&mut self) {
        let Self { shared, backoff, .. } = self;
        if shared.is_ready() || backoff.poll(Polling::Crowded, || shared.is_ready().then_some(())).is_some() {
            return;
        }
        while !shared.is_ready() {
            shared.birth.end_if_forked();
            let key = shared.filled.prepare();
            shared.wait(key, &|| shared.is_ready(), &|| shared.is_ready());
        }
    }

    /// Measures the pace of the items since the last measurement. `waiting` is how many items wait.
    fn measure(&mut self, waiting: u64) {
        self.pace.took(self.next, self.ran_dry);
        self.round = self.next + waiting;
        if self.room.adapt(self.pace.known_cost()).is_some() {
            self.shared.mailbox.inbox.set_limit(self.room.waiting());
        }
        let Watch { few, enough, .. } = &*self.shared.watch;
        let worth = self.pace.enough();
        enough.store(worth, Ordering::Relaxed);
        let gathered = GATHERED_ITEMS.min(worth).min(self.room.items() as u64 / 4);
        few.store(if waiting >= GATHER_FROM_ITEMS { gathered } else { 1 }, Ordering::Relaxed);
        let attendant = if worth > 1 { me() } else { NOBODY };
        if self.shared.attendant() != attendant {
            self.shared.attend(&lock(&self.shared.sleepers), attendant);
        }
    }
}

impl<T, U, F, E> Pull for Receiver<T, F, E>
where
    T: Send,
    U: Send,
    F: Fn(u64, T) -> U + Send,
    E: Send,
{
    type Item = U;
    type Error = E;
    const IN_BATCHES: bool = true;

    fn pull(&mut self) -> Pulled<U, E> {
        unreachable!("a source in batches is asked for cells")
    }

    fn pull_cell(&mut self) -> Pulled<Cell<U>, E> {
        self.wait();
        let waiting = self.consumer.waiting();
        if waiting == 0 {
            return Pulled::End;
        }
        if self.next >= self.round {
            self.measure(waiting);
        }
        let size = self.pace.batch(waiting as usize).min(self.room.longest()).min(waiting as usize);
        let mut batch = Vec::with_capacity(size);
        let Self { consumer, next, number, .. } = self;
        consumer.take(size, |item| {
            batch.push(number(*next, item));
            *next += 1;
        });
        self.shared.supply.accept(size);
        let left = self.consumer.waiting();
        self.ran_dry = left == 0;
        // Posting threads are woken once there is room for enough items to be worth it.
        if left <= self.room.items() as u64 / 2 || self.pace.is_slow() {
            self.shared.mailbox.emptied.notify();
        }
        Pulled::Item(Cell::of(batch, None))
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T, F, E> Drop for Receiver<T, F, E> {
    fn drop(&mut self) {
        self.consumer.close();
        self.shared.supply.accept(self.consumer.waiting() as usize);
        self.shared.mailbox.emptied.notify_all();
    }
}

/// If enough items wait, a batch is worth at least this many nanoseconds of a worker's time.
const BATCH_LEAST_NS: u64 = 4_000;
/// A batch is worth at most this many nanoseconds of a worker's time.
const BATCH_MOST_NS: u64 = 20_000;
/// Items that take more nanoseconds than this go one by one. The cost of passing them is small in comparison.
const QUICK_ITEM_NS: u64 = BATCH_LEAST_NS / 2;
/// How many items must have been fast before batches have more than one item.
const SURE_ITEMS: u64 = if cfg!(shuttle) { 2 } else { 32 };

/// Chooses how many items a batch has, from how fast the pipeline took earlier items.
///
/// The posts may be slower than the workers, so the measured pace is at most that of the workers. A batch is
/// therefore too short rather than too long. It has one item until many items were fast.
#[derive(Debug)]
struct Pace {
    workers: u64,
    /// When the current measurement began.
    since: Moment,
    /// The number of the first item that was taken after `since`.
    first: u64,
    /// Nanoseconds from one item to the next. 0 while it is not known.
    interval: u64,
}

impl Pace {
    fn new(workers: usize) -> Self {
        Self { workers: workers.max(1) as u64, since: Moment::now(), first: 0, interval: 0 }
    }

    /// Measures the pace after all waiting items were taken. Items below `next` are taken.
    fn took(&mut self, next: u64, had_to_wait: bool) {
        let now = Moment::now();
        let items = next - self.first;
        if let Some(interval) = now.since(self.since).checked_div(items) {
            if items < SURE_ITEMS && (self.interval == 0 || interval <= self.interval) {
                return;
            }
            // Either no item was posted for a while, or items have become slow. Repeated measurements tell
            // which.
            let most = if had_to_wait && self.interval > 0 { 2 * self.interval } else { u64::MAX };
            self.interval = interval.clamp(1, most);
        }
        (self.since, self.first) = (now, next);
    }

    /// How many items are worth waking a worker.
    fn enough(&self) -> u64 {
        if self.interval == 0 { 1 } else { (BATCH_MOST_NS / self.cost()).max(1) }
    }

    /// Whether an item takes longer than it takes to wake a posting thread.
    fn is_slow(&self) -> bool {
        self.interval > 0 && self.cost() > BATCH_MOST_NS
    }

    /// An upper bound for the nanoseconds of a worker that an item takes, if it is known.
    fn known_cost(&self) -> Option<u64> {
        (self.interval > 0).then(|| self.cost())
    }

    /// An upper bound for the nanoseconds of a worker that an item takes.
    fn cost(&self) -> u64 {
        self.interval.saturating_mul(self.workers)
    }

    /// A fair share of the items that wait.
    fn batch(&self, waiting: usize) -> usize {
        if self.interval == 0 {
            return 1;
        }
        let cost = self.cost();
        if cost > QUICK_ITEM_NS {
            return 1;
        }
        let share = waiting as u64 / (2 * self.workers);
        share.clamp(BATCH_LEAST_NS / cost, BATCH_MOST_NS / cost).max(1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_one_item_until_items_are_known_to_be_quick_and_a_share_of_what_waits_then() {
        let mut pace = Pace::new(2);
        assert_eq!(pace.batch(1_000), 1);
        pace.interval = 10;
        assert_eq!((pace.batch(10), pace.batch(1_000), pace.batch(10_000)), (200, 250, 1_000));
        pace.interval = 1_000;
        assert_eq!((pace.batch(1), pace.batch(12), pace.batch(1_000)), (2, 3, 10));
        pace.interval = 1_001;
        assert_eq!(pace.batch(1_000), 1);
        pace.interval = 1_000_000;
        assert_eq!(pace.batch(1_000), 1);
        pace.interval = u64::MAX;
        assert_eq!(pace.batch(1_000), 1);
    }

    #[test]
    fn a_pause_of_the_posts_counts_for_little_and_a_slow_stage_at_once() {
        let wait = || std::thread::sleep(Duration::from_millis(20));
        let mut pace = Pace::new(1);
        pace.interval = 10;
        wait();
        pace.took(1, true);
        assert_eq!(pace.interval, 20);
        wait();
        pace.took(2, false);
        assert!(pace.interval >= 10_000_000);
    }

    #[test]
    fn a_few_items_do_not_show_that_all_are_quick() {
        let mut pace = Pace::new(1);
        pace.took(SURE_ITEMS - 1, false);
        assert_eq!(pace.interval, 0);
        pace.took(SURE_ITEMS, false);
        assert!(pace.interval > 0);
    }
}

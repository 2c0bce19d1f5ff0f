//! The queue before a pipeline's first stage: bounded, filled by posts one by one, emptied a batch at a time.
//!
//! A batch goes through the stages as one, so that what passing costs is shared by its items. It holds what waits, as
//! far as that is quickly done: see [`Pace`].
//!
//! While items are quick, waking a worker for one costs more than the item. The worker that has taken some is expected
//! back, and is the source's *attendant*: posts wake nobody then, and others take items only if it falls behind. Should
//! one of its items be slow after all, a *sentinel*, one of those that sleep, wakes by itself and takes over.

use std::convert::Infallible;
use std::sync::Arc as StdArc;
use std::time::Duration;

use anabranch_record::inbox::{Inbox, PostError, Taker, inbox};
use anabranch_record::sync::{
    Arc, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, Padded, lock, spin_hint, thread_local,
};
use anabranch_record::{EventCount, WaitKey};

use super::room::Room;
use crate::engine::{Feed, Moment};
use crate::serial::{Pull, Pulled};

/// An item and its number in the order of the posts.
pub(super) type Numbered<T> = (u64, T);

/// Before it parks, a source that waits looks so often for more, if that has paid lately...
const LOOKS: u32 = 32;
/// ... and so often while it has not.
const LEAST_LOOKS: u32 = 1;
/// The pauses between two looks: each look takes a cache line from who posts.
const PAUSES: u32 = 16;

/// If the source has found so many at once...
const MANY: u64 = 16;
/// ... its attendant waits a moment for so many: each look costs a post a cache line.
const GATHERED: u64 = 64;
/// The sentinel looks so often whether the attendant has got on.
const VIGIL: Duration = Duration::from_millis(1);

/// Nobody is the attendant.
const NOBODY: usize = 0;

thread_local! {
    #[allow(clippy::missing_const_for_thread_local, reason = "model checkers have no constant ones")]
    static HERE: u8 = 0;
}

/// What tells this thread from others.
#[inline]
fn me() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// What posts and workers share.
#[derive(Debug)]
struct Shared<T> {
    inbox: Inbox<T>,
    /// A worker sleeps that is to know of a post.
    wants_notice: AtomicBool,
    /// No more will be posted.
    has_ended: AtomicBool,
    /// Workers wait here, and posts there.
    filled: Arc<EventCount>,
    emptied: EventCount,
    watch: Padded<Watch>,
    crew: Mutex<Crew>,
}

/// How the source is looked after: written by workers.
#[derive(Debug)]
struct Watch {
    /// Written under the lock.
    attendant: AtomicUsize,
    /// So many items are worth the attendant's while, and so many another worker.
    few: AtomicU64,
    enough: AtomicU64,
}

/// The workers that sleep.
#[derive(Debug, Default)]
struct Crew {
    sleepers: usize,
    has_sentinel: bool,
}

impl<T> Shared<T> {
    #[inline]
    fn attendant(&self) -> usize {
        self.watch.attendant.load(Ordering::Relaxed)
    }

    /// Says under the lock who is the attendant, and whether posts give notice.
    fn attend(&self, crew: &Crew, attendant: usize) {
        self.watch.attendant.store(attendant, Ordering::Relaxed);
        let is_attended = attendant != NOBODY && crew.has_sentinel;
        self.wants_notice.store(crew.sleepers > 0 && !is_attended, Ordering::SeqCst);
    }

    #[inline]
    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

impl<T: Send> Feed for Shared<T> {
    #[inline]
    fn is_ready(&self) -> bool {
        let least = match self.attendant() {
            NOBODY => 1,
            attendant if attendant == me() => self.watch.few.load(Ordering::Relaxed),
            _ => self.watch.enough.load(Ordering::Relaxed),
        };
        self.inbox.waiting() >= least || self.has_ended()
    }

    #[inline]
    fn is_enough(&self) -> bool {
        let least = match self.attendant() {
            NOBODY => 1,
            _ => self.watch.enough.load(Ordering::Relaxed),
        };
        self.inbox.waiting() >= least || self.has_ended()
    }

    fn event(&self) -> &Arc<EventCount> {
        &self.filled
    }

    fn wait(&self, key: WaitKey, look: &dyn Fn() -> bool) {
        let mut crew = lock(&self.crew);
        let was_attendant = self.attendant() == me();
        if was_attendant && self.inbox.waiting() > 0 {
            // It has gathered for long enough.
            self.watch.few.store(1, Ordering::Relaxed);
            if look() {
                drop(crew);
                return self.filled.leave();
            }
        }
        let attendant = if was_attendant { NOBODY } else { self.attendant() };
        let is_sentinel = attendant != NOBODY && !crew.has_sentinel;
        crew.has_sentinel |= is_sentinel;
        crew.sleepers += 1;
        self.attend(&crew, attendant);
        drop(crew);
        let taken = self.inbox.taken();
        if is_sentinel {
            self.filled.wait_for(key, VIGIL);
        } else {
            // A post that has not seen that anybody sleeps is seen now.
            self.inbox.settle();
            if cfg!(not(mutant = "no_last_look_at_posts")) && look() {
                self.filled.leave();
            } else {
                self.filled.wait(key);
            }
        }
        let mut crew = lock(&self.crew);
        crew.sleepers -= 1;
        crew.has_sentinel &= !is_sentinel;
        let is_stuck = is_sentinel && self.inbox.taken() == taken && self.inbox.waiting() > 0;
        self.attend(&crew, if is_stuck { NOBODY } else { self.attendant() });
    }
}

/// The side of the posts.
#[derive(Debug)]
pub(super) struct Sender<T>(StdArc<Shared<T>>);

/// The side of the source.
#[derive(Debug)]
pub(super) struct Receiver<T> {
    shared: StdArc<Shared<T>>,
    taker: Taker<T>,
    /// The number of the next item.
    next: u64,
    looks: u32,
    /// When so many are given, the pace is taken again.
    round: u64,
    /// There was nothing left when the last batch was given.
    ran_dry: bool,
    pace: Pace,
    room: StdArc<Room>,
}

/// A queue in which as many items wait as there is room for now. So many workers take what it gives.
pub(super) fn queue<T>(workers: usize, room: StdArc<Room>) -> (Sender<T>, Receiver<T>) {
    let (inbox, taker) = inbox(room.items());
    let shared = StdArc::new(Shared {
        inbox,
        wants_notice: AtomicBool::new(false),
        has_ended: AtomicBool::new(false),
        filled: Arc::default(),
        emptied: EventCount::new(),
        watch: Padded(Watch {
            attendant: AtomicUsize::new(NOBODY),
            few: AtomicU64::new(1),
            enough: AtomicU64::new(1),
        }),
        crew: Mutex::new(Crew::default()),
    });
    let receiver = Receiver {
        shared: StdArc::clone(&shared),
        taker,
        next: 0,
        looks: LEAST_LOOKS,
        round: 0,
        ran_dry: true,
        pace: Pace::new(workers),
        room,
    };
    (Sender(shared), receiver)
}

impl<T> Sender<T> {
    /// Adds an item; waits while there is no room. Gives it back if nobody will take it.
    #[inline]
    pub(super) fn send(&self, item: T) -> Result<(), T> {
        let Self(shared) = self;
        let mut posted = shared.inbox.post(item);
        while let Err(PostError::Full(item)) = posted {
            posted = self.wait_and_post(item);
        }
        match posted {
            Ok(()) => {
                // One notice is enough until somebody has looked.
                let wants = &shared.wants_notice;
                let is_wanted = wants.load(Ordering::SeqCst) && wants.swap(false, Ordering::SeqCst);
                if is_wanted && cfg!(not(mutant = "no_notice_of_a_post")) {
                    shared.filled.notify();
                }
                Ok(())
            }
            Err(PostError::Closed(item) | PostError::Full(item)) => Err(item),
        }
    }

    #[cold]
    fn wait_and_post(&self, item: T) -> Result<(), PostError<T>> {
        let Self(shared) = self;
        let key = shared.emptied.prepare();
        let posted = shared.inbox.post(item);
        if matches!(posted, Err(PostError::Full(_))) {
            shared.emptied.wait(key);
        } else {
            shared.emptied.leave();
        }
        posted
    }

    /// At most so many items are to wait.
    pub(super) fn narrow(&self, items: usize) {
        self.0.inbox.narrow(items);
    }

    /// Says that no more will be posted.
    pub(super) fn end(&self) {
        let Self(shared) = self;
        shared.has_ended.store(true, Ordering::Release);
        shared.filled.notify();
    }
}

impl<T: Send + 'static> Receiver<T> {
    /// What tells whether there is anything to take.
    pub(super) fn feed(&self) -> StdArc<dyn Feed> {
        let shared: StdArc<Shared<T>> = StdArc::clone(&self.shared);
        shared
    }
}

impl<T: Send> Receiver<T> {
    /// Waits until there is something to take, or never will be. It looks for a moment before it falls asleep: that
    /// would cost a post the waking.
    fn wait(&mut self) {
        let Self { shared, looks, .. } = self;
        for _ in 0..*looks {
            if shared.is_ready() {
                *looks = (2 * *looks).min(LOOKS);
                return;
            }
            for _ in 0..PAUSES {
                spin_hint();
            }
        }
        *looks = (*looks / 2).max(LEAST_LOOKS);
        while !shared.is_ready() {
            let key = shared.filled.prepare();
            shared.wait(key, &|| shared.is_ready());
        }
    }

    /// Takes the pace of what was given since the last time.
    fn measure(&mut self, waiting: u64) {
        self.pace.took(self.next, self.ran_dry);
        self.round = self.next + waiting;
        let Watch { few, enough, .. } = &*self.shared.watch;
        let worth = self.pace.enough();
        enough.store(worth, Ordering::Relaxed);
        let gathered = GATHERED.min(worth).min(self.room.items() as u64 / 4);
        few.store(if waiting >= MANY { gathered } else { 1 }, Ordering::Relaxed);
        let attendant = if worth > 1 { me() } else { NOBODY };
        if self.shared.attendant() != attendant {
            self.shared.attend(&lock(&self.shared.crew), attendant);
        }
    }
}

impl<T: Send> Pull for Receiver<T> {
    type Item = Vec<Numbered<T>>;
    type Error = Infallible;

    fn pull(&mut self) -> Pulled<Vec<Numbered<T>>, Infallible> {
        self.wait();
        let waiting = self.taker.waiting();
        if waiting == 0 {
            return Pulled::End;
        }
        if self.next >= self.round {
            self.measure(waiting);
        }
        let size = self.pace.batch(waiting as usize).min(self.room.longest()).min(waiting as usize);
        let mut batch = Vec::with_capacity(size);
        let mut number = self.next;
        self.taker.take(size, |item| {
            batch.push((number, item));
            number += 1;
        });
        self.next = number;
        let left = self.taker.waiting();
        self.ran_dry = left == 0;
        // Who posts is woken for as many items as are worth it.
        if left <= self.room.items() as u64 / 2 || self.pace.is_slow() {
            self.shared.emptied.notify();
        }
        Pulled::Item(batch)
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.taker.close();
        self.shared.emptied.notify_all();
    }
}

/// A batch is worth at least so many nanoseconds of a worker, if so much waits...
const LEAST: u64 = 4_000;
/// ... and at most so many.
const MOST: u64 = 20_000;
/// Items that take longer go one by one: what passing costs is little beside it.
const QUICK: u64 = LEAST / 2;
/// So many items must have been quick.
const SURE: u64 = if cfg!(shuttle) { 2 } else { 32 };

/// How many items a batch may have, from how quickly the pipeline took those before. That is at most as quick as the
/// workers are, so a batch is rather too short than too long; and it is one item until many were quick.
#[derive(Debug)]
struct Pace {
    workers: u64,
    /// The moment that is measured from, and the number of the first item that was given after it.
    since: Moment,
    first: u64,
    /// Nanoseconds from one item to the next, 0 while not known.
    interval: u64,
}

impl Pace {
    fn new(workers: usize) -> Self {
        Self { workers: workers.max(1) as u64, since: Moment::now(), first: 0, interval: 0 }
    }

    /// All that waited is given, the items below `next`.
    fn took(&mut self, next: u64, had_to_wait: bool) {
        let now = Moment::now();
        let items = next - self.first;
        if let Some(interval) = now.since(self.since).checked_div(items) {
            if items < SURE && (self.interval == 0 || interval <= self.interval) {
                return;
            }
            // Nobody posted for a while, or items have become slow: which, shows when it lasts.
            let most = if had_to_wait && self.interval > 0 { 2 * self.interval } else { u64::MAX };
            self.interval = interval.clamp(1, most);
        }
        (self.since, self.first) = (now, next);
    }

    /// So many items are worth the waking of a worker.
    fn enough(&self) -> u64 {
        if self.interval == 0 { 1 } else { (MOST / self.cost()).max(1) }
    }

    /// Whether an item takes longer than the waking of who posts another.
    fn is_slow(&self) -> bool {
        self.interval > 0 && self.cost() > MOST
    }

    /// Nanoseconds of a worker an item, at most.
    fn cost(&self) -> u64 {
        self.interval.saturating_mul(self.workers)
    }

    /// A fair share of the items that wait.
    fn batch(&self, waiting: usize) -> usize {
        if self.interval == 0 {
            return 1;
        }
        let cost = self.cost();
        if cost > QUICK {
            return 1;
        }
        let share = waiting as u64 / (2 * self.workers);
        share.clamp(LEAST / cost, MOST / cost).max(1) as usize
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
        pace.took(SURE - 1, false);
        assert_eq!(pace.interval, 0);
        pace.took(SURE, false);
        assert!(pace.interval > 0);
    }
}

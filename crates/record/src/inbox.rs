//! A bounded queue. Any number of threads post single items, and one thread takes many items at a time.
//!
//! A post is one compare-and-swap and two plain stores. The consumer pays for synchronisation once for all items
//! that it takes together. The inbox never waits: a caller that finds it full or empty waits on an
//! [`EventCount`](crate::EventCount) of its own choice.
//!
//! ```
//! use anabranch_record::inbox::{PostError, inbox};
//!
//! let (inbox, mut consumer) = inbox(2);
//! inbox.post('a').unwrap();
//! inbox.post('b').unwrap();
//! assert_eq!(inbox.post('c'), Err(PostError::Full('c')));
//!
//! let mut taken = String::new();
//! assert_eq!(consumer.take(8, |item| taken.push(item)), 2);
//! assert_eq!(taken, "ab");
//!
//! drop(consumer);
//! assert_eq!(inbox.post('d'), Err(PostError::Closed('d')));
//! ```

use std::fmt;
use std::mem::MaybeUninit;

use crate::leftovers::Leftovers;
use crate::mutant::Mutant;
use crate::ring::Ring;
use crate::sync::{Arc, AtomicU64, Ordering, Padded, RawCell, spin_hint, thread};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RELAXED_POST: Mutant = Mutant("relaxed_post");
const RELAXED_TAKEN: Mutant = Mutant("relaxed_taken");
const NO_SETTLING_OF_POSTS: Mutant = Mutant("no_settling_of_posts");

/// A thread is posting.
const LOCKED: u64 = 1;
/// The consumer is gone, or one of the two sides has closed the inbox.
const CLOSED: u64 = 2;
/// How many low bits of the word are flags. The bits above count the posts.
const FLAG_BITS: u32 = 2;

/// After this many looks at an inbox in which another thread is posting, a thread yields to the scheduler.
const LOOKS_BEFORE_YIELD: u32 = 64;

/// The posting side of an inbox. Its clones post to the same [`Consumer`].
pub struct Inbox<T>(Arc<InboxCore<T>>);

/// The taking side of an inbox.
pub struct Consumer<T> {
    shared: Arc<InboxCore<T>>,
    /// Every item below this index was taken. It differs from `shared.taken` only after the caller's closure
    /// panicked.
    taken: u64,
}

/// The reason why an item was not posted. The error gives the item back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostError<T> {
    /// The inbox holds as many items as it may.
    Full(T),
    /// The consumer was dropped, or the inbox was closed.
    Closed(T),
}

/// Invariants:
///
/// - Only the thread that has set [`LOCKED`] writes the slot at the index that `word` counts to. This slot is empty if
///   the index is below `taken` plus the number of slots.
/// - Only the consumer reads the slots from `taken` up to the count in `word`. All of them are full.
struct InboxCore<T> {
    slots: Ring<RawCell<MaybeUninit<T>>>,
    /// How many slots there are.
    capacity: u64,
    /// How many items may wait. At most the number of slots. A post reads it under the lock.
    limit: AtomicU64,
    posts: Padded<Posts>,
    /// Every item below this index was taken. Written by the consumer.
    taken: Padded<AtomicU64>,
}

/// The fields that a post writes.
struct Posts {
    /// How many items were posted, and the flags.
    word: AtomicU64,
    /// Every item below this index has room: `taken + limit` at some earlier time. Written under the lock.
    room: AtomicU64,
}

// SAFETY: an item moves from the posting thread to the taking thread and is not shared. By the invariants
// only one thread at a time touches a slot, and `word` and `taken` (store-release, load-acquire) order these
// threads.
unsafe impl<T: Send> Sync for InboxCore<T> {}
// SAFETY: the inbox owns its items.
unsafe impl<T: Send> Send for InboxCore<T> {}

/// Loom treats sequentially consistent accesses as weaker ones. A fence next to them restores their meaning.
#[inline]
fn sequential() {
    #[cfg(loom)]
    crate::sync::fence(Ordering::SeqCst);
}

/// Creates an inbox in which up to `capacity` items may wait.
///
/// # Panics
/// If `capacity` is 0 or above 2^48.
pub fn inbox<T>(capacity: usize) -> (Inbox<T>, Consumer<T>) {
    let shared = Arc::new(InboxCore {
        slots: Ring::new(capacity, || RawCell::new(MaybeUninit::uninit())),
        capacity: capacity as u64,
        limit: AtomicU64::new(capacity as u64),
        posts: Padded::new(Posts { word: AtomicU64::new(0), room: AtomicU64::new(capacity as u64) }),
        taken: Padded::new(AtomicU64::new(0)),
    });
    (Inbox(Arc::clone(&shared)), Consumer { shared, taken: 0 })
}

impl<T> InboxCore<T> {
    /// How many items wait. An item that is being posted at this moment may be missing.
    #[inline]
    fn waiting(&self) -> u64 {
        // In this order, since every item that was taken had been posted before.
        let taken = self.taken.load(Ordering::Acquire);
        (self.posts.word.load(Ordering::Acquire) >> FLAG_BITS) - taken
    }

    /// Takes the lock, after posts that are under way. Returns how many items were posted, or `None` if the
    /// inbox is closed.
    #[inline]
    fn lock(&self) -> Option<u64> {
        let mut looks = 0u32;
        loop {
            let word = self.posts.word.load(Ordering::Relaxed);
            if word & CLOSED != 0 {
                return None;
            }
            let locked = || {
                let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
                self.posts.word.compare_exchange_weak(word, word | LOCKED, success, failure)
            };
            if word & LOCKED == 0 && locked().is_ok() {
                sequential();
                return Some(word >> FLAG_BITS);
            }
            looks += 1;
            if looks.is_multiple_of(LOOKS_BEFORE_YIELD) {
                thread::yield_now();
            } else {
                spin_hint();
            }
        }
    }

    fn close(&self) {
        if let Some(posted) = self.lock() {
            self.posts.word.store(posted << FLAG_BITS | CLOSED, Ordering::Release);
        }
    }

    #[inline]
    fn unlock(&self, posted: u64) {
        let order = if RELAXED_POST.is_on() { Ordering::Relaxed } else { Ordering::Release };
        self.posts.word.store(posted << FLAG_BITS, order);
    }
}

impl<T> Inbox<T> {
    /// Posts `item` if there is room. It waits only for other posts that are under way. Returns the number of the item in
    /// the order of the posts, counted from 0.
    ///
    /// To sleep without losing an item, the consumer stores a flag (sequentially consistent), calls
    /// [`settle`](Self::settle), looks at [`waiting`](Self::waiting), and then sleeps. A thread that has
    /// posted loads the flag (sequentially consistent) and wakes the consumer if the flag is set. At least one
    /// of the two sees what the other has done.
    ///
    /// # Errors
    /// [`PostError::Full`] if there is no room, [`PostError::Closed`] if the consumer was dropped or the inbox was
    /// closed.
    #[inline]
    pub fn post(&self, item: T) -> Result<u64, PostError<T>> {
        let Self(shared) = self;
        let Some(posted) = shared.lock() else { return Err(PostError::Closed(item)) };
        let known = &shared.posts.room;
        if posted >= known.load(Ordering::Relaxed) {
            let order = if RELAXED_TAKEN.is_on() { Ordering::Relaxed } else { Ordering::Acquire };
            let room = shared.taken.load(order) + shared.limit.load(Ordering::Relaxed);
            known.store(room, Ordering::Relaxed);
            if posted >= room {
                shared.unlock(posted);
                return Err(PostError::Full(item));
            }
        }
        shared.slots.slot(posted).with_mut(|slot| {
            // SAFETY: this thread holds the lock. `posted` is below `taken + limit`, where `taken` was read
            // with acquire by this thread or by an earlier holder of the lock. So the slot is empty, and no
            // other thread touches it.
            unsafe { (*slot).write(item) };
        });
        shared.unlock(posted + 1);
        Ok(posted)
    }

    /// Closes the inbox: later posts fail and give their items back. Items that were posted can still be taken.
    pub fn close(&self) {
        self.0.close();
    }

    /// Whether the inbox is closed. If it is, the number of waiting items that is read afterwards is exact.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.0.posts.word.load(Ordering::Acquire) & CLOSED != 0
    }

    /// How many items wait. An item that is being posted at this moment may be missing.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.0.waiting()
    }

    /// How many items were taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Waits until the post that is under way, if there is one, has finished.
    pub fn settle(&self) {
        let word = &self.0.posts.word;
        sequential();
        let before = word.load(Ordering::SeqCst);
        if before & LOCKED == 0 || NO_SETTLING_OF_POSTS.is_on() {
            return;
        }
        while word.load(Ordering::Acquire) == before {
            // The posting thread may need the processor that this thread occupies.
            thread::yield_now();
        }
    }

    /// Whether the inbox holds as many items as it may. It takes no lock.
    pub fn is_full(&self) -> bool {
        self.waiting() >= self.0.limit.load(Ordering::Relaxed)
    }

    /// Lowers the number of items that may wait to `limit`. It never raises it.
    ///
    /// # Panics
    /// If `limit` is 0, if an item was posted already, or if the inbox is closed.
    pub fn narrow(&self, limit: usize) {
        let Self(shared) = self;
        assert!(limit > 0, "an inbox needs room for at least 1 item, but `limit` is 0");
        let posted = shared.lock();
        assert_eq!(posted, Some(0), "an inbox can be narrowed only before its first post");
        let limit = shared.limit.load(Ordering::Relaxed).min(limit as u64);
        shared.limit.store(limit, Ordering::Relaxed);
        shared.posts.room.store(limit, Ordering::Relaxed);
        shared.unlock(0);
    }
}

impl<T> Inbox<T> {
    /// Sets how many items may wait, from now on. A number above the capacity counts as the capacity. If it is lowered,
    /// posts may still fill the room that an earlier post has seen.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn set_limit(&self, limit: usize) {
        let Self(shared) = self;
        assert!(limit > 0, "an inbox needs room for at least 1 item, but `limit` is 0");
        let limit = (limit as u64).min(shared.capacity);
        shared.limit.store(limit, Ordering::Relaxed);
    }
}

impl<T> Clone for Inbox<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Consumer<T> {
    /// Takes up to `most` items and calls `f` with each of them, in the order of the posts. Returns how many
    /// items it took.
    ///
    /// If `f` panics, the items that it was not called with stay in the inbox.
    #[inline]
    pub fn take(&mut self, most: usize, mut f: impl FnMut(T)) -> usize {
        let waiting = (self.shared.posts.word.load(Ordering::Acquire) >> FLAG_BITS) - self.taken;
        let size = waiting.min(most as u64);
        for _ in 0..size {
            let item = self.shared.slots.slot(self.taken).with(|slot| {
                // SAFETY: the acquire load above says that the slot is full. This consumer is the only reader,
                // and `taken` passes the slot before anything else can happen.
                unsafe { (*slot).assume_init_read() }
            });
            self.taken += 1;
            f(item);
        }
        self.shared.taken.store(self.taken, Ordering::Release);
        size as usize
    }

    /// How many items wait. An item that is being posted at this moment may be missing.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.shared.waiting()
    }

    /// The item that [`take`](Self::take) would give first.
    pub fn front(&mut self) -> Option<&T> {
        let posted = self.shared.posts.word.load(Ordering::Acquire) >> FLAG_BITS;
        (self.taken < posted).then(|| {
            self.shared.slots.slot(self.taken).with(|slot| {
                // SAFETY: the acquire load above says that the slot is full. Only this consumer can empty it, and it is
                // borrowed for as long as the reference lives.
                unsafe { (*slot).assume_init_ref() }
            })
        })
    }

    /// Closes the inbox, as [`Inbox::close`] does.
    pub fn close(&mut self) {
        self.shared.close();
    }
}

/// Closes the inbox and drops the items that wait in it.
impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.close();
        let posted = self.shared.posts.word.load(Ordering::Acquire) >> FLAG_BITS;
        let mut leftovers = Leftovers::default();
        for index in self.taken..posted {
            leftovers.drop(|| {
                self.shared.slots.slot(index).with_mut(|slot| {
                    // SAFETY: the slot is full, no other thread reads it, and no later post can touch it.
                    unsafe { (*slot).assume_init_drop() };
                });
            });
        }
    }
}

impl<T> fmt::Debug for Inbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for PostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the inbox is full: take items from it before posting again",
            Self::Closed(_) => "the inbox is closed and takes no more items",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for PostError<T> {}

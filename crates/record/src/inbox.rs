//! A bounded queue between any number of threads that post an item now and then and one that takes many.
//!
//! A post is one compare-and-swap and two plain stores; what is taken at once shares the cost of being seen. It never
//! waits: who finds the inbox full or empty waits on an [`EventCount`](crate::EventCount) of its own choice.
//!
//! ```
//! use anabranch_record::inbox::{PostError, inbox};
//!
//! let (inbox, mut taker) = inbox(2);
//! inbox.post('a').unwrap();
//! inbox.post('b').unwrap();
//! assert_eq!(inbox.post('c'), Err(PostError::Full('c')));
//!
//! let mut taken = String::new();
//! assert_eq!(taker.take(8, |item| taken.push(item)), 2);
//! assert_eq!(taken, "ab");
//!
//! drop(taker);
//! assert_eq!(inbox.post('d'), Err(PostError::Closed('d')));
//! ```

use std::fmt;
use std::mem::MaybeUninit;

use crate::leftovers::Leftovers;
use crate::ring::Ring;
use crate::sync::{Arc, AtomicU64, Ordering, Padded, RawCell, spin_hint, thread};

/// Somebody is posting.
const LOCKED: u64 = 1;
/// Nobody will take any more.
const CLOSED: u64 = 2;
/// The bits above are the number of posts.
const BITS: u32 = 2;

/// After so many looks at an inbox in which another thread is posting, one lets that thread run.
const LOOKS: u32 = 64;

/// The side of the posts. Clones post to the same [`Taker`].
pub struct Inbox<T>(Arc<Shared<T>>);

/// The side that takes.
pub struct Taker<T> {
    shared: Arc<Shared<T>>,
    /// The items below were taken. The same as `shared.taken`, but after a panic of who was given an item.
    taken: u64,
}

/// Why an item was not posted: it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostError<T> {
    /// As many items wait as may.
    Full(T),
    /// The taker is gone.
    Closed(T),
}

/// Invariants:
/// - Who has set [`LOCKED`] is alone in writing the slot of the index that `word` counts to. It finds that slot empty
///   if the index is less than a ring's length above `taken`.
/// - The taker is alone in reading the slots from `taken` up to where `word` counts, which are all full.
struct Shared<T> {
    slots: Ring<RawCell<MaybeUninit<T>>>,
    /// At most so many items wait: no more than there are slots.
    limit: AtomicU64,
    posts: Padded<Posts>,
    /// The items below were taken: written by the taker.
    taken: Padded<AtomicU64>,
}

/// What a post writes.
struct Posts {
    /// How many items were posted, and the flags.
    word: AtomicU64,
    /// There is room for the items below: `taken + limit` as of some time ago. Written under the lock.
    room: AtomicU64,
}

// SAFETY: items move from the thread that posts to the one that takes and are not shared: by the invariants a slot is
// touched by one thread at a time, ordered by `word` and `taken` (release, acquire).
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: it owns its items.
unsafe impl<T: Send> Send for Shared<T> {}

/// Loom takes sequentially consistent accesses for weaker ones: a fence beside them makes up for it.
#[inline]
fn sequential() {
    #[cfg(loom)]
    crate::sync::fence(Ordering::SeqCst);
}

/// An inbox in which up to `capacity` items wait.
///
/// # Panics
/// If `capacity` is 0 or above 2^48.
pub fn inbox<T>(capacity: usize) -> (Inbox<T>, Taker<T>) {
    let shared = Arc::new(Shared {
        slots: Ring::new(capacity, |_| RawCell::new(MaybeUninit::uninit())),
        limit: AtomicU64::new(capacity as u64),
        posts: Padded(Posts { word: AtomicU64::new(0), room: AtomicU64::new(capacity as u64) }),
        taken: Padded(AtomicU64::new(0)),
    });
    (Inbox(Arc::clone(&shared)), Taker { shared, taken: 0 })
}

impl<T> Shared<T> {
    /// How many items wait; one that is just being posted may be missing.
    #[inline]
    fn waiting(&self) -> u64 {
        // In this order: what was taken was posted before.
        let taken = self.taken.load(Ordering::Acquire);
        (self.posts.word.load(Ordering::Acquire) >> BITS) - taken
    }

    /// Waits for the lock. Gives how many items were posted; `None` if the inbox is closed.
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
                return Some(word >> BITS);
            }
            looks += 1;
            if looks.is_multiple_of(LOOKS) {
                thread::yield_now();
            } else {
                spin_hint();
            }
        }
    }

    #[inline]
    fn unlock(&self, posted: u64) {
        let order = if cfg!(mutant = "relaxed_post") { Ordering::Relaxed } else { Ordering::Release };
        self.posts.word.store(posted << BITS, order);
    }
}

impl<T> Inbox<T> {
    /// Posts an item, if there is room. Waits only for other posts that are under way.
    ///
    /// A sequentially consistent load after it, and a sequentially consistent store before [`settle`](Self::settle) and
    /// a look at what waits: one of the two sees what the other thread did. So who is about to sleep says so, settles,
    /// looks, and sleeps; who has posted looks whether anybody has said so.
    ///
    /// # Errors
    /// If there is no room, or if the taker is gone.
    #[inline]
    pub fn post(&self, item: T) -> Result<(), PostError<T>> {
        let Self(shared) = self;
        let Some(posted) = shared.lock() else { return Err(PostError::Closed(item)) };
        let known = &shared.posts.room;
        if posted >= known.load(Ordering::Relaxed) {
            let order = if cfg!(mutant = "relaxed_taken") { Ordering::Relaxed } else { Ordering::Acquire };
            let room = shared.taken.load(order) + shared.limit.load(Ordering::Relaxed);
            known.store(room, Ordering::Relaxed);
            if posted >= room {
                shared.unlock(posted);
                return Err(PostError::Full(item));
            }
        }
        shared.slots.slot(posted).with_mut(|slot| {
            // SAFETY: we hold the lock and `posted` is below `taken + limit`, as this thread or, before its unlock, an
            // earlier holder of the lock has read with acquire: the slot is empty and ours.
            unsafe { (*slot).write(item) };
        });
        shared.unlock(posted + 1);
        Ok(())
    }

    /// How many items wait; one that is just being posted may be missing.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.0.waiting()
    }

    /// How many items were taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Waits for the post that is under way, if there is one.
    pub fn settle(&self) {
        let word = &self.0.posts.word;
        sequential();
        let before = word.load(Ordering::SeqCst);
        if before & LOCKED == 0 || cfg!(mutant = "no_settling_of_posts") {
            return;
        }
        while word.load(Ordering::Acquire) == before {
            // Who posts may want this very processor.
            thread::yield_now();
        }
    }

    /// Whether as many items wait as may. Only looks.
    pub fn is_full(&self) -> bool {
        self.waiting() >= self.0.limit.load(Ordering::Relaxed)
    }

    /// At most `limit` items are to wait, if that is less than were allowed before.
    ///
    /// # Panics
    /// If `limit` is 0, or an item was posted already.
    pub fn narrow(&self, limit: usize) {
        let Self(shared) = self;
        assert!(limit > 0, "an inbox has room for 1 item or more, not 0");
        let posted = shared.lock();
        assert_eq!(posted, Some(0), "an inbox is narrowed before it is used");
        let limit = shared.limit.load(Ordering::Relaxed).min(limit as u64);
        shared.limit.store(limit, Ordering::Relaxed);
        shared.posts.room.store(limit, Ordering::Relaxed);
        shared.unlock(0);
    }
}

impl<T> Clone for Inbox<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Taker<T> {
    /// Takes up to `most` items that wait and calls `f` with one after the other, in the order of the posts. Gives how
    /// many there were. If `f` panics, the items that it was not called with still wait.
    #[inline]
    pub fn take(&mut self, most: usize, mut f: impl FnMut(T)) -> usize {
        let waiting = (self.shared.posts.word.load(Ordering::Acquire) >> BITS) - self.taken;
        let size = waiting.min(most as u64);
        for _ in 0..size {
            let item = self.shared.slots.slot(self.taken).with(|slot| {
                // SAFETY: the slot is full, by the acquire above, and we are the only one who takes; `taken` passes it
                // before anything else happens.
                unsafe { (*slot).assume_init_read() }
            });
            self.taken += 1;
            f(item);
        }
        self.shared.taken.store(self.taken, Ordering::Release);
        size as usize
    }

    /// How many items wait; one that is just being posted may be missing.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.shared.waiting()
    }

    /// No item will be posted any more: who posts gets it back.
    pub fn close(&mut self) {
        if let Some(posted) = self.shared.lock() {
            self.shared.posts.word.store(posted << BITS | CLOSED, Ordering::Release);
        }
    }
}

/// Closes the inbox; what waits is dropped.
impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        self.close();
        let posted = self.shared.posts.word.load(Ordering::Acquire) >> BITS;
        let mut leftovers = Leftovers::default();
        for index in self.taken..posted {
            leftovers.drop(|| {
                self.shared.slots.slot(index).with_mut(|slot| {
                    // SAFETY: the slot is full and nobody else reads it; no post comes any more.
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

impl<T> fmt::Debug for Taker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taker").field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for PostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the inbox has no room just now",
            Self::Closed(_) => "nobody takes from the inbox any more",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for PostError<T> {}

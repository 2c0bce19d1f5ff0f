//! The baton of a serial stage: whoever holds it runs the stage, and nobody waits for it.
//!
//! A baton is a try-lock that remembers who knocked. [`Baton::poke`] either hands the caller the state, or
//! leaves a mark that the holder is bound to see before it lets go. So a thread that has made work for a
//! serial stage pokes, and may then forget about it: either it runs the stage itself, or the holder goes
//! round once more.
//!
//! ```
//! use anabranch_record::Baton;
//!
//! let baton = Baton::new(0);
//! let mut held = baton.poke().expect("nobody holds it yet");
//! *held.state() += 1;
//! assert!(baton.poke().is_none()); // held: this poke is counted
//! let mut held = held.release().expect("somebody poked: go round again");
//! *held.state() += 1;
//! assert!(held.release().is_none()); // nobody poked since: it is free
//! assert_eq!(*baton.poke().unwrap().state(), 2);
//! ```

use std::fmt;

use crate::sync::{Arc, AtomicU64, Ordering, Padded, RawCell, fence};

/// Nobody holds the baton.
const FREE: u64 = 0;
/// The stage will never run again. Pokes are counted below this bit and mean nothing any more.
const CLOSED: u64 = 1 << 63;

/// The order of a poke, and of the subtraction that answers it.
const POKE: Ordering = match () {
    () if cfg!(mutant = "poke_without_acquire") => Ordering::Release,
    () if cfg!(mutant = "poke_without_release") => Ordering::Acquire,
    () => Ordering::AcqRel,
};
const RELEASE: Ordering = match () {
    () if cfg!(mutant = "relaxed_release") => Ordering::Relaxed,
    () if cfg!(mutant = "release_without_acquire") => Ordering::Release,
    () if cfg!(mutant = "release_without_release") => Ordering::Acquire,
    () => Ordering::AcqRel,
};

/// The state of a serial stage, and the word that says who may touch it.
///
/// Invariant: the state is touched by the one thread whose poke found `FREE`, until it sets the word to
/// `FREE` or `CLOSED`. A count of pokes other than 0 means held. 2^63 pokes of one holding are out of reach.
pub struct Baton<S> {
    word: Arc<Word>,
    /// On lines of its own: who holds the baton writes it all the time, while others read what stands beside it.
    state: Padded<RawCell<S>>,
}

/// The word of a [`Baton`] apart from its state: for a thread that only asks whether somebody holds it.
#[derive(Debug)]
pub struct Word(Padded<AtomicU64>);

impl Word {
    /// Whether nobody holds the baton just now. A hint, unless fences make it more.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.0.load(Ordering::Relaxed) == FREE
    }

    /// Whether nobody holds the baton, asked after something was made available without a poke. If somebody
    /// holds it, that thread will see what was made when it looks after [`Held::let_go`].
    #[inline]
    pub fn is_free_after_fence(&self) -> bool {
        #[cfg(not(mutant = "no_fence_in_room_notice"))]
        fence(Ordering::SeqCst);
        self.is_free()
    }

    /// Whether the stage has closed for good.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) >= CLOSED
    }
}

// SAFETY: the state is reached by one thread at a time (the invariant above), which the acquire and release
// of the word order one after the other. So sharing the baton only sends the state from thread to thread.
unsafe impl<S: Send> Sync for Baton<S> {}
// SAFETY: a baton owns its state.
unsafe impl<S: Send> Send for Baton<S> {}

impl<S> fmt::Debug for Baton<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Baton").field("word", &self.word).finish_non_exhaustive()
    }
}

impl<S> Baton<S> {
    /// A free baton over `state`.
    pub fn new(state: S) -> Self {
        Self { word: Arc::new(Word(Padded(AtomicU64::new(FREE)))), state: Padded(RawCell::new(state)) }
    }

    /// Takes the baton, or tells its holder that there is something new. `None` means that the holder will
    /// look again, or that the baton is closed.
    #[inline]
    pub fn poke(&self) -> Option<Held<'_, S>> {
        #[cfg(mutant = "poke_behind_a_hint")]
        if !self.word.is_free() {
            return None;
        }
        // Release: the holder sees what this thread has made. Acquire: the state as the last holder left it.
        (self.word.0.fetch_add(1, POKE) == FREE).then(|| Held { baton: self, seen: 1 })
    }

    /// The word: to ask from outside whether somebody holds the baton.
    pub fn word(&self) -> &Arc<Word> {
        &self.word
    }

    /// The state, once no thread can reach the baton any more.
    pub fn into_state(self) -> S {
        self.state.0.into_inner()
    }
}

/// The right to touch the state of a [`Baton`], held by one thread.
///
/// Dropping it closes the baton: that happens only when a stage is abandoned, and a closed stage is safer
/// than one that runs on from an unknown state. The ordinary ways out are [`release`](Self::release),
/// [`let_go`](Self::let_go) and [`close`](Self::close).
#[must_use = "dropping a held baton closes it"]
pub struct Held<'b, S> {
    baton: &'b Baton<S>,
    /// The pokes, this holder's own among them, that were made before it last looked. At least 1.
    seen: u64,
}

impl<S> fmt::Debug for Held<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl<'b, S> Held<'b, S> {
    /// The state.
    #[inline]
    pub fn state(&mut self) -> &mut S {
        self.baton.state.0.with_mut(|state| {
            // SAFETY: `self` is the one right to the state, and the reference borrows it mutably.
            unsafe { &mut *state }
        })
    }

    /// Lets the baton go if nobody has poked since the holder last looked; otherwise gives it back, and the
    /// holder must look for work again.
    #[inline]
    pub fn release(self) -> Option<Self> {
        let (baton, seen) = self.forget();
        #[cfg(mutant = "release_forgets_pokes")]
        if baton.word.0.swap(FREE, RELEASE) != CLOSED {
            return None;
        }
        let left = baton.word.0.fetch_sub(seen, RELEASE) - seen;
        (left != FREE).then(|| Self { baton, seen: left })
    }

    /// Lets the baton go whatever pokes came, and forgets them. The caller must look for work *after* this
    /// and see to it that somebody does it: the swap makes that look see what the forgotten pokes stood for,
    /// the fence what was made available by threads that only asked [`Word::is_free_after_fence`].
    #[inline]
    pub fn let_go(self) {
        let (baton, _) = self.forget();
        #[cfg(not(mutant = "let_go_by_a_plain_store"))]
        baton.word.0.swap(FREE, Ordering::AcqRel);
        #[cfg(mutant = "let_go_by_a_plain_store")]
        baton.word.0.store(FREE, Ordering::Release);
        #[cfg(not(mutant = "no_fence_in_let_go"))]
        fence(Ordering::SeqCst);
    }

    /// Closes the baton: no poke will ever succeed again.
    pub fn close(self) {
        let (baton, _) = self.forget();
        baton.word.0.swap(CLOSED, Ordering::AcqRel);
    }

    #[inline]
    fn forget(self) -> (&'b Baton<S>, u64) {
        let parts = (self.baton, self.seen);
        std::mem::forget(self);
        parts
    }
}

impl<S> Drop for Held<'_, S> {
    fn drop(&mut self) {
        self.baton.word.0.swap(CLOSED, Ordering::AcqRel);
    }
}

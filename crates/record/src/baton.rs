//! A baton decides which thread runs a serial stage. No thread ever waits for it.
//!
//! A baton is a try-lock that counts the attempts to take it. A thread that has produced work for a serial
//! stage calls [`Baton::try_acquire`]. Either it gets the baton, and with it the state of the stage, or its poke is
//! counted, and the holder must look for work once more before it can release the baton. Either way the work
//! will be seen, so the thread needs to do nothing more about it.
//!
//! ```
//! use anabranch_record::Baton;
//!
//! let baton = Baton::new(0);
//! let mut held = baton.try_acquire().expect("nobody holds it yet");
//! *held.state() += 1;
//! assert!(baton.try_acquire().is_none()); // the baton is held, so this poke is counted
//! let mut held = held.release().expect("another poke was counted: look again");
//! *held.state() += 1;
//! assert!(held.release().is_none()); // no poke since the last look: it is free
//! assert_eq!(*baton.try_acquire().unwrap().state(), 2);
//! ```

use std::fmt;

use crate::mutant::Mutant;
use crate::sync::{Arc, AtomicU64, Ordering, Padded, RawCell, fence};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_FENCE_IN_ROOM_NOTICE: Mutant = Mutant("no_fence_in_room_notice");
const POKE_BEHIND_A_HINT: Mutant = Mutant("poke_behind_a_hint");
const RELEASE_FORGETS_POKES: Mutant = Mutant("release_forgets_pokes");
const LET_GO_BY_A_PLAIN_STORE: Mutant = Mutant("let_go_by_a_plain_store");
const NO_FENCE_IN_LET_GO: Mutant = Mutant("no_fence_in_let_go");
const POKE_WITHOUT_ACQUIRE: Mutant = Mutant("poke_without_acquire");
const POKE_WITHOUT_RELEASE: Mutant = Mutant("poke_without_release");
const RELAXED_RELEASE: Mutant = Mutant("relaxed_release");
const RELEASE_WITHOUT_ACQUIRE: Mutant = Mutant("release_without_acquire");
const RELEASE_WITHOUT_RELEASE: Mutant = Mutant("release_without_release");

/// No thread holds the baton.
const FREE: u64 = 0;
/// The stage will never run again. Pokes are still counted, in the bits below this one, but they have no
/// effect.
const CLOSED: u64 = 1 << 63;

/// The memory ordering of a poke.
#[inline(always)]
fn attempt_order() -> Ordering {
    match () {
        () if POKE_WITHOUT_ACQUIRE.is_on() => Ordering::Release,
        () if POKE_WITHOUT_RELEASE.is_on() => Ordering::Acquire,
        () => Ordering::AcqRel,
    }
}
/// The memory ordering of the subtraction by which a holder tries to release the baton.
#[inline(always)]
fn release_order() -> Ordering {
    match () {
        () if RELAXED_RELEASE.is_on() => Ordering::Relaxed,
        () if RELEASE_WITHOUT_ACQUIRE.is_on() => Ordering::Release,
        () if RELEASE_WITHOUT_RELEASE.is_on() => Ordering::Acquire,
        () => Ordering::AcqRel,
    }
}

/// The state of a serial stage, together with a word that says which thread may touch it.
///
/// Invariant: only the thread whose poke found the word `FREE` touches the state, until it sets the word to
/// `FREE` or `CLOSED`. A word between the two is a count of pokes, and means that the baton is held. The
/// count cannot reach `CLOSED`: that would take 2^63 pokes while one thread holds the baton.
pub struct Baton<S> {
    word: Arc<Word>,
    /// On cache lines of its own. The holder writes the state all the time, and other threads read the fields
    /// next to it.
    state: Padded<RawCell<S>>,
}

/// The word of a [`Baton`], without its state. It serves threads that only ask whether the baton is held.
#[derive(Debug)]
pub struct Word(Padded<AtomicU64>);

impl Word {
    /// Creates the word of a baton that is created later, with [`Baton::with_word`].
    #[allow(clippy::new_ret_no_self)]
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Padded::new(AtomicU64::new(FREE))))
    }

    /// Whether the baton can be taken at this moment: no thread holds it, and it is not closed. Without further fences the
    /// answer is only a hint.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.0.load(Ordering::Relaxed) == FREE
    }

    /// Whether the baton can be taken, for a caller that has just made something available without a poke.
    ///
    /// If the answer is no and a thread holds the baton, the holder will see what was made available when it looks after
    /// [`Held::let_go`].
    #[inline]
    pub fn is_free_after_fence(&self) -> bool {
        if !NO_FENCE_IN_ROOM_NOTICE.is_on() {
            fence(Ordering::SeqCst);
        }
        self.is_free()
    }

    /// Whether the stage has closed for good.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) >= CLOSED
    }
}

// SAFETY: only one thread at a time touches the state (see the invariant of `Baton`), and acquire and release
// operations on the word order these threads. Sharing the baton therefore only sends the state between
// threads.
unsafe impl<S: Send> Sync for Baton<S> {}
// SAFETY: a baton owns its state.
unsafe impl<S: Send> Send for Baton<S> {}

impl<S> fmt::Debug for Baton<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Baton").field("word", &self.word).finish_non_exhaustive()
    }
}

impl<S> Baton<S> {
    /// Creates a free baton that guards `state`.
    pub fn new(state: S) -> Self {
        Self::with_word(Word::new(), state)
    }

    /// Creates a free baton that guards `state`, with a word that other threads may have got before.
    ///
    /// A word must have one baton only. With two, the holder of one would see the pokes of the other.
    pub fn with_word(word: Arc<Word>, state: S) -> Self {
        Self { word, state: Padded::new(RawCell::new(state)) }
    }

    /// Takes the baton, or tells its holder that there is new work.
    ///
    /// `None` means that the holder will look for work again, or that the baton is closed.
    #[inline]
    pub fn try_acquire(&self) -> Option<Held<'_, S>> {
        if POKE_BEHIND_A_HINT.is_on() && !self.word.is_free() {
            return None;
        }
        // Release: the holder sees what this thread has produced. Acquire: this thread sees the state as the
        // last holder left it.
        (self.word.0.fetch_add(1, attempt_order()) == FREE).then(|| Held { baton: self, seen: 1 })
    }

    /// The word of the baton, for threads that only ask whether it is held.
    pub fn word(&self) -> &Arc<Word> {
        &self.word
    }

    /// Consumes the baton and returns its state.
    pub fn into_state(self) -> S {
        self.state.into_inner().into_inner()
    }
}

/// The right to touch the state of a [`Baton`]. One thread has it.
///
/// The ordinary ways to give it up are [`release`](Self::release), [`let_go`](Self::let_go) and
/// [`close`](Self::close). Dropping it closes the baton. This happens only when a thread abandons a stage,
/// for example by a panic. The state of such a stage is unknown, so it must not run again.
#[must_use = "dropping a held baton closes it"]
pub struct Held<'b, S> {
    baton: &'b Baton<S>,
    /// The pokes that were counted when the holder last looked, including its own. At least 1.
    seen: u64,
}

impl<S> fmt::Debug for Held<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl<'b, S> Held<'b, S> {
    /// The state of the stage.
    #[inline]
    pub fn state(&mut self) -> &mut S {
        self.baton.state.with_mut(|state| {
            // SAFETY: `self` is the only right to the state, and the reference borrows `self` mutably.
            unsafe { &mut *state }
        })
    }

    /// Lets the baton go if no thread has poked since the holder last looked. Otherwise it returns the baton,
    /// and the holder must look for work again.
    #[inline]
    pub fn release(self) -> Option<Self> {
        let (baton, seen) = self.forget();
        if RELEASE_FORGETS_POKES.is_on() && baton.word.0.swap(FREE, release_order()) != CLOSED {
            return None;
        }
        let left = baton.word.0.fetch_sub(seen, release_order()) - seen;
        (left != FREE).then(|| Self { baton, seen: left })
    }

    /// Lets the baton go and forgets all pokes.
    ///
    /// The caller must look for work *after* this call, and must make sure that a thread does the work that
    /// it finds. The look sees everything that the forgotten pokes announced, because of the swap. It also
    /// sees everything that was made available by threads that only asked [`Word::is_free_after_fence`],
    /// because of the fence.
    #[inline]
    pub fn let_go(self) {
        let (baton, _) = self.forget();
        if !LET_GO_BY_A_PLAIN_STORE.is_on() {
            baton.word.0.swap(FREE, Ordering::AcqRel);
        }
        if LET_GO_BY_A_PLAIN_STORE.is_on() {
            baton.word.0.store(FREE, Ordering::Release);
        }
        if !NO_FENCE_IN_LET_GO.is_on() {
            fence(Ordering::SeqCst);
        }
    }

    /// Closes the baton: no later poke succeeds.
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

//! The state that the views of a record share, and the lock that guards how the window moves.
//!
//! Slots below `limit` may be written. Only the holder of the lock raises `limit`, to `floor + span`. Every
//! index below `floor` is committed and released, and `span` is the widest write view plus the widest read
//! view. Views read and write their own indices without the lock. A writer takes the lock once it has used up
//! the slots below `limit` and more have become free. The holder of the lock therefore knows two things:
//!
//! - No view may write an index from `limit` on. The holder may give these indices to a wider ring.
//! - No slot from `floor` on is overwritten before the lock is free. The holder may read committed slots.

use super::{
    generation::Generation,
    side::{IDLE, Side},
};
use crate::record::{Closed, INDEX_LIMIT, RegisterError, wait::wake_sleepers};
use anabranch_record::mutant::Mutant;
use anabranch_record::{
    EventCount,
    sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering, Padded, fence, lock},
};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_FENCE_IN_WAKE_BOTH: Mutant = Mutant("no_fence_in_wake_both");
const RELAXED_LIMIT: Mutant = Mutant("relaxed_limit");

/// One of the two sides of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Writers,
    Readers,
}

/// A horizon as the record counts it.
///
/// # Panics
/// If it is 0 or above 2^32.
pub(super) fn checked(horizon: usize) -> u64 {
    assert!(horizon > 0 && horizon as u64 <= 1 << 32, "a horizon must be 1 to 2^32, not {horizon}");
    horizon as u64
}

/// The position at which a view, or its successor, continues.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    /// The first index that the view has not committed (or released).
    pub(super) next: u64,
    /// The end of the view's claim, or `next` if it has no claim. Not used on sides without tickets.
    pub(super) end: u64,
    /// The cell that tells how far the claim has got: the view's own cell, or that of a view that has
    /// ended.
    pub(super) cell: usize,
}

/// The state of an id.
enum IdState {
    /// No view has registered with it yet.
    Vacant,
    /// A view is connected.
    Held,
    /// The view left, and its successor will continue here.
    Left(Cursor),
    /// The id has ended for good.
    Gone,
}

/// The state of one side that the lock guards.
struct Register {
    states: Vec<IdState>,
    /// The claims of views that have ended.
    left: Vec<Cursor>,
    /// The widest horizon of any view that has ever connected.
    widest: u64,
}

/// Everything that the lock guards.
pub(super) struct Control<T> {
    writers: Register,
    readers: Register,
    /// How many ids have had no view yet. Items flow once this is 0.
    vacant: usize,
    /// How many `Record` handles exist. They may still register views.
    handles: usize,
    /// Every index below this one is released by all readers. `limit` is at most `floor + span`, and at most
    /// `INDEX_LIMIT`.
    pub(super) floor: u64,
    /// The generation that serves `floor`.
    pub(super) oldest: Arc<Generation<T>>,
    newest: Arc<Generation<T>>,
}

impl<T> Control<T> {
    fn register(&mut self, which: Which) -> &mut Register {
        match which {
            Which::Writers => &mut self.writers,
            Which::Readers => &mut self.readers,
        }
    }
}

/// The shared state of a record.
pub(super) struct Core<T> {
    pub(super) writers: Side,
    pub(super) readers: Side,
    /// Slots of indices below this one may be written. It rises under the lock and is stored with Release: a
    /// writer that loads it with Acquire sees what every reader did before it released.
    limit: Padded<AtomicU64>,
    /// How many items the record may hold. 0 until every view has registered. It rises under the lock.
    span: AtomicU64,
    control: Mutex<Control<T>>,
    /// Readers wait here.
    pub(super) items: EventCount,
    /// Writers wait here.
    pub(super) room: EventCount,
    /// Whether the span is the widest horizon of any view, and not the sum of the widest of each side.
    is_bounded: bool,
}

impl<T> Core<T> {
    pub(super) fn new(writers: Side, readers: Side) -> Self {
        Self::on(writers, readers, EventCount::new(), EventCount::new(), false)
    }

    /// Creates the core of a record that waits on these event counts. If it `is_bounded`, its span is the
    /// widest horizon of any view.
    pub(super) fn on(
        writers: Side,
        readers: Side,
        items: EventCount,
        room: EventCount,
        is_bounded: bool,
    ) -> Self {
        let register = |side: &Side| Register {
            states: side.cells.iter().map(|_| IdState::Vacant).collect(),
            left: Vec::new(),
            widest: 0,
        };
        let empty = Generation::new(0, 0);
        let control = Control {
            writers: register(&writers),
            readers: register(&readers),
            vacant: writers.cells.len() + readers.cells.len(),
            handles: 1,
            floor: 0,
            oldest: Arc::clone(&empty),
            newest: empty,
        };
        Self {
            writers,
            readers,
            limit: Padded::new(AtomicU64::new(0)),
            span: AtomicU64::new(0),
            control: Mutex::new(control),
            items,
            room,
            is_bounded,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Control<T>> {
        lock(&self.control)
    }

    pub(super) fn side(&self, which: Which) -> &Side {
        match which {
            Which::Writers => &self.writers,
            Which::Readers => &self.readers,
        }
    }

    pub(super) fn span(&self) -> u64 {
        self.span.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.readers.alive.load(Ordering::Acquire) == 0
    }

    /// Wakes every waiting thread. The change may be what any of them waits for.
    pub(super) fn wake_both(&self) {
        if !NO_FENCE_IN_WAKE_BOTH.is_on() {
            fence(Ordering::SeqCst);
        }
        wake_sleepers(&self.items);
        wake_sleepers(&self.room);
    }

    /// Returns the limit if `end` is not above it, after raising it if necessary. Returns `None` if the
    /// caller has to wait.
    pub(super) fn room(&self, end: u64) -> Option<Result<u64, Closed>> {
        assert!(end <= INDEX_LIMIT, "the index limit of 2^63 items is reached");
        if self.is_closed() {
            return Some(Err(Closed));
        }
        let limit = self.limit.load(Ordering::Acquire);
        if end <= limit {
            return Some(Ok(limit));
        }
        // This look takes no lock, so a waiting thread takes none. A `span` of 0 is never enough.
        if self.low().saturating_add(self.span()) < end {
            // A writer past the end of the stream would wait for ever.
            let is_over = self.is_bounded && self.writers.low_and_final().1;
            return is_over.then_some(Err(Closed));
        }
        let limit = self.raise();
        (end <= limit).then_some(Ok(limit))
    }

    /// Every index below this one is released and was committed. Both must be checked: the release index of a
    /// reader may be above indices that belong to other views and are not committed yet.
    pub(super) fn low(&self) -> u64 {
        self.readers.low().min(self.writers.low())
    }

    fn raise(&self) -> u64 {
        let mut passed = Vec::new();
        let mut control = self.lock();
        control.floor = control.floor.max(self.low());
        let limit = (control.floor + self.span()).min(INDEX_LIMIT).max(self.limit.load(Ordering::Relaxed));
        let order = if RELAXED_LIMIT.is_on() { Ordering::Relaxed } else { Ordering::Release };
        self.limit.store(limit, order);
        while let Some(newer) = control.oldest.after(control.floor).cloned() {
            passed.push(std::mem::replace(&mut control.oldest, newer));
        }
        drop(control);
        // Dropping a generation may drop items, which runs the user's code. That must not happen under the
        // lock.
        drop(passed);
        limit
    }

    /// Opens the record, or makes it grow, if every view has registered and it is too small.
    fn fit(&self, control: &mut Control<T>) {
        let (write, read) = (control.writers.widest, control.readers.widest);
        let span = if self.is_bounded { write.max(read) } else { write + read };
        if control.vacant > 0 || span <= self.span() {
            return;
        }
        let newer = Generation::new(self.limit.load(Ordering::Relaxed), span);
        // SAFETY: the lock is held, and no view may write an index from `limit` on. `newest` becomes `newer`,
        // so this is done once for each generation.
        unsafe { control.newest.grow_into(Arc::clone(&newer)) };
        control.newest = newer;
        self.span.store(span, Ordering::Release);
    }

    /// Registers a view and returns where it continues.
    pub(super) fn connect(
        &self,
        which: Which,
        id: usize,
        horizon: u64,
        first: impl FnOnce() -> u64,
    ) -> Result<(Cursor, Arc<Generation<T>>), RegisterError> {
        let mut control = self.lock();
        let register = control.register(which);
        let views = register.states.len();
        let state = register.states.get_mut(id).ok_or(RegisterError::NoSuchId { id, views })?;
        let (cursor, newcomer) = match *state {
            IdState::Vacant => {
                let next = first();
                (Cursor { next, end: next, cell: id }, true)
            }
            IdState::Left(cursor) => (cursor, false),
            IdState::Held => return Err(RegisterError::Taken { id }),
            IdState::Gone => return Err(RegisterError::Ended { id }),
        };
        *state = IdState::Held;
        register.widest = register.widest.max(horizon);
        control.vacant -= usize::from(newcomer);
        self.fit(&mut control);
        let generation = Arc::clone(&control.oldest);
        drop(control);
        self.wake_both();
        Ok((cursor, generation))
    }

    /// Makes room for a view with this horizon.
    pub(super) fn widen(&self, which: Which, horizon: u64) {
        let mut control = self.lock();
        let register = control.register(which);
        register.widest = register.widest.max(horizon);
        self.fit(&mut control);
        drop(control);
        self.wake_both();
    }

    /// Disconnects a view. Its id waits for a successor if one can still register, and ends for good
    /// otherwise.
    pub(super) fn disconnect(&self, which: Which, id: usize, cursor: Cursor, for_successor: bool) {
        let mut control = self.lock();
        if for_successor && control.handles > 0 {
            control.register(which).states[id] = IdState::Left(cursor);
        } else {
            self.end(&mut control, which, id, cursor);
        }
        drop(control);
        self.wake_both();
    }

    fn end(&self, control: &mut Control<T>, which: Which, id: usize, cursor: Cursor) {
        let side = self.side(which);
        let register = control.register(which);
        register.states[id] = IdState::Gone;
        if side.tickets {
            if cursor.next < cursor.end {
                register.left.push(cursor);
                side.left.fetch_add(1, Ordering::AcqRel);
            }
        } else if which == Which::Readers {
            side.cells[id].at.store(IDLE, Ordering::Release);
        }
        side.cells[id].gone.store(true, Ordering::Release);
        side.alive.fetch_sub(1, Ordering::AcqRel);
    }

    /// Hands over the claim of a view that has ended. It comes with the oldest generation, because the new
    /// owner's own may be past the claim.
    pub(super) fn adopt(&self, which: Which) -> Option<(Cursor, Arc<Generation<T>>)> {
        let side = self.side(which);
        if side.left.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut control = self.lock();
        let cursor = control.register(which).left.pop()?;
        side.left.fetch_sub(1, Ordering::AcqRel);
        Some((cursor, Arc::clone(&control.oldest)))
    }

    pub(super) fn add_handle(&self) {
        self.lock().handles += 1;
    }

    /// When no handle is left, no view can register any more. Ids that wait for a view end here.
    pub(super) fn remove_handle(&self, first: impl Fn(Which, usize) -> u64) {
        let mut control = self.lock();
        control.handles -= 1;
        if control.handles > 0 {
            return;
        }
        for which in [Which::Writers, Which::Readers] {
            for id in 0..control.register(which).states.len() {
                match control.register(which).states[id] {
                    IdState::Vacant => {
                        let next = first(which, id);
                        self.end(&mut control, which, id, Cursor { next, end: next, cell: id });
                        control.vacant -= 1;
                    }
                    IdState::Left(cursor) => self.end(&mut control, which, id, cursor),
                    IdState::Held | IdState::Gone => {}
                }
            }
        }
        self.fit(&mut control);
        drop(control);
        self.wake_both();
    }
}

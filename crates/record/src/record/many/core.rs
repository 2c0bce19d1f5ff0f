//! What the views of a record share, and the lock that guards its edges.
//!
//! The window moves by `limit`: slots below it may be written. Only the holder of the lock raises it, to
//! `floor + span`, where all indices below `floor` are released (and committed), and `span` is the widest
//! write view plus the widest read view. Views read and write indices of their own without the lock; a
//! writer takes it once it has used up what was granted and there is more. So whoever holds the lock knows
//!
//! - that no index from `limit` on was ever granted: it may give them to a wider ring;
//! - that no slot from `floor` on is written over before it lets go: it may look at committed ones.

use super::{
    generation::Generation,
    side::{IDLE, Side},
};
use crate::{
    EventCount,
    record::{Closed, LAST, RegisterError, wait::wake_sleepers},
    sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering, Padded, fence, lock},
};

/// Which side of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Writers,
    Readers,
}

/// Where a view goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The first index that it has not committed (released).
    pub(super) next: u64,
    /// The end of its claim: `next` if it has none. Not used on sides without tickets.
    pub(super) end: u64,
    /// Which seat's cell says how far the claim has got: its own, or that of an ended view.
    pub(super) cell: usize,
}

/// What became of an id.
enum State {
    /// Nobody has registered with it.
    Vacant,
    /// A view is connected.
    Held,
    /// The view left; its successor goes on here.
    Left(Place),
    /// Ended for good.
    Gone,
}

/// One side's part of what the lock guards.
struct Register {
    states: Vec<State>,
    /// Claims of ended views.
    left: Vec<Place>,
    /// The widest horizon that ever connected.
    widest: u64,
}

/// What the lock guards.
pub(super) struct Control<T> {
    writers: Register,
    readers: Register,
    /// How many ids nobody has registered with: items flow when there are none.
    vacant: usize,
    /// How many `Record`s may still register views.
    handles: usize,
    /// Every index below is released by all readers; `limit <= floor + span` (and `LAST`).
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

/// The shared part of a record.
pub(super) struct Core<T> {
    pub(super) writers: Side,
    pub(super) readers: Side,
    /// Slots of indices below may be written. Rises under the lock; stored with Release, so that a writer that
    /// loads it with Acquire has what every reader did before it released.
    limit: Padded<AtomicU64>,
    /// How many items the record may hold; 0 until all views have registered. Rises under the lock.
    span: AtomicU64,
    control: Mutex<Control<T>>,
    /// Readers wait here.
    pub(super) items: EventCount,
    /// Writers wait here.
    pub(super) room: EventCount,
}

impl<T> Core<T> {
    pub(super) fn new(writers: Side, readers: Side) -> Self {
        let register = |side: &Side| Register {
            states: side.seats.iter().map(|_| State::Vacant).collect(),
            left: Vec::new(),
            widest: 0,
        };
        let empty = Generation::new(0, 0);
        let control = Control {
            writers: register(&writers),
            readers: register(&readers),
            vacant: writers.seats.len() + readers.seats.len(),
            handles: 1,
            floor: 0,
            oldest: Arc::clone(&empty),
            newest: empty,
        };
        Self {
            writers,
            readers,
            limit: Padded(AtomicU64::new(0)),
            span: AtomicU64::new(0),
            control: Mutex::new(control),
            items: EventCount::new(),
            room: EventCount::new(),
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

    /// Wakes everybody: what changed may be what anybody waits for.
    pub(super) fn wake_both(&self) {
        #[cfg(not(mutant = "no_fence_in_wake_both"))]
        fence(Ordering::SeqCst);
        wake_sleepers(&self.items);
        wake_sleepers(&self.room);
    }

    /// The limit, if `end` may be written up to, raised if it must be; none if that has to be waited for.
    pub(super) fn room(&self, end: u64) -> Option<Result<u64, Closed>> {
        assert!(end <= LAST, "the index limit of 2^63 items is reached");
        if self.is_closed() {
            return Some(Err(Closed));
        }
        let limit = self.limit.load(Ordering::Acquire);
        if end <= limit {
            return Some(Ok(limit));
        }
        // A look without the lock, so that waiting takes no lock. `span` 0 is never enough.
        if self.low().saturating_add(self.span()) < end {
            return None;
        }
        let limit = self.raise();
        (end <= limit).then_some(Ok(limit))
    }

    /// Every index below is released, and was committed: a dealt reader's release index may lie above indices
    /// that are not its own and were not committed yet.
    fn low(&self) -> u64 {
        self.readers.low().min(self.writers.low())
    }

    fn raise(&self) -> u64 {
        let mut passed = Vec::new();
        let mut control = self.lock();
        control.floor = control.floor.max(self.low());
        let limit = (control.floor + self.span()).min(LAST).max(self.limit.load(Ordering::Relaxed));
        let order = if cfg!(mutant = "relaxed_limit") { Ordering::Relaxed } else { Ordering::Release };
        self.limit.store(limit, order);
        while let Some(newer) = control.oldest.after(control.floor).cloned() {
            passed.push(std::mem::replace(&mut control.oldest, newer));
        }
        drop(control);
        // Dropping a generation may drop items, which is the user's code: not under the lock.
        drop(passed);
        limit
    }

    /// Opens the record, or makes it grow, if all views are there and it is too small.
    fn fit(&self, control: &mut Control<T>) {
        let span = control.writers.widest + control.readers.widest;
        if control.vacant > 0 || span <= self.span() {
            return;
        }
        let newer = Generation::new(self.limit.load(Ordering::Relaxed), span);
        // SAFETY: under the lock; no index from `limit` on was granted, and `newest` becomes `newer`, so this
        // is done once a generation.
        unsafe { control.newest.grow_into(Arc::clone(&newer)) };
        control.newest = newer;
        self.span.store(span, Ordering::Release);
    }

    /// Registers a view.
    pub(super) fn connect(
        &self,
        which: Which,
        id: usize,
        horizon: u64,
        first: impl FnOnce() -> u64,
    ) -> Result<(Place, Arc<Generation<T>>), RegisterError> {
        let mut control = self.lock();
        let register = control.register(which);
        let views = register.states.len();
        let state = register.states.get_mut(id).ok_or(RegisterError::NoSuchId { id, views })?;
        let (place, newcomer) = match *state {
            State::Vacant => {
                let next = first();
                (Place { next, end: next, cell: id }, true)
            }
            State::Left(place) => (place, false),
            State::Held => return Err(RegisterError::Taken { id }),
            State::Gone => return Err(RegisterError::Ended { id }),
        };
        *state = State::Held;
        register.widest = register.widest.max(horizon);
        control.vacant -= usize::from(newcomer);
        self.fit(&mut control);
        let generation = Arc::clone(&control.oldest);
        drop(control);
        self.wake_both();
        Ok((place, generation))
    }

    /// Makes room for a view of this horizon.
    pub(super) fn widen(&self, which: Which, horizon: u64) {
        let mut control = self.lock();
        let register = control.register(which);
        register.widest = register.widest.max(horizon);
        self.fit(&mut control);
        drop(control);
        self.wake_both();
    }

    /// Disconnects a view: for a successor, if there may be one, or for good.
    pub(super) fn disconnect(&self, which: Which, id: usize, place: Place, for_successor: bool) {
        let mut control = self.lock();
        if for_successor && control.handles > 0 {
            control.register(which).states[id] = State::Left(place);
        } else {
            self.end(&mut control, which, id, place);
        }
        drop(control);
        self.wake_both();
    }

    fn end(&self, control: &mut Control<T>, which: Which, id: usize, place: Place) {
        let side = self.side(which);
        let register = control.register(which);
        register.states[id] = State::Gone;
        if side.tickets {
            if place.next < place.end {
                register.left.push(place);
                side.left.fetch_add(1, Ordering::AcqRel);
            }
        } else if which == Which::Readers {
            side.seats[id].at.store(IDLE, Ordering::Release);
        }
        side.seats[id].gone.store(true, Ordering::Release);
        side.alive.fetch_sub(1, Ordering::AcqRel);
    }

    /// Gives the claim of an ended view away, with a generation to find it from: the new owner's own may be past it.
    pub(super) fn adopt(&self, which: Which) -> Option<(Place, Arc<Generation<T>>)> {
        let side = self.side(which);
        if side.left.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut control = self.lock();
        let place = control.register(which).left.pop()?;
        side.left.fetch_sub(1, Ordering::AcqRel);
        Some((place, Arc::clone(&control.oldest)))
    }

    pub(super) fn add_handle(&self) {
        self.lock().handles += 1;
    }

    /// Once nobody can register any more, ids that wait for a view have ended.
    pub(super) fn remove_handle(&self, first: impl Fn(Which, usize) -> u64) {
        let mut control = self.lock();
        control.handles -= 1;
        if control.handles > 0 {
            return;
        }
        for which in [Which::Writers, Which::Readers] {
            for id in 0..control.register(which).states.len() {
                match control.register(which).states[id] {
                    State::Vacant => {
                        let next = first(which, id);
                        self.end(&mut control, which, id, Place { next, end: next, cell: id });
                        control.vacant -= 1;
                    }
                    State::Left(place) => self.end(&mut control, which, id, place),
                    State::Held | State::Gone => {}
                }
            }
        }
        self.fit(&mut control);
        drop(control);
        self.wake_both();
    }
}

//! The process or rule for which a thread acts.

use std::cell::{Cell, RefCell};

use anabranch_record::sync::Arc;

use super::{hub::Hub, process::Process, records::Closing};

/// The process that runs on a thread, and its network.
#[derive(Clone)]
struct Handle {
    process: Arc<Process>,
    hub: Arc<Hub>,
}

#[cfg(not(shuttle))]
std::thread_local! {
    /// The id of the process whose thread this is. 0 if it is not the thread of a process.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    static HANDLE: RefCell<Option<Handle>> = const { RefCell::new(None) };
    /// The process or rule that counts as the one that drops views on this thread: the address of its hub,
    /// and its index.
    static ACTING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

#[cfg(shuttle)]
anabranch_record::sync::thread_local! {
    static CURRENT: Cell<u64> = Cell::new(0);
    static HANDLE: RefCell<Option<Handle>> = RefCell::new(None);
    static ACTING: Cell<(usize, usize)> = Cell::new((0, 0));
}

/// The id of the process whose thread this is. 0 if it is not the thread of a process.
#[inline]
pub(super) fn current() -> u64 {
    CURRENT.with(Cell::get)
}

/// The process whose thread this is, and the hub of its network.
pub(super) fn current_process() -> Option<(Arc<Process>, Arc<Hub>)> {
    HANDLE.with(|handle| handle.borrow().clone()).map(|handle| (handle.process, handle.hub))
}

/// The reason to note for a view of the network of `hub` that is dropped on this thread.
pub(super) fn closing_by(hub: &Hub) -> Closing {
    // A view may be dropped with the thread-local variables of a thread, when `ACTING` is gone already.
    let acting = ACTING.try_with(Cell::get).unwrap_or((0, 0));
    if acting.0 == std::ptr::from_ref(hub).addr() { Closing::Process(acting.1) } else { Closing::Outside }
}

/// A guard that restores the thread-local variables as they were before [`Role::play`] or [`Role::none`].
pub(super) struct Role {
    current: u64,
    handle: Option<Handle>,
    acting: (usize, usize),
}

impl Role {
    /// Makes the calling thread the thread of the process, until the role is dropped.
    pub(super) fn play(process: &Arc<Process>, hub: &Arc<Hub>) -> Self {
        process.actor().make_bed();
        let handle = Handle { process: Arc::clone(process), hub: Arc::clone(hub) };
        Self::set(process.id, Some(handle), (Arc::as_ptr(hub).addr(), process.index))
    }

    /// Makes the calling thread the thread of no process, until the role is dropped.
    pub(super) fn none() -> Self {
        Self::set(0, None, (0, 0))
    }

    /// Notes that the calling thread fires the rule with this index: views that it drops count as dropped by the rule.
    pub(super) fn act(index: usize, hub: &Hub) {
        ACTING.with(|acting| acting.set((std::ptr::from_ref(hub).addr(), index)));
    }

    fn set(current: u64, handle: Option<Handle>, acting: (usize, usize)) -> Self {
        Self {
            current: CURRENT.with(|cell| cell.replace(current)),
            handle: HANDLE.with(|cell| cell.replace(handle)),
            acting: ACTING.with(|cell| cell.replace(acting)),
        }
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        CURRENT.with(|cell| cell.set(self.current));
        HANDLE.with(|cell| *cell.borrow_mut() = self.handle.take());
        ACTING.with(|cell| cell.set(self.acting));
    }
}

//! The process or rule for which a thread acts.

use std::cell::{Cell, RefCell};

use anabranch_record::sync::Arc;

use super::{process::Process, records::Closing, state::NetworkState};

/// The process that runs on a thread, and its network.
#[derive(Clone)]
struct Handle {
    process: Arc<Process>,
    network: Arc<NetworkState>,
}

#[cfg(not(shuttle))]
std::thread_local! {
    /// The id of the process whose thread this is. 0 if it is not the thread of a process.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    static HANDLE: RefCell<Option<Handle>> = const { RefCell::new(None) };
    static ACTING: Cell<Acting> = const { Cell::new(Acting::NOBODY) };
}

#[cfg(shuttle)]
anabranch_record::sync::thread_local! {
    static CURRENT: Cell<u64> = Cell::new(0);
    static HANDLE: RefCell<Option<Handle>> = RefCell::new(None);
    static ACTING: Cell<Acting> = Cell::new(Acting::NOBODY);
}

/// The process or rule that drops the views that a thread drops.
#[derive(Clone, Copy)]
struct Acting {
    /// The address of the state of its network.
    network: usize,
    /// The index of the process or rule.
    process: usize,
    /// The reason to note for the views.
    closing: Closing,
}

impl Acting {
    const NOBODY: Self = Self { network: 0, process: 0, closing: Closing::Outside };

    fn by(process: usize, network: &NetworkState, closing: Closing) -> Self {
        Self { network: std::ptr::from_ref(network).addr(), process, closing }
    }

    /// The one that acts on this thread in `network`.
    fn of(network: &NetworkState) -> Option<Self> {
        // A view may be dropped with the thread-local variables of a thread, when `ACTING` is gone already.
        let acting = ACTING.try_with(Cell::get).unwrap_or(Self::NOBODY);
        (acting.network == std::ptr::from_ref(network).addr()).then_some(acting)
    }
}

/// The id of the process whose thread this is. 0 if it is not the thread of a process.
#[inline]
pub(super) fn current() -> u64 {
    CURRENT.with(Cell::get)
}

/// The process whose thread this is, and the state of its network.
pub(super) fn current_process() -> Option<(Arc<Process>, Arc<NetworkState>)> {
    HANDLE.with(|handle| handle.borrow().clone()).map(|handle| (handle.process, handle.network))
}

/// The reason to note for a view of `network` that is dropped on this thread.
pub(super) fn closing_by(network: &NetworkState) -> Closing {
    Acting::of(network).map_or(Closing::Outside, |acting| acting.closing)
}

/// The index of the process or rule of `network` for which this thread acts.
pub(super) fn acting(network: &NetworkState) -> Option<usize> {
    Acting::of(network).map(|acting| acting.process)
}

/// Closes every view to the process or rule for which this thread acts, because it has found out that the network ends.
pub(super) fn stop(process: &Process, network: &NetworkState) {
    // No process has the id 0, so each use of a view looks whether the process may use it.
    CURRENT.with(|cell| cell.set(0));
    ACTING.with(|acting| acting.set(Acting::by(process.index, network, Closing::Ending)));
}

/// A guard that restores the thread-local variables as they were before [`Role::play`] or [`Role::none`].
pub(super) struct Role {
    current: u64,
    handle: Option<Handle>,
    acting: Acting,
}

impl Role {
    /// Makes the calling thread the thread of the process, until the role is dropped.
    pub(super) fn play(process: &Arc<Process>, network: &Arc<NetworkState>) -> Self {
        process.actor().prepare_to_park();
        let handle = Handle { process: Arc::clone(process), network: Arc::clone(network) };
        let id = if process.is_over() { 0 } else { process.id };
        Self::set(id, Some(handle), Acting::by(process.index, network, process.closing()))
    }

    /// Makes the calling thread the thread of no process, until the role is dropped.
    pub(super) fn none() -> Self {
        Self::set(0, None, Acting::NOBODY)
    }

    /// Notes that the calling thread fires the rule with this index: views that it drops count as dropped by the rule.
    #[inline]
    pub(super) fn act(index: usize, network: &NetworkState) {
        ACTING.with(|acting| acting.set(Acting::by(index, network, Closing::Process(index))));
    }

    fn set(current: u64, handle: Option<Handle>, acting: Acting) -> Self {
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

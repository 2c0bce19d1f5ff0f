//! The common part of writers and readers: the process that a view belongs to, and whether the view is
//! closed.

use std::cell::{OnceCell, RefCell};

use crate::record::{Closed, Sleep};
use anabranch_record::sync::{Arc, lock};

use super::{
    process::Process,
    records::{Closing, RecordInfo, Side, ViewInfo, Wait},
    role,
    sleeper::Sleeper,
    state::NetworkState,
    wait_list::{WaitList, Waiter},
};

/// The id of no process.
const NOBODY: u64 = u64::MAX;

pub(super) struct ViewHandle {
    /// The id of the process that owns the view. This process uses the view without further checks.
    owner: u64,
    /// The id of the process that was last added to the wait list.
    added: u64,
    pub(super) info: Arc<ViewInfo>,
    pub(super) record: Arc<RecordInfo>,
    pub(super) network: Arc<NetworkState>,
    /// The list in which the view's process waits.
    pub(super) wait_list: Arc<WaitList>,
    /// The length of the ranges that are dealt to the view. `None` if it is the only view on its side.
    pub(super) range: Option<usize>,
}

impl ViewHandle {
    pub(super) fn new(
        info: Arc<ViewInfo>,
        record: &Arc<RecordInfo>,
        network: &Arc<NetworkState>,
        wait_list: &Arc<WaitList>,
        range: Option<usize>,
    ) -> Self {
        lock(record.views(info.side)).push(Arc::clone(&info));
        Self {
            owner: NOBODY,
            added: NOBODY,
            info,
            record: Arc::clone(record),
            network: Arc::clone(network),
            wait_list: Arc::clone(wait_list),
            range,
        }
    }

    fn side(&self) -> Side {
        self.info.side
    }

    /// Makes the view belong to the current process, if it belongs to no process. To be called before each
    /// use.
    #[inline]
    pub(super) fn enter(&mut self) -> Result<(), Closed> {
        if role::current() == self.owner { Ok(()) } else { self.enter_slowly() }
    }

    #[cold]
    fn enter_slowly(&mut self) -> Result<(), Closed> {
        let current = role::current_process();
        if let Some((process, network)) = &current {
            assert!(
                Arc::ptr_eq(network, &self.network),
                "process \"{}\" uses {}, which belongs to another network: make the record in the network \
                 whose processes use it",
                process.name,
                self.record.title(),
            );
        }
        if let Some(closing) = self.info.closing() {
            if let Some((process, network)) = &current {
                if closing == Closing::Forgotten {
                    self.info.set_owner(Some(process.index));
                    network.is_deadlock_after_all();
                }
                process.notice_own(closing);
                self.stop_if_over(process);
            }
            return Err(Closed);
        }
        if self.network.is_over() || current.as_ref().is_some_and(|(process, _)| process.is_over()) {
            return Err(Closed);
        }
        if let Some((process, _)) = &current
            && self.info.owner().is_none()
        {
            self.give_to(process);
            self.owner = process.id;
        }
        Ok(())
    }

    /// Makes the view belong to the process, which closes it when it ends.
    pub(super) fn give_to(&self, process: &Process) {
        self.info.set_owner(Some(process.index));
        lock(&process.views).push(self.info.index);
    }

    /// Makes the view belong to no process, and so to the process that uses it next.
    pub(super) fn hand_over(&mut self) {
        if let Some(owner) = self.info.owner()
            && let Some(process) = lock(&self.network.processes).get(owner).cloned()
        {
            let mut views = lock(&process.views);
            if let Some(at) = views.iter().position(|&view| view == self.info.index) {
                views.swap_remove(at);
                self.info.set_owner(None);
            }
        }
        self.owner = NOBODY;
    }

    /// Prepares the current process for a wait for `count` items or slots.
    ///
    /// # Panics
    /// If the calling thread is not the thread of a process.
    #[cold]
    pub(super) fn sleeper(&mut self, count: usize) -> Sleeper {
        let Some((process, network)) = role::current_process() else {
            let what = match self.side() {
                Side::Writers => "room",
                Side::Readers => "items",
            };
            panic!(
                "a thread outside of a process waits for {what} in {}, which only a process may do: use the \
                 view in a process of its network, and give a firing rule its views as ports",
                self.record.title(),
            );
        };
        if self.added != process.id {
            self.wait_list.add(Waiter::Actor(Arc::clone(process.actor())));
            self.added = process.id;
        }
        let wait = Wait { record: Arc::clone(&self.record), view: self.info.index, side: self.side(), count };
        Sleeper { process, network, wait }
    }

    /// Notes that the current process has found the other side closed.
    #[cold]
    pub(super) fn notice(&self) {
        if let Some((process, network)) = role::current_process() {
            process.notice(&network, &self.record, self.side().other());
            self.stop_if_over(&process);
        }
    }

    /// Closes every view to the current process if it has found out that the network ends.
    fn stop_if_over(&self, process: &Process) {
        if process.is_over() {
            role::stop(process, &self.network);
        }
    }

    /// Ends the network, because the current process asks for more items than the record may ever hold.
    #[cold]
    pub(super) fn too_wide(&self, count: usize) {
        let process = role::current_process();
        let name = process.as_ref().map_or("a caller outside of the network", |(process, _)| &process.name);
        let what = match self.side() {
            Side::Writers => "room for",
            Side::Readers => "a view of",
        };
        self.network.misuse(format!(
            "process \"{name}\" asks for {what} {count} items at once, but {} has a horizon of {}: make the \
             record with a horizon of {count} or more",
            self.record.title(),
            self.record.most,
        ));
        if let Some((process, _)) = &process {
            process.notice_own(Closing::Ending);
            self.stop_if_over(process);
        }
    }
}

impl Drop for ViewHandle {
    fn drop(&mut self) {
        if self.info.closing() == Some(Closing::Forgotten) {
            // The process has held the view all the time, so the view was not forgotten.
            if let Some(process) = role::acting(&self.network) {
                self.info.set_owner(Some(process));
                self.network.is_deadlock_after_all();
            }
        } else {
            self.info.close(role::closing_by(&self.network));
        }
    }
}

/// Lets the current process sleep. Its [`Sleeper`] is created on first use.
pub(super) struct Lazy<'a> {
    handle: RefCell<&'a mut ViewHandle>,
    /// How many items or slots the process waits for.
    count: usize,
    sleeper: OnceCell<Sleeper>,
}

impl<'a> Lazy<'a> {
    pub(super) fn new(handle: &'a mut ViewHandle, count: usize) -> Self {
        Self { handle: RefCell::new(handle), count, sleeper: OnceCell::new() }
    }

    fn sleeper(&self) -> &Sleeper {
        self.sleeper.get_or_init(|| self.handle.borrow_mut().sleeper(self.count))
    }

    /// Notes that the other side was found closed.
    pub(super) fn notice(&self) {
        self.handle.borrow().notice();
    }
}

impl Sleep for Lazy<'_> {
    fn prepare(&self) {
        self.sleeper().prepare();
    }

    fn cancel(&self) {
        self.sleeper().cancel();
    }

    fn sleep(&self) -> bool {
        self.sleeper().sleep()
    }
}

/// The methods of views of both directions, which have the fields `handle` and `port`.
macro_rules! view {
    ([$($generics:tt)*] $view:ty) => {
        impl<$($generics)*> $view {
            /// Widens the record to `n` items, if it may grow so far. Returns whether it may.
            fn widen(&mut self, n: usize) -> bool {
                let fits = n <= self.handle.record.most;
                if fits {
                    self.port.widen(n);
                    self.handle.record.set_horizon(n);
                }
                fits
            }

            /// How many items the record may hold at this moment.
            pub fn horizon(&self) -> usize {
                self.handle.record.horizon()
            }

            /// Closes the view and leaves its id to a successor, which goes on where this view stops. Only a view
            /// that was registered with a [`Registry`](super::Registry) leaves its id; any other view just closes.
            pub fn leave(self) {
                let Self { handle, port } = self;
                drop(handle);
                port.leave();
            }

            /// Makes the view belong to the process that uses it next. A process that has used a view must call
            /// this before it moves the view into a process that it creates. Otherwise the view closes when the
            /// first process ends.
            #[must_use = "the view that is handed over is moved into another process"]
            pub fn hand_over(mut self) -> Self {
                self.handle.hand_over();
                self
            }
        }
    };
}

pub(super) use view;

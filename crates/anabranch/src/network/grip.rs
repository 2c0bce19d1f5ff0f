//! The common part of writers and readers: the process that a view belongs to, and whether the view is
//! closed.

use anabranch_record::Closed;
use anabranch_record::sync::{Arc, lock};

use super::{
    hub::Hub,
    process::{self, Process, Sleeper, Wait},
    records::{Closing, Door, RecordInfo, Side, ViewInfo, Waiter},
};

/// The id of no process.
const NOBODY: u64 = u64::MAX;

pub(super) struct Grip {
    /// The id of the process that owns the view. This process uses the view without further checks.
    owner: u64,
    /// The id of the process that was last added to the door.
    enlisted: u64,
    pub(super) info: Arc<ViewInfo>,
    pub(super) record: Arc<RecordInfo>,
    pub(super) hub: Arc<Hub>,
    /// The door at which the view's process waits.
    pub(super) door: Arc<Door>,
    /// The length of the ranges that are dealt to the view. `None` if it is the only view on its side.
    pub(super) range: Option<usize>,
}

impl Grip {
    pub(super) fn new(
        info: Arc<ViewInfo>,
        record: &Arc<RecordInfo>,
        hub: &Arc<Hub>,
        door: &Arc<Door>,
        range: Option<usize>,
    ) -> Self {
        lock(record.views(info.side)).push(Arc::clone(&info));
        Self {
            owner: NOBODY,
            enlisted: NOBODY,
            info,
            record: Arc::clone(record),
            hub: Arc::clone(hub),
            door: Arc::clone(door),
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
        if process::current() == self.owner { Ok(()) } else { self.enter_slowly() }
    }

    #[cold]
    fn enter_slowly(&mut self) -> Result<(), Closed> {
        let current = process::current_process();
        if let Some((process, hub)) = &current {
            assert!(
                Arc::ptr_eq(hub, &self.hub),
                "process \"{}\" uses {}, which belongs to another network: make the record in the network \
                 whose processes use it",
                process.name,
                self.record.title(),
            );
        }
        if let Some(closing) = self.info.closing() {
            if let Some((process, hub)) = &current {
                if closing == Closing::Forgotten {
                    self.info.set_owner(Some(process.index));
                    hub.is_deadlock_after_all();
                }
                process.notice_own(closing);
            }
            return Err(Closed);
        }
        if self.hub.is_over() {
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
            && let Some(process) = lock(&self.hub.processes).get(owner).cloned()
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
        let Some((process, hub)) = process::current_process() else {
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
        if self.enlisted != process.id {
            self.door.enlist(Waiter::Actor(Arc::clone(process.actor())));
            self.enlisted = process.id;
        }
        let wait = Wait { record: Arc::clone(&self.record), view: self.info.index, side: self.side(), count };
        Sleeper { process, hub, wait }
    }

    /// Notes that the current process has found the other side closed.
    #[cold]
    pub(super) fn notice(&self) {
        if let Some((process, hub)) = process::current_process() {
            process.notice(&hub, &self.record, self.side().other());
        }
    }

    /// Ends the network, because the current process asks for more items than the record may ever hold.
    #[cold]
    pub(super) fn too_wide(&self, count: usize) {
        let process = process::current_process();
        let name = process.as_ref().map_or("a caller outside of the network", |(process, _)| &process.name);
        let what = match self.side() {
            Side::Writers => "room for",
            Side::Readers => "a view of",
        };
        self.hub.misuse(format!(
            "process \"{name}\" asks for {what} {count} items at once, but {} has a horizon of {}: make the \
             record with a horizon of {count} or more",
            self.record.title(),
            self.record.most,
        ));
        if let Some((process, _)) = &process {
            process.notice_own(Closing::Ending);
        }
    }
}

impl Drop for Grip {
    fn drop(&mut self) {
        if self.info.closing() == Some(Closing::Forgotten) {
            // The process has held the view all the time, so the view was not forgotten.
            if let Closing::Process(process) = process::closing_by(&self.hub) {
                self.info.set_owner(Some(process));
                self.hub.is_deadlock_after_all();
            }
        } else {
            self.info.close(process::closing_by(&self.hub));
        }
    }
}

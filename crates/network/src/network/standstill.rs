//! Handles the case that no thread of a network is awake: a record grows, forgotten views are closed, or the
//! network ends with a deadlock.
//!
//! While these functions run, no other thread of the network runs (see [`awake`](super::awake)): no index moves,
//! and no view is used.

use anabranch_record::sync::{Arc, lock};

use super::{
    contents::Contents,
    deadlock::{Deadlock, WaitOn},
    process::Process,
    queue,
    records::{Closing, RecordInfo, Side, Wait},
    state::Found,
};

impl<E: Send> Contents<'_, E> {
    /// Makes a process go on, or ends the network with a deadlock.
    pub(super) fn stands_still(&self) {
        let waits = self.waits();
        if self.grow(&waits) {
            return;
        }
        // Views that no process has used are considered forgotten. If a waiting process uses or drops such a
        // view later, it was not forgotten. Then this was a deadlock, and the run returns it.
        let deadlock = Found {
            deadlock: Deadlock {
                waits: waits.iter().map(|(process, wait)| self.tell(process, wait)).collect(),
            },
            sides: waits.iter().map(|(_, wait)| (Arc::clone(&wait.record), wait.side)).collect(),
        };
        lock(&self.network.wrong).suspect.get_or_insert_with(|| deadlock.clone());
        let before = self.network.rousings();
        self.close_forgotten();
        if self.network.rousings() != before || queue::has_rules() || self.network.has_rules() {
            return;
        }
        lock(&self.network.wrong).deadlock.get_or_insert(deadlock);
        self.network.end();
        self.close_all();
    }

    /// The processes and rules that wait, in the order of their creation.
    fn waits(&self) -> Vec<(Arc<Process>, Wait)> {
        let mut waits: Vec<(Arc<Process>, Wait)> = Vec::new();
        for (_, cell) in &self.rules {
            let Some(mut held) = cell.baton.try_acquire() else { continue };
            for member in held.state().iter() {
                if let Some(wait) = member.body.as_ref().and_then(|body| body.wait()) {
                    waits.push((Arc::clone(&member.process), wait));
                }
            }
            held.let_go();
        }
        for process in lock(&self.network.processes).iter() {
            if let Some(wait) = process.actor().wait() {
                waits.push((Arc::clone(process), wait));
            }
        }
        waits.sort_by_key(|(process, _)| process.index);
        waits
    }

    /// Enlarges the smallest full record in which a process waits for room, if one may grow. Returns whether
    /// it did.
    fn grow(&self, waits: &[(Arc<Process>, Wait)]) -> bool {
        let full = waits.iter().filter(|(_, wait)| wait.side == Side::Writers);
        let asks = full
            .map(|(_, wait)| (wait, self.asks(wait)))
            .filter(|(wait, asks)| *asks > wait.record.horizon() && *asks <= wait.record.most);
        let Some((wait, asks)) = asks.min_by_key(|(wait, _)| (wait.record.horizon(), wait.record.index))
        else {
            return false;
        };
        // The record at least doubles, so that the network does not have to stop often for a record that
        // grows far.
        let items = asks.max(wait.record.horizon().saturating_mul(2)).min(wait.record.most);
        let views = lock(&self.views);
        let Some(entry) = views.entries.get(&wait.view) else { return false };
        wait.record.set_horizon(items);
        entry.control.grow(items);
        true
    }

    /// The horizon, in items, that a waiting call needs.
    fn asks(&self, wait: &Wait) -> usize {
        match wait.side {
            Side::Readers => wait.count,
            Side::Writers => lock(&self.views)
                .entries
                .get(&wait.view)
                .map_or(0, |entry| entry.control.span_for(wait.count)),
        }
    }

    /// Closes the views that no process owns.
    fn close_forgotten(&self) {
        let mut forgotten = Vec::new();
        lock(&self.views).entries.retain(|_, entry| {
            let is_forgotten = entry.info.is_open() && entry.info.owner().is_none();
            if is_forgotten {
                forgotten.push((
                    Arc::clone(&entry.info),
                    std::mem::replace(&mut entry.control, Box::new(Nothing)),
                ));
            }
            !is_forgotten
        });
        // Closing a record wakes processes, which may drop other forgotten views at once. So each is noted as forgotten
        // first.
        forgotten.retain(|(info, _)| info.close(Closing::Forgotten));
        for (_, control) in forgotten {
            control.close();
        }
    }

    /// The deadlock with the processes that hold the views which no process had used when it was found. When every process has
    /// ended, it is known who held them.
    pub(super) fn completed(&self, found: Found) -> Deadlock {
        let Found { mut deadlock, sides } = found;
        let processes = lock(&self.network.processes);
        for (wait, (record, side)) in deadlock.waits.iter_mut().zip(sides) {
            for view in lock(record.views(side.other())).iter() {
                if view.closing() == Some(Closing::Forgotten)
                    && let Some(holder) = view.owner().and_then(|owner| processes.get(owner))
                    && wait.others.iter().all(|(_, index)| *index != holder.index)
                {
                    wait.others.push((holder.name.clone(), holder.index));
                    wait.unused = wait.unused.saturating_sub(1);
                }
            }
        }
        deadlock
    }

    /// Describes a wait.
    fn tell(&self, process: &Process, wait: &Wait) -> WaitOn {
        let record: &RecordInfo = &wait.record;
        let other_side = wait.side.other();
        let views = lock(record.views(other_side));
        let processes = lock(&self.network.processes);
        let mut others: Vec<(String, usize)> = Vec::new();
        for view in views.iter().filter(|view| view.is_open()) {
            if let Some(owner) = view.owner().and_then(|owner| processes.get(owner)) {
                others.push((owner.name.clone(), owner.index));
            }
        }
        WaitOn {
            process: process.name.clone(),
            process_index: process.index,
            record: record.title(),
            is_queue: record.stage.is_some(),
            for_room: wait.side == Side::Writers,
            count: wait.count,
            horizon: record.horizon(),
            asks: self.asks(wait),
            others,
            unused: views.iter().filter(|view| view.is_open() && view.owner().is_none()).count(),
        }
    }
}

/// Stands in for the control of a view that is being closed.
struct Nothing;

impl super::contents::ViewControl for Nothing {
    fn close(&self) {}

    fn span_for(&self, _: usize) -> usize {
        0
    }

    fn grow(&self, _: usize) {}
}

//! The parts of a network that depend on types: its views, its rules, and the failures of its processes.

use std::collections::BTreeMap;

use crate::plan::Node;
use crate::record::port::{ReadPort, WritePort};
use crate::record::{Closer, Dealt, ReadDeal, Record, RegisterError, Revoker, bounded};
use anabranch_record::Baton;
use anabranch_record::sync::{Arc, Mutex, lock};

use anabranch::host::{Kept, KeptPanic};

use super::{
    Horizon,
    ports::Ports,
    process::Process,
    queue::RuleLink,
    reader::Reader,
    records::{Closing, RecordInfo, Side, ViewInfo},
    role::{self, Role},
    rule::{Body, Fire, Verdict},
    state::NetworkState,
    view_handle::ViewHandle,
    wait_list::WaitLists,
    writer::Writer,
};

/// How many times a rule fires before another rule gets its turn.
pub(super) const FIRINGS: usize = 64;

/// Controls a view of any type, while another thread may hold it.
pub(super) trait ViewControl: Send + Sync {
    fn close(&self);
    /// For a writer: the horizon in items with which `n` more slots would be free now.
    fn span_for(&self, n: usize) -> usize;
    /// Widens the horizon of the record to `items` items.
    fn grow(&self, items: usize);
}

impl<T: Send> ViewControl for Closer<T> {
    fn close(&self) {
        self.close();
    }

    fn span_for(&self, n: usize) -> usize {
        self.span_for(n)
    }

    fn grow(&self, _: usize) {}
}

impl<T: Send> ViewControl for Revoker<T> {
    fn close(&self) {
        self.revoke();
    }

    fn span_for(&self, n: usize) -> usize {
        self.span_for(n)
    }

    fn grow(&self, items: usize) {
        self.widen(items);
    }
}

/// A view, and the means to close it.
pub(super) struct Entry<'env> {
    pub(super) info: Arc<ViewInfo>,
    pub(super) control: Box<dyn ViewControl + 'env>,
}

/// A rule, or several rules that are fired by turns on one thread.
pub(super) struct RuleCell<'env, E> {
    pub(super) link: Arc<RuleLink>,
    pub(super) baton: Baton<Vec<Member<'env, E>>>,
}

/// A rule of a cell.
pub(super) struct Member<'env, E> {
    pub(super) process: Arc<Process>,
    /// The index of the process. A copy, so that a firing does not fetch the process into the cache.
    pub(super) index: usize,
    /// How many times the rule fires before another rule gets its turn.
    pub(super) firings: usize,
    /// The ports and the code of the rule. `None` after the rule has ended.
    pub(super) body: Option<Box<dyn Fire<E> + 'env>>,
}

impl<'env, E> Member<'env, E> {
    pub(super) fn new(process: &Arc<Process>, firings: usize, body: Box<dyn Fire<E> + 'env>) -> Self {
        Self { process: Arc::clone(process), index: process.index, firings, body: Some(body) }
    }
}

/// The error or the panic of a process.
pub(super) enum Outcome<E> {
    Error(Kept<E>),
    Panic(KeptPanic),
}

/// A process that failed.
pub(super) struct Failure<E> {
    pub(super) process: Arc<Process>,
    pub(super) outcome: Outcome<E>,
}

/// Whether there is memory for so many items. Memory that the system promises without having it does not count.
fn has_memory<T>(items: usize) -> bool {
    // A record has a power of two of slots.
    items.checked_next_power_of_two().is_some_and(|slots| Vec::<T>::new().try_reserve_exact(slots).is_ok())
}

pub(super) struct Contents<'env, E> {
    pub(super) network: Arc<NetworkState>,
    pub(super) views: Mutex<Views<'env>>,
    /// The failures, in the order in which they became known.
    pub(super) failures: Mutex<Vec<Failure<E>>>,
    pub(super) rules: boxcar::Vec<RuleCell<'env, E>>,
}

/// The views of a network by their indices. All open views are in it, and closed ones may be.
#[derive(Default)]
pub(super) struct Views<'env> {
    pub(super) entries: BTreeMap<usize, Entry<'env>>,
    /// The index of the next view.
    next: usize,
    /// The number of entries at which closed views are removed.
    limit: usize,
}

impl<'env> Views<'env> {
    /// Two indices for views that the caller adds.
    fn reserve(&mut self) -> [usize; 2] {
        self.next += 2;
        [self.next - 2, self.next - 1]
    }

    /// Adds a view on `side`, which `control` can close and widen.
    pub(super) fn add(&mut self, side: Side, control: impl ViewControl + 'env) -> Arc<ViewInfo> {
        if self.entries.len() >= self.limit {
            self.entries.retain(|_, entry| entry.info.is_open());
            self.limit = 64.max(2 * self.entries.len());
        }
        let info = ViewInfo::new(self.next, side);
        self.next += 1;
        let entry = Entry { info: Arc::clone(&info), control: Box::new(control) };
        self.entries.insert(info.index, entry);
        info
    }
}

impl<'env, E: Send> Contents<'env, E> {
    pub(super) fn new() -> Self {
        Self {
            network: NetworkState::new(),
            views: Mutex::default(),
            failures: Mutex::new(Vec::new()),
            rules: boxcar::Vec::new(),
        }
    }

    /// Adds a cell with the rules that `make` creates, which does not fire before its link is started. `make`
    /// gets the link for the ports of the rules.
    pub(super) fn add_rules(
        &self,
        make: impl FnOnce(&Arc<RuleLink>) -> Vec<Member<'env, E>>,
    ) -> Option<&RuleCell<'env, E>> {
        let index = self.rules.push_with(|index| {
            let link = RuleLink::new(index, &self.network);
            let members = make(&link);
            RuleCell { link, baton: Baton::new(members) }
        });
        self.rules.get(index)
    }

    /// Adds a rule, which does not fire before its link is started.
    pub(super) fn add_rule<I, O, V, F>(
        &self,
        name: &str,
        inputs: I,
        outputs: O,
        code: F,
    ) -> Option<&RuleCell<'env, E>>
    where
        I: Ports + Send + 'env,
        O: Ports + Send + 'env,
        V: Verdict,
        F: for<'a> FnMut(&mut I::Bursts<'a>, &mut O::Bursts<'a>) -> Result<V, E> + Send + 'env,
    {
        let process = self.new_process(Node::rule("rule").named(name.to_owned()));
        self.add_rules(|link| {
            let body = Body::new(inputs, outputs, code, &process, link);
            vec![Member::new(&process, FIRINGS, Box::new(body))]
        })
    }

    /// Creates a process or rule, and counts it as live.
    pub(super) fn new_process(&self, node: Node) -> Arc<Process> {
        let mut processes = lock(&self.network.processes);
        let process = Process::new(processes.len(), node);
        processes.push(Arc::clone(&process));
        self.network.add_live();
        process
    }

    /// Creates the description of a new record. If the horizon is not possible, the network ends with an
    /// error.
    pub(super) fn new_record<T>(&self, horizon: &mut Horizon, initial: usize) -> Arc<RecordInfo> {
        let mut records = lock(&self.network.records);
        let asked = horizon.items;
        let is_possible = Horizon::POSSIBLE.contains(&asked);
        // A record that is not possible gets little memory: the network does not run.
        horizon.items = if is_possible { asked } else { 1 };
        horizon.most = horizon.most.clamp(horizon.items, *Horizon::POSSIBLE.end());
        let fits = has_memory::<T>(horizon.items);
        if !fits {
            (horizon.items, horizon.most) = (1, 1);
        }
        let info = RecordInfo::new::<T>(records.len(), horizon, initial);
        records.push(Arc::clone(&info));
        drop(records);
        let title = info.title();
        if !is_possible {
            self.network.misuse(format!(
                "{title} is made with a horizon of {asked} items: a horizon is 1 to 2^32, so that its writer can \
                 commit an item and its reader receive it"
            ));
        } else if !fits {
            self.network.misuse(format!(
                "{title} is made with a horizon of {asked} items of {} bytes, for which there is no memory: make it \
                 with a smaller one, which may grow",
                size_of::<T>()
            ));
        } else if initial > horizon.items {
            self.network.misuse(format!(
                "{title} is made with {initial} items, but with a horizon of {asked}: make it with a horizon of \
                 {initial} or more"
            ));
        }
        info
    }

    /// Creates a record with one writer and one reader.
    pub(super) fn record<T: Send + 'env>(
        &self,
        mut horizon: Horizon,
        items: Vec<T>,
    ) -> (Writer<T>, Reader<T>) {
        let info = self.new_record::<T>(&mut horizon, items.len());
        let wait_lists = WaitLists::new(&self.network);
        let items = items.into_iter().take(horizon.items);
        let (writer, reader);
        if horizon.items < horizon.most {
            let (mut writers, mut readers) =
                self.many(&info, &horizon, Dealt::one(), Dealt::one(), &wait_lists);
            let mut one = writers.remove(0);
            if items.len() > 0
                && let Ok(mut slots) = one.port.try_stall(items.len())
            {
                slots.fill(items);
                slots.commit();
            }
            (writer, reader) = (one, readers.remove(0));
        } else {
            let (on_items, on_room) = wait_lists.hooks();
            let (mut write, read) = bounded(horizon.items, on_items, on_room);
            if items.len() > 0
                && let Ok(mut slots) = write.try_stall(items.len())
            {
                slots.fill(items);
                slots.commit();
            }
            let mut views = lock(&self.views);
            let write_info = views.add(Side::Writers, write.closer());
            let read_info = views.add(Side::Readers, read.closer());
            writer = Writer {
                handle: ViewHandle::new(write_info, &info, &self.network, &wait_lists.room, None),
                port: WritePort::One(write),
            };
            reader = Reader {
                handle: ViewHandle::new(read_info, &info, &self.network, &wait_lists.items, None),
                port: ReadPort::One(read),
            };
        }
        (writer, reader)
    }

    /// Creates a record with several views on each side.
    pub(super) fn shared<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        mut horizon: Horizon,
        writers: Dealt,
        readers: R,
    ) -> (Vec<Writer<T>>, Vec<Reader<T, R>>) {
        let info = self.new_record::<T>(&mut horizon, 0);
        self.many(&info, &horizon, writers, readers, &WaitLists::new(&self.network))
    }

    fn many<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        info: &Arc<RecordInfo>,
        horizon: &Horizon,
        writers: Dealt,
        readers: R,
        wait_lists: &WaitLists,
    ) -> (Vec<Writer<T>>, Vec<Reader<T, R>>) {
        let (on_items, on_room) = wait_lists.hooks();
        let record = Record::<T, Dealt, R>::bounded(writers, readers, on_items, on_room);
        let (write_ids, read_ids) = record.ids();
        // Every id exists and has no view yet, so the registration cannot fail.
        let writers = (0..write_ids)
            .filter_map(|id| self.writer(&record, id, horizon.items, info, wait_lists).ok())
            .collect();
        let readers = (0..read_ids)
            .filter_map(|id| self.reader(&record, id, horizon.items, info, wait_lists).ok())
            .collect();
        (writers, readers)
    }

    /// Registers a writer of a record with many views.
    pub(super) fn writer<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        record: &Record<T, Dealt, R>,
        id: usize,
        horizon: usize,
        info: &Arc<RecordInfo>,
        wait_lists: &WaitLists,
    ) -> Result<Writer<T>, RegisterError> {
        let mut view = record.writer(id, horizon)?;
        let view_info = lock(&self.views).add(Side::Writers, view.revoker());
        let handle = ViewHandle::new(view_info, info, &self.network, &wait_lists.room, record.write_range());
        Ok(Writer { handle, port: WritePort::Many(view) })
    }

    /// Registers a reader of a record with many views.
    pub(super) fn reader<T: Send + 'env, R: ReadDeal<T>>(
        &self,
        record: &Record<T, Dealt, R>,
        id: usize,
        horizon: usize,
        info: &Arc<RecordInfo>,
        wait_lists: &WaitLists,
    ) -> Result<Reader<T, R>, RegisterError> {
        let mut view = record.reader(id, horizon)?;
        let view_info = lock(&self.views).add(Side::Readers, view.revoker());
        let handle = ViewHandle::new(view_info, info, &self.network, &wait_lists.items, record.read_range());
        Ok(Reader { handle, port: ReadPort::Many(view) })
    }

    /// Adds the two views of a link, which belong to processes already. `make` makes the link and the views for the
    /// indices of the views.
    pub(super) fn add_link<L, F: ViewControl + 'env>(
        &self,
        make: impl FnOnce([usize; 2]) -> (L, [(Arc<ViewInfo>, F); 2]),
    ) -> L {
        let mut views = lock(&self.views);
        let (link, pair) = make(views.reserve());
        for (info, control) in pair {
            views.entries.insert(info.index, Entry { info, control: Box::new(control) });
        }
        link
    }

    /// Ends a process: notes its failure, if it has failed, and closes the views that it owns.
    pub(super) fn end_process(&self, process: &Arc<Process>, outcome: Option<Outcome<E>>) {
        let failed = outcome.is_some();
        if let Some(outcome) = outcome {
            lock(&self.failures).push(Failure { process: Arc::clone(process), outcome });
        }
        for index in std::mem::take(&mut *lock(&process.views)) {
            self.close(index, process.closing());
        }
        if failed {
            self.network.end();
        }
        self.network.remove_live();
    }

    /// Ends a rule, so that it does not fire again.
    pub(super) fn retire(&self, member: &mut Member<'env, E>, outcome: Option<Outcome<E>>) {
        let body = member.body.take();
        Role::act(member.index, &self.network);
        if let Some(body) = &body {
            body.notice(&member.process);
        }
        if member.process.is_over() {
            role::stop(&member.process, &self.network);
        }
        // The captures of the rule belong to the user, and their drops may panic.
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(body)));
        let dropped = dropped.err().map(|payload| Outcome::Panic(Kept::new(payload)));
        let outcome = outcome.or(dropped);
        self.end_process(&member.process, outcome);
    }

    fn close(&self, index: usize, by: Closing) {
        // The entry is removed first, and closed without the lock, because the hooks of the record may call
        // much code.
        let entry = lock(&self.views).entries.remove(&index);
        if let Some(entry) = entry
            && entry.info.close(by)
        {
            entry.control.close();
        }
    }

    /// Closes every view, because the network ends.
    pub(super) fn close_all(&self) {
        let entries = std::mem::take(&mut lock(&self.views).entries);
        for entry in entries.values() {
            if entry.info.close(Closing::Ending) {
                entry.control.close();
            }
        }
        for (_, cell) in &self.rules {
            cell.link.poke_last();
        }
    }
}

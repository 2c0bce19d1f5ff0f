//! Windows that end with a gap.

use std::collections::BTreeMap;

use super::aggregate::Aggregate;
use super::keys::{Hashed, Keys};
use super::layout::grain;
use super::results::{Closed, ItemPlace, Late, Results};

/// The sessions of several keys.
pub(crate) struct Sessions<K, T, A: Aggregate<T>> {
    gap: i64,
    grain: i64,
    open: Keys<K, OfKey<A::Value>>,
    /// When it must be looked whether sessions of these keys have closed.
    agenda: BTreeMap<i64, Vec<Hashed<K>>>,
    /// The sessions that have closed and have not come out yet.
    due: Vec<(Hashed<K>, Session<A::Value>)>,
}

/// The open sessions of a key, by their starts. They do not overlap, so they are in the order of their ends, too.
struct OfKey<V> {
    first: Option<Session<V>>,
    /// The others, which are all behind the first.
    others: BTreeMap<i64, Session<V>>,
    /// The number of the item that was added last.
    newest: u64,
    /// The first entry of the agenda that has the key.
    look: Option<i64>,
}

struct Session<V> {
    start: i64,
    /// The time of the last item.
    last: i64,
    /// The items that came last.
    run: Run<V>,
    /// The other items.
    before: Vec<Run<V>>,
}

/// Items of a session between which no other item of the key came.
struct Run<V> {
    /// The number of the first item.
    first: u64,
    /// The number of the last item.
    last: u64,
    value: Option<V>,
}

impl<V> Default for OfKey<V> {
    fn default() -> Self {
        Self { first: None, others: BTreeMap::new(), newest: 0, look: None }
    }
}

impl<V> OfKey<V> {
    /// Removes the first session if the watermark has reached its end.
    fn pop_closed(&mut self, watermark: i64, gap: i64) -> Option<Session<V>> {
        let closed = self.first.take_if(|first| first.last.saturating_add(gap) <= watermark)?;
        self.first = self.others.pop_first().map(|(_, session)| session);
        Some(closed)
    }

    /// Removes the sessions that an item at `time` joins: one that begins at that time or before, and one behind it.
    fn take_joined(&mut self, time: i64, gap: i64) -> [Option<Session<V>>; 2] {
        let reaches = |session: &Session<V>| time < session.last.saturating_add(gap);
        let is_near = |session: &Session<V>| session.start < time.saturating_add(gap);
        let left = match self.others.range(..=time).next_back() {
            Some((&start, session)) => {
                if reaches(session) {
                    self.others.remove(&start)
                } else {
                    None
                }
            }
            None => self.first.take_if(|first| first.start <= time && reaches(first)),
        };
        let right = match &self.first {
            Some(first) if first.start > time => self.first.take_if(|first| is_near(first)),
            _ => match self.others.range(time..).next() {
                Some((&start, session)) if is_near(session) => self.others.remove(&start),
                _ => None,
            },
        };
        [left, right]
    }

    fn insert(&mut self, session: Session<V>) {
        match &mut self.first {
            None => match self.others.first_entry() {
                // The first session was taken out.
                Some(entry) if *entry.key() < session.start => {
                    self.first = Some(entry.remove());
                    self.others.insert(session.start, session);
                }
                _ => self.first = Some(session),
            },
            Some(first) if session.start < first.start => {
                let behind = std::mem::replace(first, session);
                self.others.insert(behind.start, behind);
            }
            Some(_) => _ = self.others.insert(session.start, session),
        }
    }
}

impl<V> Session<V> {
    fn end(&self, gap: i64) -> i64 {
        self.last.saturating_add(gap)
    }

    /// Adds an item. `newest` is the number of the key's item before it.
    fn add<T>(
        &mut self,
        order: u64,
        time: i64,
        newest: u64,
        item: T,
        aggregate: &impl Aggregate<T, Value = V>,
    ) {
        self.start = self.start.min(time);
        self.last = self.last.max(time);
        if self.run.last == newest {
            self.run.last = order;
            aggregate.add(&mut self.run.value, item);
        } else {
            let run = Run { first: order, last: order, value: Some(aggregate.lift(item)) };
            self.before.push(std::mem::replace(&mut self.run, run));
        }
    }

    /// Adds the items of a session behind this one.
    fn join(&mut self, mut right: Self) {
        self.last = self.last.max(right.last);
        if self.run.last < right.run.last {
            std::mem::swap(&mut self.run, &mut right.run);
        }
        if self.before.len() < right.before.len() {
            std::mem::swap(&mut self.before, &mut right.before);
        }
        self.before.append(&mut right.before);
        self.before.push(right.run);
    }

    fn first(&self) -> u64 {
        self.before.iter().fold(self.run.first, |first, run| first.min(run.first))
    }

    /// The value of all items, in the order in which they came.
    fn value<T>(self, aggregate: &impl Aggregate<T, Value = V>) -> Option<V> {
        let Self { run, before: mut runs, .. } = self;
        if runs.is_empty() {
            return run.value;
        }
        runs.push(run);
        runs.sort_unstable_by_key(|run| run.first);
        runs.into_iter().filter_map(|run| run.value).reduce(|left, right| aggregate.combine(left, right))
    }
}

impl<K: Eq + Clone, T, A: Aggregate<T>> Sessions<K, T, A> {
    pub(super) fn new(gap: i64) -> Self {
        Self { gap, grain: grain(gap), open: Keys::default(), agenda: BTreeMap::new(), due: Vec::new() }
    }

    #[inline]
    pub(super) fn add(
        &mut self,
        place: ItemPlace,
        key: Hashed<K>,
        item: T,
        aggregate: &A,
        results: &mut Results<K, T, A::Value>,
    ) {
        let ItemPlace { order, time, watermark } = place;
        let gap = self.gap;
        let of_key = match self.open.get_mut(&key) {
            Some(of_key) => of_key,
            None => self.open.entry(key.clone()).or_default(),
        };
        // Sessions whose end the watermark has reached are closed, though they have not come out yet.
        while let Some(closed) = of_key.pop_closed(watermark, gap) {
            self.due.push((key.clone(), closed));
        }
        let newest = std::mem::replace(&mut of_key.newest, order);
        // The usual case: the item is behind the start of the only session. Its end is later then, so there is no earlier look.
        if of_key.others.is_empty()
            && let Some(only) = &mut of_key.first
            && only.start <= time
            && time < only.end(gap)
        {
            return only.add(order, time, newest, item, aggregate);
        }
        let session = match of_key.take_joined(time, gap) {
            [None, None] if time.saturating_add(gap) <= watermark => {
                of_key.newest = newest;
                if of_key.first.is_none() {
                    self.open.remove(&key);
                }
                results.late.push(Late { order, rank: (watermark.saturating_add(1), 0), item });
                return;
            }
            [None, None] => {
                let run = Run { first: order, last: order, value: Some(aggregate.lift(item)) };
                Session { start: time, last: time, run, before: Vec::new() }
            }
            [left, right] => {
                let joined = left.into_iter().chain(right).reduce(|mut left, right| {
                    left.join(right);
                    left
                });
                let Some(mut session) = joined else { unreachable!("there is a session to join") };
                session.add(order, time, newest, item, aggregate);
                session
            }
        };
        of_key.insert(session);
        let look = look(of_key, gap, self.grain);
        if of_key.look.is_none_or(|before| look < before) {
            of_key.look = Some(look);
            self.agenda.entry(look).or_default().push(key);
        }
    }

    pub(super) fn advance(
        &mut self,
        watermark: i64,
        aggregate: &A,
        closing: &mut i64,
        results: &mut Results<K, T, A::Value>,
    ) {
        let Self { gap, grain, open, agenda, due } = self;
        while let Some(entry) = agenda.first_entry()
            && *entry.key() <= watermark
        {
            let (now, keys) = entry.remove_entry();
            for key in keys {
                // An entry that is not the key's first one is left over.
                let Some(of_key) = open.get_mut(&key).filter(|of_key| of_key.look == Some(now)) else {
                    continue;
                };
                while let Some(closed) = of_key.pop_closed(watermark, *gap) {
                    due.push((key.clone(), closed));
                }
                if of_key.first.is_none() {
                    open.remove(&key);
                } else {
                    let look = look(of_key, *gap, *grain);
                    of_key.look = Some(look);
                    agenda.entry(look).or_default().push(key);
                }
            }
        }
        // Values are combined in the order of the results, because the user's code may panic.
        due.sort_by_key(|(_, session)| session.end(*gap));
        results.closed.reserve(due.len());
        for (key, session) in due.drain(..) {
            let (start, end, first) = (session.start, session.end(*gap), session.first());
            *closing = end;
            if let Some(value) = session.value(aggregate) {
                results.closed.push(Closed { rank: (end, first), start, end, key: key.key, value });
            }
        }
    }
}

/// The first watermark that is not before the end of the first session.
fn look<V>(of_key: &OfKey<V>, gap: i64, grain: i64) -> i64 {
    let end = of_key.first.as_ref().map_or(i64::MAX, |first| first.end(gap));
    let rest = end.rem_euclid(grain);
    if rest == 0 { end } else { end.saturating_add(grain - rest) }
}

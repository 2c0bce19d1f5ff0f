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
    /// The sessions that are open, of each key by their starts.
    open: Keys<K, Vec<Session<A::Value>>>,
    /// When it must be looked whether sessions of these keys have closed.
    agenda: BTreeMap<i64, Vec<Hashed<K>>>,
}

struct Session<V> {
    start: i64,
    /// The time of the last item.
    last: i64,
    /// The number of the first item that came.
    first: u64,
    value: Option<V>,
    /// The entry of the agenda that has the session.
    look: i64,
}

impl<V> Session<V> {
    fn closed<K>(self, key: K, gap: i64) -> Option<Closed<K, V>> {
        let end = self.last.saturating_add(gap);
        Some(Closed { rank: (end, self.first), start: self.start, end, key, value: self.value? })
    }
}

impl<K: Eq + Clone, T, A: Aggregate<T>> Sessions<K, T, A> {
    pub(super) fn new(gap: i64) -> Self {
        Self { gap, grain: grain(gap), open: Keys::default(), agenda: BTreeMap::new() }
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
        let sessions = match self.open.get_mut(&key) {
            Some(sessions) => sessions,
            None => self.open.entry(key.clone()).or_default(),
        };
        // Sessions whose end the watermark has reached are closed, though they have not come out yet.
        while let Some(at) = sessions.iter().position(|session| session.last.saturating_add(gap) <= watermark)
        {
            results.closed.extend(sessions.remove(at).closed(key.key.clone(), gap));
        }
        let joins = |session: &Session<A::Value>| {
            time < session.last.saturating_add(gap) && session.start < time.saturating_add(gap)
        };
        if let Some(at) = sessions.iter().position(joins) {
            let session = &mut sessions[at];
            aggregate.add(&mut session.value, item);
            session.start = session.start.min(time);
            session.last = session.last.max(time);
            // The item may join the session with the one behind it.
            if sessions.get(at + 1).is_some_and(|next| next.start < sessions[at].last.saturating_add(gap)) {
                let next = sessions.remove(at + 1);
                let session = &mut sessions[at];
                session.last = session.last.max(next.last);
                session.first = session.first.min(next.first);
                session.value = match (session.value.take(), next.value) {
                    (Some(left), Some(right)) => Some(aggregate.combine(left, right)),
                    (left, right) => left.or(right),
                };
            }
            return;
        }
        let end = time.saturating_add(gap);
        if end <= watermark {
            if sessions.is_empty() {
                self.open.remove(&key);
            }
            results.late.push(Late { order, rank: (watermark.saturating_add(1), 0), item });
            return;
        }
        let look = look(end, self.grain);
        let at = sessions.partition_point(|session| session.start < time);
        let value = Some(aggregate.lift(item));
        sessions.insert(at, Session { start: time, last: time, first: order, value, look });
        self.agenda.entry(look).or_default().push(key);
    }

    pub(super) fn advance(&mut self, watermark: i64, results: &mut Results<K, T, A::Value>) {
        let Self { gap, grain, open, agenda } = self;
        while let Some(entry) = agenda.first_entry()
            && *entry.key() <= watermark
        {
            let (now, keys) = entry.remove_entry();
            for key in keys {
                let Some(sessions) = open.get_mut(&key) else { continue };
                let mut at = 0;
                while at < sessions.len() {
                    let end = sessions[at].last.saturating_add(*gap);
                    if end <= watermark {
                        results.closed.extend(sessions.remove(at).closed(key.key.clone(), *gap));
                        continue;
                    }
                    if sessions[at].look == now {
                        sessions[at].look = look(end, *grain);
                        agenda.entry(sessions[at].look).or_default().push(key.clone());
                    }
                    at += 1;
                }
                if sessions.is_empty() {
                    open.remove(&key);
                }
            }
        }
    }
}

/// The first watermark that is not before `end`.
fn look(end: i64, grain: i64) -> i64 {
    let rest = end.rem_euclid(grain);
    if rest == 0 { end } else { end.saturating_add(grain - rest) }
}

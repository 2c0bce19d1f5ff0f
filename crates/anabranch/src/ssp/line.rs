//! A pipeline that is being built.

use std::mem::needs_drop;
use std::sync::Arc;

use super::wish::{Order, Wish};
use crate::engine::processors;
use crate::outside::posts::{Room, Sender, posts};
use crate::stream::Stream;

/// An item and its number in the order of the posts.
pub(super) type Numbered<T> = (u64, T);

/// The stages that were joined so far.
#[doc(hidden)]
#[derive(Debug)]
pub struct Line<P, T: Send> {
    pub(super) sender: Sender<P>,
    pub(super) stream: Stream<'static, Numbered<T>>,
    pub(super) terms: Terms,
}

/// The needs of the stages.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) workers: usize,
    /// Whether all parallel stages have the same number of replicas. The executor can then keep this bound.
    pub(super) has_one_bound: bool,
    /// Whether the items between any two stages own memory, as far as their types tell.
    owns_memory: bool,
    /// From this stage on, items may come in any order.
    unordered_from: usize,
    joined: usize,
    room: Arc<Room>,
}

impl<P: Send + 'static> Line<P, P> {
    /// Creates a line without stages, for stages with these wishes.
    pub(super) fn open(wishes: &[Wish]) -> Self {
        let replicas = || wishes.iter().filter(|wish| wish.order == Order::Parallel).map(|wish| wish.workers);
        let most = replicas().max().unwrap_or(1);
        // There are more threads than processors only if a stage asks for them. Stages that compute would not
        // gain.
        let all: usize = wishes.iter().map(|wish| wish.workers).sum();
        let workers = most.max(all.min(processors()));
        // The source gives items in order anyway, and ordering the results of a last parallel stage costs
        // nothing.
        let first = wishes.iter().rposition(|wish| wish.order == Order::Posts).map_or(1, |at| at + 1);
        let unordered_from =
            (first..wishes.len()).find(|&at| wishes[at].order == Order::Any).unwrap_or(wishes.len());
        let owns_memory = needs_drop::<P>();
        let room = Arc::new(Room::new(workers, owns_memory, size_of::<Numbered<P>>()));
        let (sender, stream): (_, Stream<'static, Numbered<P>>) =
            posts(workers, &room, |number, item| (number, item));
        let terms = Terms {
            workers,
            has_one_bound: replicas().all(|n| n == most),
            owns_memory,
            unordered_from,
            joined: 0,
            room: Arc::clone(&room),
        };
        Self { sender, stream: stream.title("ssp"), terms }
    }
}

impl<P, T: Send + 'static> Line<P, T> {
    /// Prepares the line for another stage. From the first stage that allows it on, order is given up.
    pub(super) fn passed(mut self) -> Self {
        self.terms.owns_memory |= needs_drop::<T>();
        let Terms { workers, owns_memory, room, .. } = &self.terms;
        room.narrow(*workers, *owns_memory, self.stream.largest_item());
        self.sender.narrow(room.items());
        self.stream = self.stream.window(room.items()).window_behind(room.batches());
        if self.terms.joined == self.terms.unordered_from {
            self.stream = self.stream.unordered();
        }
        self.terms.joined += 1;
        self
    }
}

//! A pipeline in the making.

use std::convert::Infallible;
use std::mem::needs_drop;

use anabranch_plan::Node;

use super::queue::{Numbered, Receiver, Sender, queue};
use super::stages::Wish;
use crate::flow::Sure;
use crate::shape::Single;
use crate::stream::Stream;
use crate::unit::{Apply, Identity, Unit};

/// So many items may be under way, and as many may wait before the first stage, if they own memory: images, or
/// blocks of a file...
const OWNERS: usize = 64;
/// ... and if they own none at most so many...
const ITEMS: usize = 4_096;
/// ... of at most so many bytes together...
const BYTES: usize = 64 << 10;
/// ... but a worker has at least so many.
const ITEMS_A_WORKER: usize = 16;

/// How many items of `size` bytes may be under way.
fn room(workers: usize, own_memory: bool, size: usize) -> usize {
    let most = if own_memory { OWNERS } else { ITEMS.min(BYTES / size.max(1)) };
    most.max(ITEMS_A_WORKER * workers)
}

/// The stages that were joined so far.
#[doc(hidden)]
#[derive(Debug)]
pub struct Line<P, U: Unit> {
    pub(super) sender: Sender<P>,
    pub(super) stream: Stream<'static, U, Sure>,
    pub(super) terms: Terms,
}

/// What the stages asked for.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) workers: usize,
    /// Whether all parallel stages have as many replicas: then the executor keeps the bound.
    pub(super) has_one_bound: bool,
    /// Whether any of the items between two stages owns memory, as far as its type says.
    owns_memory: bool,
    /// From this stage on, items may come in any order.
    unordered_from: usize,
    joined: usize,
}

impl<P: Send + 'static> Line<P, Identity<Numbered<P>, Single>> {
    /// A line without stages, for stages with these wishes.
    #[doc(hidden)]
    pub fn open(wishes: &[Wish]) -> Self {
        let replicas = || {
            wishes.iter().filter_map(|wish| match wish {
                Wish::Replicas(replicas) => Some(*replicas),
                _ => None,
            })
        };
        let most = replicas().max().unwrap_or(0);
        // Sequential stages overlap with one another, as if they were replicas of one.
        let workers = most.max(wishes.len() - replicas().count()).max(1);
        // What the source gives is in order anyway, and a last parallel stage has its results put in order for nothing.
        let first = wishes.iter().rposition(|wish| *wish == Wish::Ordered).map_or(1, |at| at + 1);
        let unordered_from =
            (first..wishes.len()).find(|&at| wishes[at] == Wish::Sequential).unwrap_or(wishes.len());
        let owns_memory = needs_drop::<P>();
        let terms = Terms {
            workers,
            has_one_bound: replicas().all(|n| n == most),
            owns_memory,
            unordered_from,
            joined: 0,
        };
        let (sender, receiver): (_, Receiver<P>) =
            queue(room(workers, owns_memory, size_of::<Numbered<P>>()));
        let stream = Stream::pulled(receiver, Node::source("post")).dedicated();
        Self { sender, stream: stream.title("ssp").workers(workers), terms }
    }
}

impl<P, U> Line<P, U>
where
    U: Apply<Infallible> + Send + 'static,
{
    /// Another stage comes: from the first that may, order is given up.
    pub(super) fn passed(mut self) -> Self {
        self.terms.owns_memory |= needs_drop::<U::Out>();
        let size = self.stream.item_size();
        self.stream = self.stream.window(room(self.terms.workers, self.terms.owns_memory, size));
        if self.terms.joined == self.terms.unordered_from {
            self.stream = self.stream.unordered();
        }
        self.terms.joined += 1;
        self
    }
}

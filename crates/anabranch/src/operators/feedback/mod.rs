//! Feedback: items may go through some stages again.

mod lap;
mod node;

use anabranch_plan::{ItemType, Node};
use anabranch_record::sync::Arc;

pub use lap::Lap;
use node::{EntryUpstream, LeaveUpstream, Loop};

use crate::stream::options::ForAll;
use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Sends each item through some stages again and again, until the stages return [`Lap::Done`].
    ///
    /// The stages give a [`Lap`]: `Again` with an item that goes round again, or `Done` with a result that leaves. With
    /// `flat_map`, they give several laps for an item, or none. The feedback ends by itself when the stages before have ended
    /// and nothing is left inside.
    ///
    /// ```
    /// use anabranch::{Lap, Stream};
    ///
    /// // How many steps the Collatz sequences of some numbers take.
    /// let step = |(start, n, steps): (u64, u64, u32)| match n {
    ///     1 => Lap::Done((start, steps)),
    ///     n if n % 2 == 0 => Lap::Again((start, n / 2, steps + 1)),
    ///     n => Lap::Again((start, 3 * n + 1, steps + 1)),
    /// };
    /// let mut steps: Vec<(u64, u32)> = Stream::from_iter(1..=6u64)
    ///     .map(|n| (n, n, 0))
    ///     .feedback(32, |laps| laps.map(step)) // up to 32 items go through the stage at once
    ///     .collect();
    /// steps.sort();
    /// assert_eq!(steps, [(1, 0), (2, 1), (3, 7), (4, 2), (5, 5), (6, 8)]);
    /// ```
    ///
    /// # Order
    ///
    /// The results come in the order of this loop, whatever the number of workers. An item that goes round again takes its
    /// place `places` items behind the place that it had, or later if others wait there; when the stages before have ended,
    /// it takes the next place.
    ///
    /// ```text
    /// for place in 0.. {
    ///     let item = if the first of `waiting` has waited until `place` { waiting.pop() }
    ///         else if the stages before have another item { that item }
    ///         else if anything is in `waiting` { waiting.pop() }
    ///         else { break };
    ///     for lap in stages(item) {
    ///         match lap { Again(item) => waiting.push(item, until place + places), Done(result) => behind(result) }
    ///     }
    /// }
    /// ```
    ///
    /// So `places` is a part of the computation, as the number of shards is: other `places` give another order. At most
    /// `places` items are in the stages at once. With 1, the loop works on one item until it is done, and nothing runs at
    /// the same time. Some tens of items for each worker are enough to keep all workers busy.
    ///
    /// # Memory
    ///
    /// At most one window of items is inside, as in any domain. The items that wait to go round again are not bounded by
    /// the window: if the stages give more than one `Again` for an item, these items wait as they would in the loop. If they
    /// give at most one, at most `places` items wait.
    ///
    /// A stage that gives its items new places in the order, as `spread` and `unordered`, cannot be in the loop, and adding it
    /// panics. So does an end, such as `count`, and a feedback in a loop or in a branch of a fork. A stage in the loop that keeps items until the end of
    /// the stream, as [`chunks`](Self::chunks) does, must not give `Again` for them then: this panics when the stream runs.
    ///
    /// FastFlow has the same pattern for its farms (M. Aldinucci and others, *Accelerating code on multi-cores with
    /// FastFlow*, Euro-Par 2011), without an order.
    ///
    /// # Panics
    /// If `places` is 0, or `stages` returns another stream than the one that it gets, with stages added.
    #[track_caller]
    pub fn feedback<V, N>(
        self,
        places: usize,
        stages: impl FnOnce(Stream<'env, T, M>) -> Stream<'env, Lap<T, V>, N>,
    ) -> Stream<'env, V, N>
    where
        O: ForAll,
        V: Send + 'env,
        N: Mode<Error: 'env>,
    {
        self.feedback_from([], places, stages)
    }

    /// Like [`feedback`](Self::feedback), with items that are in the loop from the start. They go round before the items of the
    /// stages before.
    ///
    /// ```
    /// use anabranch::{Lap, Stream};
    ///
    /// // Splits ranges until they are short, and adds up the numbers in them.
    /// let halves = |range: std::ops::Range<u64>| match range.end - range.start {
    ///     0..=10 => vec![Lap::Done(range.sum::<u64>())],
    ///     length => {
    ///         let middle = range.start + length / 2;
    ///         vec![Lap::Again(range.start..middle), Lap::Again(middle..range.end)]
    ///     }
    /// };
    /// let sums = Stream::from_iter([]).feedback_from([0..1_000], 32, |ranges| ranges.flat_map(halves));
    /// assert_eq!(sums.sum::<u64>(), 499_500);
    /// ```
    ///
    /// # Panics
    /// As [`feedback`](Self::feedback).
    #[track_caller]
    pub fn feedback_from<V, N>(
        mut self,
        first: impl IntoIterator<Item = T>,
        places: usize,
        stages: impl FnOnce(Stream<'env, T, M>) -> Stream<'env, Lap<T, V>, N>,
    ) -> Stream<'env, V, N>
    where
        O: ForAll,
        V: Send + 'env,
        N: Mode<Error: 'env>,
    {
        assert!(places > 0, "`feedback` with 0 places: an item goes round again 1 place later or more");
        let item = ItemType::of::<T>();
        let entry = self.draft.outline.add_domain(Node::serial("feedback"), item.clone());
        let domain = self.draft.outline.last().domain;
        let laps = Loop::new(places, first.into_iter());
        self.draft.outline.is_in_loop = true;
        let entered = Arc::clone(&laps);
        let inside = self.with_code(|before| Box::new(EntryUpstream { before, laps: entered, id: entry }));
        let Stream { code: before, errors, mut draft, mode } = stages(inside);
        assert!(
            draft.outline.is_in_loop && draft.outline.last().domain == domain,
            "the function of a feedback must return the stream that it was given, with stages added"
        );
        let id = draft.outline.add(Node::serial("leave"), ItemType::of::<Lap<T, V>>());
        draft.outline.go_round(entry, item, places);
        draft.outline.is_in_loop = false;
        Stream { code: Box::new(LeaveUpstream { before, laps, id }), errors, draft, mode }
    }
}

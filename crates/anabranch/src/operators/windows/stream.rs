//! Windows, and states by key.

use std::collections::HashMap;
use std::hash::Hash;

use anabranch_plan::{Node, Schedule, State};
use foldhash::quality::RandomState;

use crate::operators::windows::{
    Aggregate, Chunk, Collect, Combine, Gather, KeyedWindow, Merge, Shard, Split, Whole, Window, Windows,
    partition,
};
use crate::operators::{Shards, with_states};
use crate::stream::options::ForAll;
use crate::stream::{Blocks, Mode, Stream, default_workers};

/// The number of shards for each worker that a stream has by default. The load of the shards differs, and more shards even it
/// out.
const SHARDS_A_WORKER: usize = 4;
/// The largest number of shards of windows. Each block of items is divided into as many parts.
const SHARDS: usize = 64;

/// The stream of what comes out of windows.
impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Gives the items of each window.
    ///
    /// `windows` is a [`CountWindows`](crate::CountWindows), a [`TimeWindows`](crate::TimeWindows) or a
    /// [`SessionWindows`](crate::SessionWindows), which say when a window comes out. The results are in the order of their
    /// ends. In a window the items are in the order in which they came; in a window by time that consists of several steps,
    /// those of earlier steps come first.
    ///
    /// The stage runs on one thread at a time. Items in windows that are open do not count in the stream's
    /// [`window`](Self::window).
    ///
    /// ```
    /// use anabranch::{CountWindows, Stream};
    ///
    /// let peaks = Stream::from_iter([1, 5, 2, 4, 3])
    ///     .windows(CountWindows::sliding(3, 1))
    ///     .filter(|window| window.value[1] > window.value[0].max(window.value[2])) // on all cores
    ///     .map(|window| window.value[1]);
    /// assert_eq!(peaks.collect::<Vec<_>>(), [5, 4]);
    /// ```
    #[doc(alias = "tuple_windows")]
    #[track_caller]
    pub fn windows<W>(self, windows: W) -> Stream<'env, Window<Vec<T>>, M>
    where
        O: ForAll,
        T: Clone,
        W: Windows<T, Time: 'env, Late: 'env>,
    {
        self.spreading(Node::serial("windows"), Whole::new(windows.parts(), Collect::new()))
    }

    /// Computes one value of the items of each window. `lift` makes a value of an item, and `combine` makes one value of
    /// two neighbouring stretches of items.
    ///
    /// `combine` must be associative: `a + (b + c)` is `(a + b) + c`. It need not be commutative, as the left value is
    /// always that of the earlier items. Then a sliding window costs as much as its step, and not as its length: about
    /// three calls of `combine` for each step, however long the window is. Additions of floating-point numbers are
    /// associative up to rounding; the result is the same in all runs, but may differ from that of a loop in its last bits.
    ///
    /// The rest is as for [`windows`](Self::windows).
    ///
    /// ```
    /// use anabranch::{CountWindows, Stream};
    ///
    /// let highest = Stream::from_iter([3, 1, 4, 1, 5, 9, 2])
    ///     .aggregate_windows(CountWindows::sliding(4, 1), |n| n, i32::max)
    ///     .map(|window| window.value);
    /// assert_eq!(highest.collect::<Vec<_>>(), [4, 5, 9, 9]);
    /// ```
    #[track_caller]
    pub fn aggregate_windows<W, V, L, C>(self, windows: W, lift: L, combine: C) -> Stream<'env, Window<V>, M>
    where
        O: ForAll,
        W: Windows<T, Time: 'env, Late: 'env>,
        V: Clone + Send + 'env,
        L: Fn(T) -> V + Send + Sync + 'env,
        C: Fn(V, V) -> V + Send + Sync + 'env,
    {
        let aggregate = Combine { lift, combine };
        self.spreading(Node::serial("aggregate_windows"), Whole::new(windows.parts(), aggregate))
    }

    /// Gives the items of each window over the items with one key. It runs on all cores.
    ///
    /// Windows by count come out in the order of the items with which they are complete; the incomplete ones at the end of
    /// the stream, in the order of their last items. Windows by time and sessions come out in the order of their ends, and
    /// those with the same end in the order of the items that came first in them. The watermark is that of the whole
    /// stream, so a key without new items holds no window up.
    ///
    /// Windows by count keep a state for each key until the stream ends; the others forget keys without items.
    ///
    /// Items go through the stage in blocks of those that are ready, so that no item waits for another. Items
    /// that come from a source that [never waits](crate::Source::in_blocks) cost the least. `key`, and the functions of `windows`,
    /// run for several items at once.
    ///
    /// ```
    /// use anabranch::{CountWindows, Stream};
    ///
    /// let moves = [("ann", 1), ("bob", 7), ("ann", 2), ("ann", 3), ("bob", 8)];
    /// let pairs = Stream::from_iter(moves)
    ///     .windows_by_key(|step| step.0, CountWindows::sliding(2, 1))
    ///     .map(|window| (window.key, window.value[0].1, window.value[1].1));
    /// assert_eq!(pairs.collect::<Vec<_>>(), [("ann", 1, 2), ("ann", 2, 3), ("bob", 7, 8)]);
    /// ```
    #[track_caller]
    pub fn windows_by_key<K, F, W>(self, key: F, windows: W) -> Stream<'env, KeyedWindow<K, Vec<T>>, M>
    where
        O: ForAll,
        T: Clone,
        K: Hash + Eq + Clone + Send + 'env,
        F: Fn(&T) -> K + Send + Sync + 'env,
        W: Windows<T, Time: 'env, Late: 'env>,
    {
        self.keyed("windows_by_key", key, windows, Collect::new())
    }

    /// Computes one value of the items of each window over the items with one key. It runs on all cores.
    ///
    /// `lift` and `combine` are those of [`aggregate_windows`](Self::aggregate_windows), and the rest is as for
    /// [`windows_by_key`](Self::windows_by_key).
    ///
    /// ```
    /// use anabranch::{Stream, TimeWindows};
    ///
    /// // Seconds, users and pages.
    /// let visits = [(3, "ann", 1), (58, "bob", 4), (61, "ann", 2), (70, "ann", 8), (130, "bob", 5)];
    /// let minutes = TimeWindows::tumbling(60, |visit: &(i64, &str, u32)| visit.0);
    /// let pages = Stream::from_iter(visits)
    ///     .aggregate_windows_by_key(|visit| visit.1, minutes, |visit| visit.2, |a, b| a + b)
    ///     .map(|window| (window.start, window.key, window.value));
    /// let expected = [(0, "ann", 1), (0, "bob", 4), (60, "ann", 10), (120, "bob", 5)];
    /// assert_eq!(pages.collect::<Vec<_>>(), expected);
    /// ```
    #[track_caller]
    pub fn aggregate_windows_by_key<K, F, W, V, L, C>(
        self,
        key: F,
        windows: W,
        lift: L,
        combine: C,
    ) -> Stream<'env, KeyedWindow<K, V>, M>
    where
        O: ForAll,
        K: Hash + Eq + Clone + Send + 'env,
        F: Fn(&T) -> K + Send + Sync + 'env,
        W: Windows<T, Time: 'env, Late: 'env>,
        V: Clone + Send + 'env,
        L: Fn(T) -> V + Send + Sync + 'env,
        C: Fn(V, V) -> V + Send + Sync + 'env,
    {
        self.keyed("aggregate_windows_by_key", key, windows, Combine { lift, combine })
    }

    /// Gathers items in blocks, divides the blocks by shards of keys, adds the parts to the windows of their shards, and
    /// merges the results.
    #[track_caller]
    fn keyed<K, F, W, A>(
        self,
        name: &'static str,
        key: F,
        windows: W,
        aggregate: A,
    ) -> Stream<'env, KeyedWindow<K, A::Value>, M>
    where
        K: Hash + Eq + Clone + Send + 'env,
        F: Fn(&T) -> K + Send + Sync + 'env,
        W: Windows<T, Time: 'env, Late: 'env>,
        A: Aggregate<T> + 'env,
    {
        let parts = windows.parts();
        let (layout, time) = (parts.layout, parts.time);
        let shards = SHARDS_A_WORKER.saturating_mul(default_workers()).min(SHARDS);
        // The order of the results does not depend on the hashes, so they may differ from run to run.
        let hasher = RandomState::default();
        let divide = move |block| Some(partition(block, shards, &hasher, &key, &time));
        let add = move |shard: &mut Shard<K, T, A>, chunk: Chunk<K, T>| shard.apply(chunk, &aggregate);

        self.draft.outline.assert_may_renumber(name);
        let gathered = self.spreading(Node::serial("gather"), Gather::new());
        let whole = gathered.domain();
        let divided = gathered.each(Node::parallel("divide"), divide);
        let mut dealt = divided.spreading(Node::serial("deal"), Split::new(layout));
        let blocks = Blocks { whole, divided: dealt.domain(), parts: shards };
        dealt.draft.outline.unset.blocks.push(blocks);
        let call = with_states(shards, move || Shard::new(layout), add);
        let node = Node::parallel(name).state(State::PerReplica).schedule(Schedule::ByKey);
        let closed = dealt.in_shards(node.replicate(shards), move |item| Ok(Some(call(item))));
        closed.spreading(Node::serial("merge"), Merge::new(parts.late))
    }

    /// Turns each item into another, with a state for each key. The items with one key are processed one at a time, in
    /// order; those of several keys at once. The results have the order of the items.
    ///
    /// `make` creates the state of a key before its first item. States last until the stream ends.
    ///
    /// It is [`map_sharded`](Self::map_sharded) with a map of states in each shard, which can also drop states.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let deposits = [("ann", 3), ("bob", 5), ("ann", 4), ("bob", -1)];
    /// let balances = Stream::from_iter(deposits).map_by_key(
    ///     |deposit| deposit.0,
    ///     || 0,
    ///     |balance, (name, amount)| {
    ///         *balance += amount;
    ///         (name, *balance)
    ///     },
    /// );
    /// assert_eq!(balances.collect::<Vec<_>>(), [("ann", 3), ("bob", 5), ("ann", 7), ("bob", 4)]);
    /// ```
    pub fn map_by_key<K, L, V, G, N, F>(self, key: G, make: N, f: F) -> Stream<'env, V, M>
    where
        O: ForAll,
        K: Hash + Eq + Send + 'env,
        L: Send + 'env,
        V: Send + 'env,
        G: Fn(&T) -> K + Clone + Send + Sync + 'env,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, T) -> V + Send + Sync + 'env,
    {
        let shards = SHARDS_A_WORKER.saturating_mul(default_workers()).min(SHARDS);
        let of_item = key.clone();
        let call = move |states: &mut HashMap<K, L>, item: T| {
            f(states.entry(of_item(&item)).or_insert_with(&make), item)
        };
        self.map_sharded(Shards::by_key(shards, key), HashMap::new, call)
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// The number of the domain of the last stage.
    fn domain(&self) -> usize {
        self.draft.outline.plan.domains.len() - 1
    }
}

//! Forks and joins: a stream that runs in branches for a while.

mod fork;
mod join;
mod tuple;

use std::fmt;
use std::marker::PhantomData;

use anabranch_plan::{ItemType, Node};
use anabranch_record::sync::Arc;

use crate::engine::ErrorSlot;
use crate::operators::Route;
use crate::stream::options::ForAll;
use crate::stream::{Blend, Draft, Mode, Stream};
use fork::{BranchUpstream, Deal, Fork, InletSlot};
use join::{BranchEnd, Combine, Ends, JoinUpstream, Ports};
use tuple::{Branch, Merge, OneOf, Tuple, Zip};
pub use tuple::{Broadcast, Split};

/// A stream between a fork and its join. [`branch`](Self::branch) adds a branch, and one of [`zip`](Self::zip),
/// [`merge`](Self::merge) and [`join`](Self::join) makes one stream of the branches again.
///
/// [`Stream::broadcast`] and [`Stream::split`] make it.
///
/// # What a branch does
///
/// A branch has any stages that give their results for one item at a time: `map`, `filter`, `flat_map`, `serial_map`,
/// `map_sharded`, `chunks`, and their relatives, and forks of its own. The result is that of this loop:
///
/// ```text
/// for item in source {
///     let a = first branch(item);    // nothing, if the branch drops the item
///     let b = second branch(item);
///     join(a, b);
/// }
/// ```
///
/// The branches run at the same time. A serial stage of one branch runs beside a serial stage of another one, and the
/// parallel stages of a branch run on all workers. All branches share the [window](Stream::window) of the stream: a
/// branch is at most one window of items ahead of another one, and no item waits elsewhere.
///
/// If branches fail at several items, the first of these items counts. If several branches fail at one item, the first
/// branch counts. Nothing is joined for this item. If a branch needs no more items, as behind a
/// [`take`](Stream::take), the stream ends with this item, after all branches have taken it. Items that other branches have
/// kept by then, in a [`chunks`](Stream::chunks), are dropped.
///
/// The branches may fail with one type of error. [`map_err`](Stream::map_err) at the end of a branch converts others.
///
/// Stages that give items new places in the order are no stages of a branch, and adding one panics. These are `unordered` and
/// all stages that open a domain, such as `spread`, `chain`, `windows` and `feedback`: the [contract](crate::contract) lists
/// them at C3. The same holds for ends, such as `count`, and for [`chunks_timeout`](Stream::chunks_timeout): they take a whole
/// stream. Settings of the stream that a branch makes, as `workers`, hold for the whole stream.
#[must_use = "a stream does nothing before its end"]
pub struct Branches<'env, K, T: Send, F: Mode, M: Mode, L> {
    fork: Fork<'env, T>,
    /// The errors of the stream before the fork.
    before: Arc<ErrorSlot<F::Error>>,
    /// The errors of the stream behind the join.
    errors: Arc<ErrorSlot<M::Error>>,
    ends: L,
    /// The last node of each branch, and what it gives.
    lasts: Vec<(usize, ItemType)>,
    /// The name of a stage by which a branch may give several results for an item, if there is one.
    gives_many: Option<String>,
    draft: Box<Draft<'env>>,
    deals: PhantomData<fn() -> K>,
}

impl<K, T: Send, F: Mode, M: Mode, L> fmt::Debug for Branches<'_, K, T, F, M, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Branches").field("branches", &self.lasts.len()).finish_non_exhaustive()
    }
}

/// A stream after a fork: `K` says which branches get an item.
type Forked<'env, K, T, M> = Branches<'env, K, T, M, M, ()>;
/// The values that the branches of a list have for an index.
type Values<'env, L> = <<L as Ends<'env>>::Ports as Ports>::Values;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Gives each item to several branches. All but the first of them get clones; put large items into an
    /// [`Arc`].
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut sum = 0;
    /// let results: Vec<(u64, u64)> = Stream::from_iter(1..=4u64)
    ///     .broadcast()
    ///     .branch(|items| items.map(|n| n * n))                     // on all cores
    ///     .branch(|items| items.serial_map(|n| { sum += n; sum }))      // in order, beside the other branch
    ///     .zip()
    ///     .collect();
    /// assert_eq!(results, [(1, 1), (4, 3), (9, 6), (16, 10)]);
    /// ```
    pub fn broadcast(self) -> Forked<'env, Broadcast, T, M>
    where
        O: ForAll,
        T: Clone,
    {
        self.fork(Node::serial("broadcast"), Box::new(Broadcast))
    }

    /// Gives each item to one of several branches, as a [`Route`] says: a closure that returns the number of the branch, counted
    /// from 0 and taken modulo the number of branches, a [`ByKey`](crate::ByKey), or an [`InTurn`](crate::InTurn). It is asked for
    /// the items in order.
    /// A closure must say the type of its argument, a reference to an item.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = Stream::from_iter(["down", "7", "river", "x9"])
    ///     .split(|word: &&str| if word.parse::<u32>().is_ok() { 0 } else { 1 })
    ///     .branch(|numbers| numbers.map(|number| format!("number {number}")))
    ///     .branch(|words| words.serial_map(str::to_uppercase))
    ///     .join();
    /// assert_eq!(words.collect::<Vec<_>>(), ["DOWN", "number 7", "RIVER", "X9"]);
    /// ```
    pub fn split<R>(self, route: R) -> Forked<'env, Split<R>, T, M>
    where
        O: ForAll,
        R: Route<T> + 'env,
    {
        self.fork(Node::serial("split").schedule(R::SCHEDULE), Box::new(Split(route)))
    }

    fn fork<K>(self, node: Node, deal: Box<dyn Deal<T> + 'env>) -> Forked<'env, K, T, M> {
        let Stream { code: upstream, errors, mut draft, .. } = self.with_single_items();
        let id = draft.outline.add(node, ItemType::of::<T>());
        Branches {
            fork: Fork { upstream, deal, slots: Vec::new(), id },
            before: Arc::clone(&errors),
            errors,
            ends: (),
            lasts: Vec::new(),
            gives_many: None,
            draft,
            deals: PhantomData,
        }
    }
}

impl<'env, K, T, F, M, L> Branches<'env, K, T, F, M, L>
where
    T: Send + 'env,
    F: Mode<Error: 'env>,
    M: Mode<Error: 'env>,
    L: Ends<'env>,
{
    /// Adds a branch. `stages` gets the items that the branch takes as a stream, and returns this stream with stages added.
    ///
    /// # Panics
    /// If `stages` returns another stream than that.
    #[track_caller]
    pub fn branch<U, N>(
        self,
        stages: impl FnOnce(Stream<'env, T, F>) -> Stream<'env, U, N>,
    ) -> Branches<'env, K, T, F, M::Both, Branch<'env, L, U>>
    where
        U: Send + 'env,
        N: Mode<Error: 'env>,
        M: Blend<N>,
    {
        let Self { mut fork, before, errors, ends, mut lasts, mut gives_many, mut draft, .. } = self;
        let (branch, outer) = draft.outline.begin_branch(fork.id);
        let slot = InletSlot::new();
        fork.slots.push(slot.again());
        let upstream = Box::new(BranchUpstream { branch, slot });
        let stream = stages(Stream { code: upstream, errors: Arc::clone(&before), draft, mode: PhantomData });
        assert!(
            stream.draft.outline.branch == branch,
            "the function of a branch must return the stream that it was given, with stages added"
        );
        let stream = if stream.draft.outline.begins() {
            stream.serial_each(Node::serial("pass"), Some)
        } else {
            stream
        };
        let Stream { code: upstream, errors: others, mut draft, .. } = stream;
        draft.outline.branch = outer;
        if std::mem::take(&mut draft.outline.gives_many) {
            let last = draft.outline.last();
            gives_many.get_or_insert_with(|| last.name.to_string());
        }
        lasts.push((draft.outline.plan.nodes.len() - 1, ItemType::of::<U>()));
        let (errors, handover) = M::blend(errors, others);
        draft.attached.handovers.extend(handover);
        let ends = Branch { before: ends, end: BranchEnd { upstream, branch } };
        Branches { fork, before, errors, ends, lasts, gives_many, draft, deals: PhantomData }
    }

    /// Panics if a branch may give several results for an item, which the join `name` cannot take.
    #[track_caller]
    fn assert_single(&self, name: &str) {
        if let Some(stage) = &self.gives_many {
            panic!(
                "`{name}()` takes one result or none of each branch, but the branch that ends with `{stage}` may give several \
                 for an item: use `merge()`"
            );
        }
    }

    /// Adds the join `node`, which combines what the branches give by `C`.
    fn joined<C>(self, node: Node) -> Stream<'env, C::Out, M>
    where
        L: 'env,
        C: Combine<Values<'env, L>> + 'env,
        C::Out: 'env,
    {
        let Self { fork, errors, ends, lasts, mut draft, .. } = self;
        let id = draft.outline.add_join(node, lasts);
        let code = Box::new(JoinUpstream { fork, ends, combine: PhantomData::<fn() -> C>, id });
        Stream { code, errors, draft, mode: PhantomData }
    }

    /// Joins the branches to one stream of the results of all branches. The results for one item come in the order of the
    /// branches, and before those for the next item.
    ///
    /// As behind a [`flat_map`](Stream::flat_map), the results for one item count as one item in the window.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let all = Stream::from_iter(1..=3)
    ///     .broadcast()
    ///     .branch(|items| items.filter(|n| n % 2 == 1))
    ///     .branch(|items| items.flat_map(|n| std::iter::repeat_n(10 * n, 2)))
    ///     .merge();
    /// assert_eq!(all.collect::<Vec<_>>(), [1, 10, 10, 20, 20, 3, 30, 30]);
    /// ```
    pub fn merge<V>(self) -> Stream<'env, V, M>
    where
        L: 'env,
        V: Send + 'env,
        Merge: Combine<Values<'env, L>, Out = V>,
    {
        let mut this = self;
        this.draft.outline.gives_many = true;
        this.joined::<Merge>(Node::serial("merge"))
    }
}

impl<'env, T, F, M, L> Branches<'env, Broadcast, T, F, M, L>
where
    T: Send + 'env,
    F: Mode<Error: 'env>,
    M: Mode<Error: 'env>,
    L: Ends<'env>,
{
    /// Joins the branches to one stream of tuples, which have the results of all branches for one item. An item that one of
    /// the branches drops is dropped.
    ///
    /// Each branch gives at most one result for an item: a branch that ends with a `flat_map` cannot be zipped. There may be
    /// 8 branches.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let pairs = Stream::from_iter(["1", "x", "3"])
    ///     .broadcast()
    ///     .branch(|words| words)
    ///     .branch(|words| words.filter_map(|word| word.parse::<u32>().ok()))
    ///     .zip();
    /// assert_eq!(pairs.collect::<Vec<_>>(), [("1", 1), ("3", 3)]);
    /// ```
    #[track_caller]
    pub fn zip<V>(self) -> Stream<'env, V, M>
    where
        L: 'env,
        V: Send + 'env,
        Values<'env, L>: Tuple<Out = V>,
    {
        self.assert_single("zip");
        self.joined::<Zip>(Node::serial("zip"))
    }
}

impl<'env, R, T, F, M, L> Branches<'env, Split<R>, T, F, M, L>
where
    T: Send + 'env,
    F: Mode<Error: 'env>,
    M: Mode<Error: 'env>,
    L: Ends<'env>,
{
    /// Joins the branches to one stream. The results come in the order of the items, whichever branch an item took.
    ///
    /// Each branch gives at most one result for an item. [`merge`](Self::merge) joins branches that give several.
    #[track_caller]
    pub fn join<V>(self) -> Stream<'env, V, M>
    where
        L: 'env,
        V: Send + 'env,
        OneOf: Combine<Values<'env, L>, Out = V>,
    {
        self.assert_single("join");
        self.joined::<OneOf>(Node::serial("join"))
    }
}
